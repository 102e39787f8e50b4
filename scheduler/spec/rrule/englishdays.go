package rrule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
)

// days describes the days on which a rule may fire: "every day", "every Tuesday of every 2nd week", "on day 13 of
// every month if that is a Friday". One part names the days; the remaining parts become conditions.
func (r *ruleWords) days() string {
	year, month := "every year", "every month"
	if len(r.byEaster) > 0 {
		rest := *r
		rest.byEaster = nil
		if words := rest.days(); words != everyDayWords {
			return words + " if that is " + easterWords(r.byEaster, "or")
		}
		return "on " + easterWords(r.byEaster, "and") + " of every year"
	}
	if r.freq == freqYearly {
		year = english.Each(r.interval, "year")
	}
	switch {
	case r.freq == freqDaily && r.interval > 1:
		return english.Each(r.interval, "day") + r.conditions(r.byMonth, r.byYearDay, r.byMonthDay, r.byDay, r.byWeekNo)
	case r.freq == freqWeekly && r.interval > 1:
		week := " of " + english.Each(r.interval, "week")
		return r.weekdayWords() + week + r.conditions(r.byMonth, r.byYearDay, r.byMonthDay, nil, r.byWeekNo)
	case r.freq == freqMonthly && r.interval > 1:
		month = english.Each(r.interval, "month")
		return inPeriod(r.inMonths(month, year, nil), month) + r.conditions(r.byMonth, nil, nil, nil, nil)
	}
	if len(r.byMonth) > 0 {
		month = english.Months(calendar.BitsOf(r.byMonth) >> 1)
	}
	phrase := r.inMonths(month, year, r.byMonth)
	if r.freq == freqYearly && r.interval > 1 {
		phrase = inPeriod(phrase, year)
	}
	return phrase
}

// inPeriod adds a period to a phrase that does not name it.
func inPeriod(phrase, period string) string {
	if strings.Contains(phrase, period) {
		return phrase
	}
	return phrase + " in " + period
}

// inMonths describes the days of a period. months are the months that month names.
func (r *ruleWords) inMonths(month, year string, months []int) string {
	plain := month == "every month"
	ofMonth := " of " + month
	inMonth := " in " + month
	switch {
	case plain:
		inMonth = ""
	case len(months) == 0:
		inMonth = ofMonth
	}
	switch {
	case len(r.byYearDay) > 0:
		return "on " + numberedDays(r.byYearDay, "and") + " of " + year + r.conditions(months, nil, r.byMonthDay, r.byDay, r.byWeekNo)
	case len(r.byWeekNo) > 0 && !r.numbers():
		return r.weekdayWords() + " of " + weekWords(r.byWeekNo, "and") + " of " + year + r.conditions(months, nil, r.byMonthDay, nil, nil)
	case len(r.byMonthDay) > 0:
		return "on " + r.dates(month, year, months) + r.conditions(nil, nil, nil, r.byDay, r.byWeekNo)
	case r.numbers():
		of := ofMonth
		if r.freq == freqYearly && len(r.byMonth) == 0 {
			of = " of " + year
		}
		return "on " + r.nthDays("and", of) + r.conditions(nil, nil, nil, nil, r.byWeekNo)
	}
	return r.weekdayWords() + inMonth
}

// dates describes days of months: "2 September of every year", "day 31 of every month that has it".
func (r *ruleWords) dates(month, year string, months []int) string {
	days := numberedDays(r.byMonthDay, "and")
	if len(months) == 1 && len(r.byMonthDay) == 1 && r.byMonthDay[0] > 0 {
		day, name := r.byMonthDay[0], time.Month(months[0]).String()
		if months[0] == 2 && day == 29 && year == "every year" {
			return "29 February of leap years"
		}
		return fmt.Sprintf("%d %s of %s", day, name, year)
	}
	if len(r.byMonthDay) == 1 && r.byMonthDay[0] > 28 && len(months) != 1 {
		return days + " of " + month + " that has it"
	}
	return days + " of " + month
}

