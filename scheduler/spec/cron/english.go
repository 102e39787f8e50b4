package cron

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// Describe implements [language.Rule]. For a dsari expression, it describes the positions that are hashed from the
// job's name. Each pattern has its own description; a zone that all share is named once.
func (c *Expression) Describe(s language.Context) string {
	c = c.seeded(s.Seed)
	phrases := make([]string, len(c.patterns))
	zone := c.patterns[0].zoneOf(s)
	shared := true
	for i := range c.patterns {
		h := language.HashOf(s.Name)
		phrases[i] = c.patterns[i].dated(h).english(h, c.And)
		shared = shared && c.patterns[i].zoneOf(s).String() == zone.String()
	}
	switch {
	case !shared:
		for i := range phrases {
			phrases[i] += english.Zone(c.patterns[i].zoneOf(s))
		}
		return strings.Join(phrases, "; ")
	case len(phrases) > 1:
		return strings.Join(phrases, "; ") + ", all in " + zone.String()
	}
	return phrases[0] + english.Zone(zone)
}

// english describes a pattern for a job with that hash.
func (p *cronPattern) english(h language.Hash, and bool) string {
	times := p.times(h)
	phrase, allDay := english.Times(times)
	phrase += p.englishDays(h, and, allDay)
	if years := p.fields[cronYear]; !years.free() {
		phrase += " in " + english.Years(years.values(cronYear, h))
	}
	if localtime.Of(nil, p.layer(nil, h, and)).Empty() {
		phrase += ", which never happens"
	}
	return phrase
}

// englishDays describes the days and months: " on the third Wednesday of every month". It is empty for every day if the
// times are of the whole day.
func (p *cronPattern) englishDays(h language.Hash, and, allDay bool) string {
	day, week := p.fields[cronDay], p.fields[cronWeekday]
	months := ""
	if set := p.fields[cronMonth].mask(cronMonth, h) >> 1; set != 1<<12-1 {
		months = english.Months(set)
	}
	switch {
	case day.free() && week.free():
		return p.englishEveryDay(months, allDay)
	case week.free():
		return " on " + day.englishDates(h, months, p.fields[cronYear].free())
	case day.free():
		return " " + week.englishWeek(h, months)
	case and:
		return " on " + day.englishMonthDays(h, ofMonth(months)) + " if that is " + week.englishAny(h, "")
	}
	phrase := " on " + day.englishMonthDays(h, " of the month") + " or on " + week.englishAny(h, " of the month")
	if months != "" {
		phrase += ", in " + months
	}
	return phrase
}

func (p *cronPattern) englishEveryDay(months string, allDay bool) string {
	switch {
	case months != "" && allDay:
		return " in " + months
	case months != "":
		return " every day in " + months
	case allDay:
		return ""
	}
	return " every day"
}

// ofMonth returns " of every month" or " of January and July".
func ofMonth(months string) string {
	if months == "" {
		return " of every month"
	}
	return " of " + months
}

// englishDates describes days of the month: "29 February every year", "days 1 and 15 of every month".
func (f cronField) englishDates(h language.Hash, months string, everyYear bool) string {
	days := f.values(cronDay, h)
	month, err := time.Parse("January", months)
	switch {
	case err != nil || len(days) != 1 || len(f) != 1:
		return f.englishMonthDays(h, ofMonth(months)) + f.existing(days, months)
	case days[0] == 29 && month.Month() == time.February && everyYear:
		return "29 February of leap years"
	case everyYear && int64(days[0]) <= calendar.MonthLength(commonYear*12+int64(month.Month())-1):
		months += " every year"
	}
	return fmt.Sprintf("%d %s", days[0], months)
}

// commonYear is a year without a leap day.
const commonYear = 2001

// existing says, of a day that not every month has, that it is skipped.
func (f cronField) existing(days []int, months string) string {
	if len(f) == 1 && f[0].form == nearestWeekday {
		days = []int{f[0].lo}
	}
	if months == "" && len(days) == 1 && days[0] > 28 {
		return " that has it"
	}
	return ""
}

// englishMonthDays describes days of the month: "day 13", "days 1 to 7", "the last day", "the weekday nearest to day
// 15".
func (f cronField) englishMonthDays(h language.Hash, of string) string {
	var words []string
	if days := f.values(cronDay, h); len(days) > english.FewWords && english.StepOf(days) > 1 {
		words = append(words, english.Series(days, "day", strconv.Itoa))
	} else if len(days) > 0 {
		words = append(words, english.Numbers("day", days, strconv.Itoa))
	}
	for i, item := range f {
		switch {
		case slices.Contains(f[:i], item): // said twice
		case item.form == nearestWeekday:
			words = append(words, fmt.Sprintf("the weekday nearest to day %d", item.lo))
		case item.form == lastOfMonth:
			words = append(words, "the last day")
		}
	}
	return english.List(words, "and") + of
}

