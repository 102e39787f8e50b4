package rrule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// rruleList is a part whose value is a list of numbers.
type rruleList struct {
	min, max int
	signed   bool // -max…-min are numbers, too: they count from the end
	of       func(r *rrule) *[]int
}

// rruleLists are the parts with numbers, by their names.
var rruleLists = map[string]rruleList{
	"BYMONTH":    {1, 12, false, func(r *rrule) *[]int { return &r.byMonth }},
	"BYWEEKNO":   {1, 53, true, func(r *rrule) *[]int { return &r.byWeekNo }},
	"BYYEARDAY":  {1, 366, true, func(r *rrule) *[]int { return &r.byYearDay }},
	"BYMONTHDAY": {1, 31, true, func(r *rrule) *[]int { return &r.byMonthDay }},
	"BYHOUR":     {0, 23, false, func(r *rrule) *[]int { return &r.byHour }},
	"BYMINUTE":   {0, 59, false, func(r *rrule) *[]int { return &r.byMinute }},
	"BYSECOND":   {0, 60, false, func(r *rrule) *[]int { return &r.bySecond }},
	"BYSETPOS":   {1, 366, true, func(r *rrule) *[]int { return &r.bySetPos }},
}

// easterList is BYEASTER, the days from Easter Sunday, which python-dateutil has and RFC 5545 has not.
var easterList = rruleList{calendar.FirstOfEaster, calendar.LastOfEaster, true, func(r *rrule) *[]int { return &r.byEaster }}

// rrulePartNames returns the names of all parts, in the order of RFC 5545.
func rrulePartNames() []string {
	return []string{
		"FREQ", "UNTIL", "COUNT", "INTERVAL", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYYEARDAY",
		"BYWEEKNO", "BYMONTH", "BYSETPOS", "WKST",
	}
}

// rruleDays are the names of weekdays, from Sunday.
var rruleDays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

const weekdayList = "MO, TU, WE, TH, FR, SA, SU"

// parts reads a rule.
func (p *rruleParser) parts(value rruleText) rrule {
	r := rrule{interval: 1, weekStart: time.Monday, column: value.column(), text: value.text}
	if value.text == "" {
		p.problem(value.column(), "RRULE", "the rule is empty", "it looks like RRULE:FREQ=DAILY;BYHOUR=9, without blanks in it")
		return r
	}
	seen := map[string]bool{}
	for _, part := range value.split(';') {
		equals := part.index('=')
		switch {
		case part.text == "":
			p.problem(part.column(), "RRULE", "a part is empty: there is a semicolon too many", "")
			continue
		case equals < 0:
			p.problem(part.column(), "RRULE", fmt.Sprintf("%q is not a part such as FREQ=DAILY", spelling.Short(part.text)), "")
			continue
		}
		name := part.before(equals).upper()
		if seen[name] {
			p.problem(part.column(), partField(name), "stands in the rule again", "")
			continue
		}
		seen[name] = true
		p.part(&r, name, part.before(equals), part.after(equals))
	}
	if len(r.byEaster) > 1 && len(r.bySetPos) > 0 && r.freq < freqDaily {
		p.problem(value.column(), partField("BYSETPOS"), "is not supported with several days of BYEASTER", "write a rule for each of them")
	}
	if !seen["FREQ"] {
		p.problem(value.column(), "RRULE", "FREQ is missing", "FREQ=DAILY is one of "+strings.Join(rruleFreqNames, ", "))
	}
	return r
}

// partField names a part in errors.
func partField(name string) string { return "RRULE part " + spelling.Short(name) }

