package frame

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// functions are those of all templates.
//
//	say KEY ARG…      a text of the catalogue
//	count KEY N       the same for a number of things, as number writes it
//	asset NAME        the address of an asset, such as "jobs/jobs.js"
//	instant T         a time, in UTC; the script shows it in the browser's zone
//	relative T        the same as the distance from now, which the script keeps right
//	ago T             likewise, but the time itself until the script has seen it: for live parts, which change when it does
//	took D            a length of time, short: 12.3 ms
//	number N          with thin spaces between the thousands
//	dict K V …        a map, for templates that take several things
//	bytes N           a size: 1.2 MB
var functions = template.FuncMap{
	"say": words.Say, "count": words.Count, "asset": known.address,
	"instant": Instant, "relative": Relative, "ago": Ago, "took": Took, "number": Number, "dict": dict, "bytes": Bytes,
	"visible": Visible, "shown": Shown,
}

// plainTime is how times are written without the script.
const plainTime = "2006-01-02 15:04:05 UTC"

// Instant returns a time as people read it. The script replaces it by the browser's local time.
func Instant(t time.Time) template.HTML {
	if t.IsZero() {
		return template.HTML(template.HTMLEscapeString(words.Say("frame.never"))) //nolint:gosec // it is escaped
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339Nano) + `" data-instant>` + //nolint:gosec // times have no markup
		t.Format(plainTime) + `</time>`)
}

// Relative returns how far away a time is: "12 s ago", "in 3 min". Its title is the time.
func Relative(t time.Time) template.HTML {
	if t.IsZero() {
		return Instant(t)
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339Nano) + `" data-relative title="` + //nolint:gosec // it has no markup
		t.Format(plainTime) + `">` + Distance(time.Until(t)) + `</time>`)
}

// Ago returns how far away a time is, once the script has seen it, and until then the time. What it returns does not depend
// on the present, so that a part with it is sent again only when something has changed.
func Ago(t time.Time) template.HTML {
	if t.IsZero() {
		return Instant(t)
	}
	t = t.UTC()
	text := t.Format("2006-01-02 15:04:05 UTC")
	exact := t.Format(time.RFC3339Nano)
	//nolint:gosec // times have no markup
	return template.HTML(`<time datetime="` + exact + `" data-relative title="` + text + `">` + text + `</time>`)
}

// Distance tells a length of time from now on, or back from now, in its largest unit.
func Distance(d time.Duration) string {
	var text string
	switch a := d.Abs(); {
	case a < 500*time.Millisecond:
		return "now"
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
		return text + " ago"
	}
	return "in " + text
}

// Took tells how long something lasted, with three digits, and from 100 s on to the second: 12.3 ms, 5 min, 1 h 30 min.
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

// clockLength tells a number of seconds in hours, minutes and seconds, and leaves out those of which there are none.
func clockLength(d time.Duration) string {
	parts := make([]string, 0, 3)
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, " h"}, {time.Minute, " min"}, {time.Second, " s"}} {
		if n := d / u.length; n != 0 {
			parts = append(parts, strconv.FormatInt(int64(n), 10)+u.name)
			d = (d % u.length).Abs() // the sign is that of the first
		}
	}
	return strings.Join(parts, " ")
}

// Number writes a number with narrow spaces between its thousands.
func Number(n any) string {
	return words.Thousands(fmt.Sprint(n))
}

// Bytes tells a size.
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

// invisible are spaces without a width, and ends of lines and paragraphs that browsers pass over.
const invisible = "\u200b\u200c\u200d\ufeff\u2028\u2029"

// hidden reports whether Visible replaces a character.
func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune(invisible, r)
}

// shownMost is how much [Shown] shows.
const shownMost = 8 << 10

// Shown is [Visible] for the beginning of a text that may be long.
func Shown(s string) string {
	end := min(len(s), shownMost)
	for end < len(s) && end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return Visible(s[:end])
}