// englishWeek describes days of the week: "every Friday", "on Monday to Friday", "on the second Friday of every month".
func (f cronField) englishWeek(h language.Hash, months string) string {
	if words := f.numbered(ofMonth(months)); len(words) > 0 {
		if weekdays := fromMonday(f.mask(cronWeekday, h)); weekdays != 0 {
			words = append([]string{"every " + english.Weekdays(weekdays) + ofMonth(months)}, words...)
		}
		return "on " + english.List(words, "and")
	}
	names := "every day"
	if weekdays := fromMonday(f.mask(cronWeekday, h)); weekdays != 1<<7-1 {
		names = english.EachWeekday(weekdays)
	}
	if months != "" {
		names += " in " + months
	}
	return names
}

// englishAny describes days of the week as one of several conditions: "a Friday", "a Monday or a Friday", "any day from
// Monday to Friday", "the last Friday".
func (f cronField) englishAny(h language.Hash, of string) string {
	var names []string
	switch weekdays := calendar.Ones(fromMonday(f.mask(cronWeekday, h))); {
	case len(weekdays) == 7:
		names = []string{"any day of the week"}
	case len(weekdays) > 2 && english.Contiguous(weekdays):
		names = []string{"any day from " + english.Weekday(weekdays[0]) + " to " + english.Weekday(weekdays[len(weekdays)-1])}
	default:
		for _, weekday := range weekdays {
			names = append(names, "a "+english.Weekday(weekday))
		}
	}
	return english.List(append(names, f.numbered(of)...), "or")
}

// numbered returns the numbered weekdays of the field: "the second Friday of every month".
func (f cronField) numbered(of string) []string {
	var words []string
	for _, item := range f {
		nth := item.nth
		switch item.form {
		case lastWeekday:
			nth = -1
		case numberedWeekday:
		default:
			continue
		}
		word := fmt.Sprintf("the %s %s%s", english.Ordinal(nth), english.Weekday((item.lo+6)%7), of)
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// fromMonday turns weekdays from Sunday into weekdays from Monday.
func fromMonday(weekdays uint64) uint64 { return weekdays>>1 | weekdays&1<<6 }

// sentence reports a text that is not a pattern: English, or a setting of another scheduler.
func (p *cronParser) sentence(words []cronWord) bool {
	first := strings.ToLower(words[0].text)
	text := textOf(words)
	switch {
	case oneOf(first, "every", "each", "at", "on", "in", "once", "twice", "daily", "hourly", "weekly", "monthly", "yearly",
		"annually", "never", "noon", "midnight", "weekdays", "recur", "reboot"):
		p.problem(words[0].column, "", fmt.Sprintf("found %q; %s", spelling.Short(text), p.layout()), p.interval(text))
	case strings.HasPrefix(first, "tz="), strings.HasPrefix(first, "cron_tz="):
		p.problem(words[0].column, "", fmt.Sprintf("found %q; %s", spelling.Short(words[0].text), p.layout()),
			"the job's timeZone is the zone of its schedule"+
				map[language.Dialect]string{language.Obsidian: ", and field 7 of a pattern is its own"}[p.dialect])
	default:
		return false
	}
	return true
}

var intervalText = regexp.MustCompile(`^(?i)(?:every|each|recur)\s+(\d{1,4})?\s*([a-z]+)$`)

// otherUnits are short forms that Obsidian does not have.
var otherUnits = map[string]recurUnit{"m": recurMinutes, "mins": recurMinutes, "hr": recurHours, "hrs": recurHours}

// interval returns the notation of an interval that is given in English.
func (p *cronParser) interval(text string) string {
	if oneOf("@"+text, cronShortcutNames...) {
		return fmt.Sprintf("write @%s", strings.ToLower(text))
	}
	if oneOf(text, "noon") {
		return otherShortcuts["@noon"]
	}
	if match := intervalText.FindStringSubmatch(text); match != nil {
		word := strings.ToLower(match[2])
		n, unit := 1, recurUnitOf(word)
		if unit == 0 {
			unit = otherUnits[word]
		}
		if match[1] != "" {
			n, _ = strconv.Atoi(match[1])
		}
		if hint := p.everyText(n, unit); hint != "" {
			return hint
		}
	}
	return cronExamples
}

// everyText returns how an interval is written.
func (p *cronParser) everyText(n int, unit recurUnit) string {
	var cron string
	switch {
	case n < 1 || unit == 0:
		return ""
	case unit == recurMinutes && 60%n == 0:
		cron = stepText(n) + " * * * *"
	case unit == recurHours && 24%n == 0:
		cron = "0 " + stepText(n) + " * * *"
	case unit == recurDays && n == 1:
		cron = "0 0 * * *"
	case unit == recurWeeks && n == 1:
		cron = "0 0 * * 1"
	case unit == recurMonths && 12%n == 0:
		cron = "0 0 1 " + stepText(n) + " *"
	case p.dialect != language.Obsidian:
		return ""
	default:
		return fmt.Sprintf("write @recur %s", english.Count(n, unit.name()))
	}
	return fmt.Sprintf("%s is %s", english.Every(n, unit.name()), cron)
}

// stepText returns "*" or "*/5".
func stepText(n int) string {
	if n == 1 {
		return "*"
	}
	return fmt.Sprintf("*/%d", n)
}
