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
		r.wrong("paste", words.Text("builder.paste.unknown", document.Cut(text, maxQuoted)))
		return
	}
	r.values.Del("paste")
	r.values.Del("was.dialect")
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
	has := func(name string) bool { _, ok := v.Member(name); return ok }
	switch {
	case has("recurrence"), has("properties"), has("startTime"):
	case has("frequency"), has("cron"), has("rrule"):
		v = document.ObjectValue(document.Member{Name: "recurrence", Value: v})
	default:
		return nil, false
	}
	if json.Unmarshal(v.JSON(), &job{}) != nil {
		return nil, false
	}
	values := Fields(v).values
	maps.DeleteFunc(values, func(name string, _ []string) bool { return strings.HasPrefix(name, "was.") && name != "was.anchor" })
	return values, true
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

// Patterns of cron texts.
var (
	isHashed  = regexp.MustCompile(`(?:^|[\s,])[HR](?:[(/\s]|$)`)
	cronField = regexp.MustCompile(`(?i)^[0-9*?LWHR#/,()\-]+$|^[0-9*/,\-]*(?:` +
		`JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)[A-Z0-9#/,\-]*$`)
	yearOrMore = regexp.MustCompile(`^[0-9*,/\-?]+$|^[A-Za-z]+(?:/[A-Za-z_]+)+$|^;|^UTC$`)
	cronZone   = regexp.MustCompile(`^(?:CRON_)?TZ=["']?([A-Za-z][A-Za-z0-9_+/\-]*)["']?;?\s+`)
	eventCron  = regexp.MustCompile(`^cron\(([^()]*)\)$`)
	numbered   = regexp.MustCompile(`[1-7]`)
)

// withoutComments removes crontab lines without a schedule.
func withoutComments(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			lines = append(lines, trimmed)
		}
	}
	return strings.Join(lines, "\n")
}

// detectCron detects cron.
func detectCron(text string) (url.Values, bool) {
	values := url.Values{}
	if m := cronZone.FindStringSubmatch(text); m != nil {
		values.Set("timeZone", m[1])
		text = text[len(m[0]):]
	}
	if m := eventCron.FindStringSubmatch(text); m != nil {
		given := strings.Fields(m[1])
		if len(given) != 6 {
			return nil, false
		}
		text = translated(given)
	}
	given := strings.Fields(text)
	if len(given) == 0 {
		return nil, false
	}
	cron := func(text string) (url.Values, bool) {
		dialect := spec.Obsidian
		if isHashed.MatchString(text) {
			dialect = spec.Dsari
		}
		values.Set("when", choiceCron)
		values.Set("recurrence.cron", text)
		values.Set("cron.dialect", string(dialect))
		return values, true
	}
	if given[0][0] == '@' {
		if strings.EqualFold(given[0], "@recur") || len(given) == 1 {
			return cron(text)
		}
		return cron(given[0]) // a line of a crontab: the rest is its command
	}
	if quartz(given) {
		return cron(translated(given[1:]))
	}
	fields := cronFields(given, 5)
	if fields < 5 {
		if nearly(given) {
			return cron(text) // the parser reports the problem
		}
		return nil, false
	}
	for fields < len(given) && yearOrMore.MatchString(given[fields]) {
		fields++
		if fields < len(given) && strings.Contains(text, ";") {
			fields = len(given) // several patterns
		}
	}
	if strings.HasSuffix(given[4], ";") || fields >= len(given) {
		return cron(text)
	}
	return cron(strings.Join(given[:fields], " ")) // a line of a crontab: the rest is its command
}

// cronFields counts the leading words that are cron fields, up to most.
func cronFields(given []string, most int) int {
	n := 0
	for n < len(given) && n < most && cronField.MatchString(strings.TrimSuffix(given[n], ";")) {
		n++
	}
	return n
}

// nearly reports whether five words are probably cron, with one invalid field after the time of day, or two.
func nearly(given []string) bool {
	right := 0
	for _, word := range given {
		right += cronFields([]string{word}, 1)
	}
	return len(given) == 5 && cronFields(given, 2) == 2 && right >= 3
}

// quartz reports whether the fields begin with seconds, as in Quartz, where one of the day fields is a question mark.
// Only second 0 is supported; the parser reports others.
func quartz(given []string) bool {
	n := cronFields(given, 8)
	return n == len(given) && (n == 6 || n == 7) && given[0] == "0" && (given[3] == "?" || given[5] == "?")
}

