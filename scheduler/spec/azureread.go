package spec

import (
	"math"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ReadRecurrence reads a recurrence object: the members frequency, interval, schedule and anchor, or cron or rrule with
// dialect, and with any of them count and endTime. What is wrong goes to the object's reader, all of it; the result is
// then of no use. The caller calls o.Done, so that it may ask for members of its own.
func ReadRecurrence(o *document.Object) Recurrence {
	var r Recurrence
	if checkSources(o) {
		r.Rule = readRule(o)
		r.Count, r.End = readLimits(o)
		return r
	}
	if name, ok := o.Enum("frequency", FrequencyNames()...); ok {
		r.Frequency = frequency(name)
	}
	r.Interval = 1
	if n, ok := o.Int("interval", 1, int64(r.Frequency.maxInterval())); ok {
		r.Interval = int(n)
	}
	r.Count, r.End = readLimits(o)
	if inner, ok := o.Object("schedule"); ok {
		r.Schedule = readElements(inner)
		r.Schedule.check(r.Frequency, inner.Problem)
	}
	if name, _ := o.Enum("anchor", anchorNames...); name == anchorNames[AnchorLastExecution] {
		r.Anchor = AnchorLastExecution
	}
	r.checkAnchor(o.Problem)
	return r
}

// readLimits reads what ends a recurrence of any kind.
func readLimits(o *document.Object) (count int, end time.Time) {
	if n, ok := o.Int("count", 1, math.MaxInt32); ok {
		count = int(n)
	}
	end, _ = o.Time("endTime")
	return count, end
}

func readElements(o *document.Object) Elements {
	var e Elements
	e.Minutes, _ = o.Ints("minutes", math.MinInt32, math.MaxInt32)
	e.Hours, _ = o.Ints("hours", math.MinInt32, math.MaxInt32)
	e.MonthDays, _ = o.Ints("monthDays", math.MinInt32, math.MaxInt32)
	e.Months, _ = o.Ints("months", math.MinInt32, math.MaxInt32)
	names, _ := o.Enums("weekDays", weekdayNames()...)
	for _, name := range names {
		e.WeekDays = append(e.WeekDays, weekday(name))
	}
	inner, _ := o.Objects("monthlyOccurrences")
	for _, o := range inner {
		e.MonthlyOccurrences = append(e.MonthlyOccurrences, readOccurrence(o))
	}
	o.Done()
	return e
}

func readOccurrence(o *document.Object) MonthlyOccurrence {
	var m MonthlyOccurrence
	if o.Require("day") {
		name, _ := o.Enum("day", weekdayNames()...)
		m.Day = weekday(name)
	}
	if n, ok := o.Int("occurrence", math.MinInt32, math.MaxInt32); ok {
		m.Occurrence = int(n)
		if n == 0 { // which means "every" in a MonthlyOccurrence, so check cannot see it
			o.Problem("occurrence", "0 is not an occurrence; leave it out to mean every one")
		}
	}
	o.Done()
	return m
}

// weekdayNames returns Monday to Sunday, in the order in which Azure lists them.
func weekdayNames() []string {
	names := make([]string, 7)
	for i := range names {
		names[i] = time.Weekday((i + 1) % 7).String()
	}
	return names
}

// weekday returns the weekday of that name, Sunday if it has none.
func weekday(name string) time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(day.String(), name) {
			return day
		}
	}
	return time.Sunday
}
