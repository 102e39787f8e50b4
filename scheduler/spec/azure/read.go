package azure

import (
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ReadStep reads the members frequency and interval of a recurrence.
func ReadStep(o *document.Object) (f Frequency, interval int) {
	if name, ok := o.Enum("frequency", frequencyNames[1:]...); ok {
		f = frequency(name)
	}
	if n, ok := o.Int("interval", 1, int64(f.maxInterval())); ok {
		return f, int(n)
	}
	return f, 1
}

// ReadSchedule reads the members schedule and anchor of a recurrence with a frequency.
func ReadSchedule(o *document.Object, f Frequency) (e Elements, a Anchor) {
	if inner, ok := o.Object("schedule"); ok {
		e = readElements(inner)
		e.check(f, inner.Problem)
	}
	a = ReadAnchor(o, AnchorGrid)
	Recurrence{Schedule: e, Anchor: a}.checkAnchor(o.Problem)
	return e, a
}

// ReadAnchor reads the member anchor, with a default.
func ReadAnchor(o *document.Object, a Anchor) Anchor {
	if name, ok := o.Enum("anchor", anchorNames...); ok {
		a = Anchor(slices.Index(anchorNames, name))
	}
	return a
}

func readElements(o *document.Object) Elements {
	var e Elements
	e.Minutes, _ = o.Ints("minutes", math.MinInt32, math.MaxInt32)
	e.Hours, _ = o.Ints("hours", math.MinInt32, math.MaxInt32)
	e.MonthDays, _ = o.Ints("monthDays", math.MinInt32, math.MaxInt32)
	e.Months, _ = o.Ints("months", math.MinInt32, math.MaxInt32)
	names, _ := o.Enums("weekDays", weekdayNames...)
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
		name, _ := o.Enum("day", weekdayNames...)
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

// weekday returns the weekday of a name that weekdayNames holds, Sunday of any other.
func weekday(name string) time.Weekday {
	return time.Weekday((slices.Index(weekdayNames, name) + 1) % 7)
}

// weekdayNames are the weekdays in the order in which Azure lists them.
var weekdayNames = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
