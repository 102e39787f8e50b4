package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// functions are the functions of all templates.
//
//	say KEY ARG…      a text of the catalogue
//	count KEY N       a text of the catalogue for a number, in the form of number
//	state NAME        the text of a state or an outcome
//	asset NAME        the URL of an asset, such as "jobs/jobs.js"
//	instant T         a time in UTC; the script converts it to the browser's zone
//	relative T        the distance from now, which the script updates
//	ago T             like relative, but the time itself without the script, for live parts that change only with their data
//	took D            a short duration: 12.3 ms
//	number N          with thin spaces between the thousands
//	instants TEXT     a text with an element of instant for each time in UTC
//	visible V         a value with signs for characters that are invisible or change the text direction
//	shown TEXT        visible for the beginning of a text
//	target NAME       the path of a target's page
//	job KEY           the path of a job's page
//	run OCCURRENCE    the path of a run's page
//	dict K V …        a map, for templates with several arguments
//	bytes N           a size: 1.2 MB
var functions = template.FuncMap{
	"say": words.Text, "count": words.Count, "state": State, "asset": address,
	"instant": Instant, "relative": Relative, "ago": Ago, "took": Took, "number": words.Number, "dict": dict, "bytes": Bytes,
	"target": TargetPath, "job": func(key any) string { return JobPath(scheduler.KeyIn("", fmt.Sprint(key))) }, "run": RunPath,
	"visible": func(v any) string { return Visible(fmt.Sprint(v)) }, "shown": Shown, "instants": Instants,
}

// State returns the text of a state or an outcome.
func State(name any) string {
	if key := fmt.Sprintf("state.%s", name); words.Has(key) {
		return words.Text(key)
	}
	return fmt.Sprint(name)
}

// plainTime is the form of times without the script.
const plainTime = "2006-01-02 15:04:05 UTC"

// Instant returns a readable time. The script replaces it by the browser's local time.
func Instant(t time.Time) template.HTML { return element(t, "data-instant", t.UTC().Format(plainTime)) }

// written is a time in UTC in a text, possibly after the same time on the clock of a job. After @, it is a part of the ID of
// an occurrence.
var written = regexp.MustCompile(`@?(?:\d{4}-\d\d-\d\d [\d:.]+ [-+A-Z\d]+ \()?(\d{4}-\d\d-\d\dT[\d:.]+Z)\)?`)

// Instants returns a text whose times are elements, so that one box has one clock.
func Instants(text string) template.HTML {
	html := written.ReplaceAllStringFunc(template.HTMLEscapeString(Visible(text)), func(found string) string {
		t, err := time.Parse(time.RFC3339, written.FindStringSubmatch(found)[1])
		if err != nil || found[0] == '@' {
			return found
		}
		return string(Instant(t))
	})
	return template.HTML(html) //nolint:gosec // it is escaped
}

// Relative returns the distance of a time from now: "12 s ago", "in 3 min". Its tooltip is the time.
func Relative(t time.Time) template.HTML { return relative(t, Distance(time.Until(t))) }

// Ago returns a time, which the script replaces by its distance from now. The result does not depend on the current
// time, so that a part with it is only sent after a change.
func Ago(t time.Time) template.HTML { return relative(t, t.UTC().Format(plainTime)) }

func relative(t time.Time, text string) template.HTML {
	return element(t, `data-relative title="`+t.UTC().Format(plainTime)+`"`, text)
}

// element returns a time as an element with a text. The zero time is never.
func element(t time.Time, attributes, text string) template.HTML {
	if t.IsZero() {
		return template.HTML(template.HTMLEscapeString(words.Text("frame.never"))) //nolint:gosec // it is escaped
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339Nano) + `" ` + attributes + `>` + //nolint:gosec // no markup
		text + `</time>`)
}

// Distance formats a duration in its largest unit, as a time in the future or the past.
func Distance(d time.Duration) string {
	var text string
	switch a := d.Abs(); {
	case a < 500*time.Millisecond:
		return words.Text("common.now")
	case a < 90*time.Second:
		text = strconv.Itoa(int(math.Round(a.Seconds()))) + " s"
	case a < 90*time.Minute:
		text = strconv.Itoa(int(math.Round(a.Minutes()))) + " min"
	case a < 36*time.Hour:
		text = strconv.Itoa(int(math.Round(a.Hours()))) + " h"
	default:
		text = strconv.Itoa(int(math.Round(a.Hours()/24))) + " d"
	}
	if d < 0 {
		return words.Text("frame.ago", text)
	}
	return words.Text("frame.ahead", text)
}

// Took formats a duration with three digits, from 100 s with whole seconds: 12.3 ms, 5 min, 1 h 30 min.
func Took(d time.Duration) string {
	switch a := d.Abs(); {
	case a < time.Microsecond:
		return d.String()
	case a < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	case a < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case a < 100*time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	default:
		return clockLength(d.Round(time.Second))
	}
}

// clockLength formats a duration in hours, minutes and seconds, without zero parts.
func clockLength(d time.Duration) string {
	parts := make([]string, 0, 3)
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, " h"}, {time.Minute, " min"}, {time.Second, " s"}} {
		if n := d / u.length; n != 0 {
			parts = append(parts, strconv.FormatInt(int64(n), 10)+u.name)
			d = (d % u.length).Abs() // only the first part has a sign
		}
	}
	return strings.Join(parts, " ")
}

// Bytes formats a size.
func Bytes(n int64) string {
	switch f := float64(n); {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1000_000:
		return fmt.Sprintf("%.3g kB", f/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.3g MB", f/1e6)
	default:
		return fmt.Sprintf("%.3g GB", f/1e9)
	}
}

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict of %d values", len(pairs))
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("%v is no key of a dict", pairs[i])
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

// Visible replaces control characters, invisible characters and characters that change the text direction by visible signs.
// Invalid UTF-8 becomes U+FFFD. Line ends and tabs stay.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteRune('␍')
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		}
	}
	return strings.ReplaceAll(b.String(), "␍\n", "\n")
}

// invisible are zero-width spaces, and line and paragraph separators that browsers ignore.
const invisible = "\u200b\u200c\u200d\ufeff\u2028\u2029"

// hidden reports whether Visible replaces a character.
func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune(invisible, r)
}

// Pretty indents JSON. Text that is not JSON, or is nested too deeply to be indented, stays as it is.
func Pretty(text string) string {
	var b bytes.Buffer
	if _, err := document.Parse([]byte(text)); err != nil || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// shownMost limits the output of [Shown].
const shownMost = 8 << 10

// Shown is [Visible] for the beginning of a text that may be long.
func Shown(s string) string {
	return Visible(scheduler.CutText(s, shownMost))
}