// part reads one part.
func (p *rruleParser) part(r *rrule, name string, at, value rruleText) {
	wrong := func(message, hint string) { p.problem(value.column(), partField(name), message, hint) }
	if value.text == "" && slices.Contains(rrulePartNames(), name) {
		wrong("has no value", "")
		return
	}
	switch name {
	case "FREQ":
		freq := slices.Index(rruleFreqNames, value.upper())
		if freq < 0 {
			wrong(fmt.Sprintf("%q is not one of %s", spelling.Short(value.text), strings.Join(rruleFreqNames, ", ")),
				freqHint(value.upper()))
			return
		}
		r.freq = rruleFreq(freq)
	case "INTERVAL":
		r.interval = p.positive(name, value)
	case "COUNT":
		r.count = p.positive(name, value)
		if p.set.dialect == language.Dsari {
			p.problem(at.column(), partField(name), "dsari has no COUNT", "end the rule with UNTIL")
		}
	case "UNTIL":
		p.until(r, value)
	case "WKST":
		day := slices.Index(rruleDays, value.upper())
		if day < 0 {
			wrong(fmt.Sprintf("%q is not one of %s", spelling.Short(value.text), weekdayList), weekdayHint(value.upper()))
			return
		}
		r.weekStart = time.Weekday(day)
	case "BYDAY":
		p.days(r, value)
	default:
		list, ok := rruleLists[name]
		if name == "BYEASTER" && p.set.dialect == language.Dsari {
			list, ok = easterList, true
		}
		if !ok {
			p.problem(at.column(), partField(name), "there is no such part", partHint(name))
			return
		}
		p.numbers(list.of(r), list, name, value)
	}
}

// positive reads a number from 1.
func (p *rruleParser) positive(name string, value rruleText) int {
	if n, ok := spelling.SmallNumber(value.text); ok && n >= 1 {
		return n
	}
	hint := ""
	if value.text == "0" && name == "INTERVAL" {
		hint = "INTERVAL=1 is every one"
	}
	p.problem(value.column(), partField(name),
		fmt.Sprintf("%q is not a whole number from 1 to %d", spelling.Short(value.text), maxRRuleNumber), hint)
	return 1
}

// numbers reads a list of numbers.
func (p *rruleParser) numbers(into *[]int, list rruleList, name string, value rruleText) {
	for _, item := range value.split(',') {
		read := spelling.SmallNumber
		if list.signed {
			read = spelling.SignedNumber
		}
		n, ok := read(item.text)
		switch {
		case item.text == "":
			p.problem(item.column(), partField(name), "an item of the list is empty: there is a comma too many", "")
		case !ok || list.min < 0 && (n < list.min || n > list.max) || max(n, -n) < list.min || max(n, -n) > list.max:
			p.problem(item.column(), partField(name), fmt.Sprintf("%q is not %s", spelling.Short(item.text), list.allowed()),
				numberHint(name, item.upper()))
		default:
			*into = append(*into, n)
		}
	}
	slices.Sort(*into)
	*into = slices.Compact(*into)
}

// allowed describes the valid numbers.
func (l *rruleList) allowed() string {
	if l.min < 0 {
		return fmt.Sprintf("a number of days from Easter Sunday, %d to %d", l.min, l.max)
	}
	if l.signed {
		return fmt.Sprintf("in %d-%d or, from the end, -%d to -%d", l.min, l.max, l.max, l.min)
	}
	return fmt.Sprintf("in %d-%d", l.min, l.max)
}

// days reads BYDAY.
func (p *rruleParser) days(r *rrule, value rruleText) {
	for _, item := range value.split(',') {
		text := item.upper()
		split := max(len(text)-2, 0)
		day := slices.Index(rruleDays, text[split:])
		n, ok := spelling.SignedNumber(text[:split])
		switch {
		case text == "":
			p.problem(item.column(), partField("BYDAY"), "an item of the list is empty: there is a comma too many", "")
		case day < 0 || split > 0 && (!ok || n == 0 || max(n, -n) > 53):
			p.problem(item.column(), partField("BYDAY"),
				fmt.Sprintf("%q is not one of %s, with or without a number from 1 to 53 or -53 to -1 before it",
					spelling.Short(item.text), weekdayList),
				weekdayHint(text))
		default:
			r.byDay = append(r.byDay, nthDay{n, time.Weekday(day)})
		}
	}
	slices.SortFunc(r.byDay, func(a, b nthDay) int {
		return cmp.Or(cmp.Compare((a.day+6)%7, (b.day+6)%7), cmp.Compare(a.n, b.n))
	})
	r.byDay = slices.Compact(r.byDay)
}

// until reads UNTIL.
func (p *rruleParser) until(r *rrule, value rruleText) {
	t, problem := parseRRuleTime(value.text, p.set.dialect == language.AWX)
	if problem != "" {
		p.problem(value.column(), partField("UNTIL"), fmt.Sprintf("%q %s", spelling.Short(value.text), problem),
			rruleTimeHint(value.text))
		return
	}
	r.until = rruleUntil{rruleTime: t, given: true, column: value.column()}
}
