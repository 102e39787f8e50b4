package builder

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// maxPasted limits the length of a text for language detection.
const maxPasted = 16 << 10

// takePasted fills the fields of the pasted text's language.
func (r *reading) takePasted() {
	text := r.text("paste")
	if text == "" {
		return
	}
	values, ok := Detect(text)
	if !ok {
		r.wrong("paste", words.Say("builder.paste.unknown", document.Cut(text, maxQuoted)))
		return
	}
	for _, name := range []string{"paste", "was.dialect"} {
		r.values.Del(name)
	}
	maps.Copy(r.values, values)
}

// Patterns of detectable texts.
var (
	wrapper   = regexp.MustCompile(`(?i)^(?:-\s*)?"?(?:cron|schedule|crontab|cron_?expression|expression)"?\s*[:=]\s*`)
	isYAML    = regexp.MustCompile(`(?m)^"?(?:recurrence|properties|frequency|startTime)"?:(?:\s|$)|^(?:cron|rrule):\s.*\n\s*\w+:\s`)
	isRRule   = regexp.MustCompile(`(?im)(?:^|[\s"])(?:RRULE|EXRULE|DTSTART|RDATE|EXDATE)[:;]|\bFREQ=[A-Z]`)
	everySo   = regexp.MustCompile(`(?i)^(?:rate\(|@?every\s+)?(\d+)\s*(s|sec|second|m|min|minute|h|hour|d|day|week|w|month)s?\)?$`)
	everyOne  = regexp.MustCompile(`(?i)^(?:every\s+)(second|minute|hour|day|week|month)$`)
	everyLong = regexp.MustCompile(`(?i)^@?every\s+((?:\d+[hms])+)$`)
	everyISO  = regexp.MustCompile(`^(?:R\d*/)?(?:P(\d+)([DWM])|PT(\d+)([SMH]))$`)
	onlyTimes = regexp.MustCompile(`(?i)^\d{1,2}(?:[:.h]\d{2})?\s?(?:am|pm)?(?:[,\s]+\d{1,2}(?:[:.h]\d{2})?\s?(?:am|pm)?)*$`)
	onlyDate  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$`)
)

// Detect detects the schedule language of a text. It returns the field values, by names without [Prefix]. It detects:
//
//   - a line of a crontab (without its command) or of a workflow, cron and its shortcuts, and the dialects of Quartz and
//     Amazon EventBridge;
//   - iCalendar properties, also within an event;
//   - a recurrence or job in JSON or YAML;
//   - times of day, optionally with days ("weekdays at 9"), and dates;
//   - durations such as "every 5 minutes", "@every 1h30m", "rate(5 minutes)" and PT5M.
func Detect(text string) (url.Values, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxPasted {
		return nil, false
	}
	if text[0] == '{' || isYAML.MatchString(text) {
		return detectDocument(text)
	}
	if isRRule.MatchString(text) {
		return url.Values{"when": {choiceRRule}, "recurrence.rrule": {properties(text)}, "rrule.dialect": {string(spec.RFC5545)}}, true
	}
	text = strings.Trim(wrapper.ReplaceAllString(withoutComments(text), ""), "\"'`, ")
	if text == "" {
		return nil, false
	}
	if values, ok := detectEvery(text); ok {
		return values, true
	}
	if values, ok := detectWords(text); ok {
		return values, true
	}
	switch {
	case onlyTimes.MatchString(text):
		return url.Values{"when": {choiceDaily}, "plain.times": {text}}, true
	case onlyDate.MatchString(text):
		return url.Values{"when": {choiceOnce}, "plain.once": {text}}, true
	}
	return detectCron(text)
}

// units maps the first letters of units to units.
var units = map[string]string{"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}

// detectEvery detects durations.
func detectEvery(text string) (url.Values, bool) {
	every := func(n, unit string) (url.Values, bool) {
		return url.Values{"when": {choiceEvery}, "plain.n": {strings.TrimLeft(n, "0")}, "plain.unit": {unit}}, strings.Trim(n, "0") != ""
	}
	if m := everyOne.FindStringSubmatch(text); m != nil {
		return every("1", strings.ToLower(m[1]))
	}
	if m := everySo.FindStringSubmatch(text); m != nil {
		unit := strings.ToLower(m[2])
		if strings.HasPrefix(unit, "mo") {
			return every(m[1], "month")
		}
		return every(m[1], units[unit[:1]])
	}
	if m := everyLong.FindStringSubmatch(text); m != nil { // 1h30m
		d, err := time.ParseDuration(strings.ToLower(m[1]))
		switch {
		case err != nil || d <= 0:
			return nil, false
		case d%time.Minute == 0:
			return every(strconv.FormatInt(int64(d/time.Minute), 10), "minute")
		}
		return every(strconv.FormatInt(int64(d/time.Second), 10), "second")
	}
	if m := everyISO.FindStringSubmatch(text); m != nil {
		if m[2] == "M" {
			return every(m[1], "month")
		}
		return every(m[1]+m[3], units[strings.ToLower(m[2]+m[4])])
	}
	return nil, false
}

// detectDocument detects a job or a recurrence in JSON or YAML.
func detectDocument(text string) (url.Values, bool) {
	v, err := document.Parse([]byte(text))
	if err != nil || v.Kind() != document.KindObject {
		return nil, false
	}
	text = string(v.JSON())
	has := func(name string) bool { _, ok := v.Member(name); return ok }
	switch {
	case has("recurrence"), has("properties"), has("startTime"):
	case has("frequency"), has("cron"), has("rrule"):
		text = `{"recurrence":` + text + `}`
	default:
		return nil, false
	}
	if json.Unmarshal([]byte(text), &job{}) != nil {
		return nil, false
	}
	f := Fields([]byte(text))
	for name := range f.values {
		if strings.HasPrefix(name, "was.") && name != "was.anchor" {
			f.values.Del(name)
		}
	}
	return f.values, true
}

// properties returns the schedule properties of an iCalendar event.
func properties(text string) string {
	text = strings.Trim(strings.ReplaceAll(text, "\r", ""), "\"'` ")
	if !strings.Contains(strings.ToUpper(text), "BEGIN:VEVENT") {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n ", ""), "\n\t", "") // unfolded (RFC 5545, section 3.1)
	_, text, _ = strings.Cut(text, "BEGIN:VEVENT")
	var lines []string
	for line := range strings.Lines(text) {
		end := max(0, strings.IndexAny(line, ":;"))
		if slices.Contains([]string{"DTSTART", "RRULE", "EXRULE", "RDATE", "EXDATE"}, strings.ToUpper(line[:end])) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}