// translated converts fields of Quartz or EventBridge, without the seconds, to cron: a question mark becomes a star,
// and Sunday is 0 instead of 1.
func translated(given []string) string {
	given = slices.Clone(given)
	for i, field := range given {
		if field == "?" {
			given[i] = "*"
		}
	}
	days, nth, isNth := strings.Cut(given[4], "#")
	if !strings.ContainsRune(days, '/') {
		days = numbered.ReplaceAllStringFunc(days, func(n string) string {
			i, _ := strconv.Atoi(n)
			return weekdays[(i+5)%7]
		})
	}
	if given[4] = days; isNth {
		given[4] += "#" + nth
	}
	if len(given) > 5 && given[5] == "*" {
		given = given[:5]
	}
	return strings.Join(given, " ")
}

// Words for times of day and for possible weekdays.
const (
	aTime = `\d{1,2}(?:[:.h]\d{2})?\s?(?:am|pm)?`
	aDay  = `(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*`
)

// Patterns of schedules in English.
var (
	atTimes  = regexp.MustCompile(`(?i)^(.*?)(?:\s+at|,)?\s+(` + aTime + `(?:(?:,\s*|\s+and\s+|\s+)` + aTime + `)*|noon|midnight)$`)
	someDays = regexp.MustCompile(`(?i)^(?:every\s+|on\s+)?(` + aDay +
		`(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s*-\s*|\s+to\s+|\s+)` + aDay + `)*)$`)
	spanned = regexp.MustCompile(`(?i)([a-z]+)(?:\s*-\s*|\s+to\s+)([a-z]+)`)
	dayWord = regexp.MustCompile(`(?i)^(mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:days?)?$`)
)

// frequencies maps words to plain choices; a time may follow.
var frequencies = map[string]url.Values{
	"daily": {"when": {choiceDaily}}, "every day": {"when": {choiceDaily}}, "each day": {"when": {choiceDaily}},
	"weekdays": {"when": {choiceWeekdays}}, "on weekdays": {"when": {choiceWeekdays}}, "every weekday": {"when": {choiceWeekdays}},
	"weekly":  {"when": {choiceWeekly}, "plain.days": {"MON"}},
	"monthly": {"when": {choiceMonthly}, "plain.on": {"day"}, "plain.day": {"1"}},
	"yearly":  {"when": {choiceYearly}, "plain.date": {"1"}, "plain.month": {"JAN"}},
	"hourly":  {"when": {choiceEvery}, "plain.n": {"1"}, "plain.unit": {"hour"}},
}

// detectWords detects "daily at 9:00", "weekdays at 9 and 17", "every Monday and Friday at 10am", "Mon-Fri 9:00", noon,
// and "hourly". The time defaults to midnight, as in cron.
func detectWords(text string) (url.Values, bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	days, times := text, "0:00"
	if m := atTimes.FindStringSubmatch(" " + text); m != nil {
		days, times = strings.TrimSpace(m[1]), strings.ReplaceAll(strings.ToLower(m[2]), " and ", ", ")
	}
	times = strings.NewReplacer("noon", "12:00", "midnight", "0:00").Replace(times)
	known, ok := frequencies[strings.ToLower(strings.Join(strings.Fields(days), " "))]
	if days == "" {
		known, ok = frequencies["daily"], true
	}
	if m := someDays.FindStringSubmatch(days); !ok && m != nil {
		var chosen []string
		if chosen, ok = daysOf(m[1]); ok {
			known = url.Values{"when": {choiceWeekly}, "plain.days": chosen}
		}
	}
	if !ok || days != text && known.Get("when") == choiceEvery {
		return nil, false
	}
	values := url.Values{"plain.times": {times}}
	maps.Copy(values, known)
	if known.Get("when") == choiceEvery {
		values.Del("plain.times")
	}
	return values, true
}

// daysOf returns the named weekdays in cron's form.
func daysOf(text string) ([]string, bool) {
	index := func(word string) int {
		if !dayWord.MatchString(word) {
			return -1
		}
		return slices.IndexFunc(weekdays, func(day string) bool { return strings.EqualFold(day, word[:3]) })
	}
	var days []string
	bad := false
	rest := spanned.ReplaceAllStringFunc(text, func(span string) string {
		m := spanned.FindStringSubmatch(span)
		from, to := index(m[1]), index(m[2])
		if bad = bad || from < 0 || to < 0; bad {
			return ""
		}
		for i := from; ; i = (i + 1) % len(weekdays) {
			days = append(days, weekdays[i])
			if i == to {
				return ""
			}
		}
	})
	for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		if strings.EqualFold(word, "and") {
			continue
		}
		i := index(word)
		if i < 0 {
			return nil, false
		}
		days = append(days, weekdays[i])
	}
	return days, !bad && len(days) > 0
}
