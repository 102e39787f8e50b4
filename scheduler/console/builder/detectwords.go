package builder

import (
	"maps"
	"net/url"
	"regexp"
	"strings"
)

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
		for i, day := range weekdays {
			if strings.EqualFold(day, word[:3]) {
				return i
			}
		}
		return -1
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
