package builder

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

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