// conditions describes what must also be true of a day: " if that is a Friday and in week 20". Each part may be empty.
func (r *ruleWords) conditions(months, yearDays, monthDays []int, weekdays []nthDay, weeks []int) string {
	var words []string
	if len(weekdays) > 0 {
		of := " of the month"
		if r.freq == freqYearly && len(r.byMonth) == 0 {
			of = " of the year"
		}
		words = append(words, r.nthDays("or", of))
	}
	if len(monthDays) > 0 {
		words = append(words, numberedDays(monthDays, "or")+" of the month")
	}
	if len(yearDays) > 0 {
		words = append(words, numberedDays(yearDays, "or")+" of the year")
	}
	if len(weeks) > 0 {
		words = append(words, "in "+weekWords(weeks, "or"))
	}
	if len(months) > 0 {
		words = append(words, "in "+english.List(english.Spans(months, func(n int) string { return time.Month(n).String() }), "or"))
	}
	if len(words) == 0 {
		return ""
	}
	return " if that is " + english.List(words, "and")
}

// weekdayWords returns the weekdays as a subject: "every Tuesday and Thursday", "on Monday to Friday", "every day".
func (r *ruleWords) weekdayWords() string {
	if set := r.weekdays(); set != 0 && set != 1<<7-1 {
		return english.EachWeekday(set)
	}
	return everyDayWords
}

// nthDays returns weekdays, numbered or not: "the first Sunday and the last Sunday of every month", or, as a condition,
// "a Friday", "a Monday or Friday", "the first Monday of the month or a Tuesday".
func (r *ruleWords) nthDays(conjunction, of string) string {
	var words []string
	for _, sign := range []int{1, -1} {
		for _, d := range r.byDay {
			if sign*d.n > 0 && r.numbers() {
				words = append(words, "the "+english.Ordinal(d.n)+" "+d.day.String())
			}
		}
	}
	phrase := english.List(words, conjunction)
	if phrase != "" {
		phrase += of
	}
	set := r.weekdays()
	if set == 0 {
		return phrase
	}
	plain := "every " + english.Weekdays(set)
	if conjunction == "or" {
		plain = "a " + english.List(english.Spans(calendar.Ones(set), english.Weekday), "or")
	}
	if phrase == "" {
		return plain
	}
	return phrase + " " + conjunction + " " + plain + map[bool]string{true: of}[conjunction == "and"]
}

// numberedDays returns days by their numbers: "day 13", "days 1 to 7 and the last day".
func numberedDays(values []int, conjunction string) string {
	values = endsLast(values)
	from := 0
	for from < len(values) && values[from] > 0 {
		from++
	}
	var words []string
	if from > 0 {
		unit := "day "
		if from > 1 && conjunction == "and" {
			unit = "days "
		}
		words = append(words, unit+english.List(english.Spans(values[:from], strconv.Itoa), conjunction))
	}
	for i := len(values) - 1; i >= from; i-- { // the last one first
		words = append(words, "the "+english.Ordinal(values[i])+" day")
	}
	return english.List(words, conjunction)
}

// easterWords returns days by their distance from Easter Sunday.
func easterWords(offsets []int, conjunction string) string {
	words := make([]string, len(offsets))
	for i, n := range offsets {
		switch {
		case n < 0:
			words[i] = english.Count(-n, "day") + " before Easter Sunday"
		case n == 0:
			words[i] = "Easter Sunday"
		default:
			words[i] = english.Count(n, "day") + " after Easter Sunday"
		}
	}
	return english.List(words, conjunction)
}

// weekWords returns weeks by their numbers: "week 20", "weeks 1 and 2", "the last week".
func weekWords(values []int, conjunction string) string {
	return strings.ReplaceAll(numberedDays(values, conjunction), "day", "week")
}
