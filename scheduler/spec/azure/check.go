package azure

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// report takes a problem at a path seen from the object that is being checked.
type report func(path, format string, args ...any)

// Check reports everything wrong in r, with paths seen from the recurrence.
func (r Recurrence) Check(reader *document.Reader) {
	if !r.Frequency.valid() {
		reader.Problem("frequency", "is required")
	}
	if most := r.Frequency.maxInterval(); r.Interval < 0 || r.Interval > most {
		reader.Problem("interval", "%d is not in 1-%d", r.Interval, most)
	}
	r.Schedule.check(r.Frequency, func(path, format string, args ...any) {
		reader.Problem("schedule."+path, format, args...)
	})
	r.checkAnchor(reader.Problem)
}

func (r Recurrence) checkAnchor(problem report) {
	switch {
	case int(r.Anchor) >= len(anchorNames):
		problem("anchor", "is unknown")
	case r.Anchor == AnchorLastExecution && !r.Schedule.empty():
		problem("anchor", "lastExecution applies to a recurrence without schedule")
	}
}

// check reports values out of range, and elements that f does not allow. If f is none, which has been reported, nothing
// is said about elements.
func (e Elements) check(f Frequency, problem report) {
	checkRange("minutes", e.Minutes, 0, 59, problem)
	checkRange("hours", e.Hours, 0, 23, problem)
	checkRange("months", e.Months, 1, 12, problem)
	checkRange("monthDays", e.MonthDays, -31, 31, problem)
	if i := slices.Index(e.MonthDays, 0); i >= 0 {
		problem(at("monthDays", i), "0 is not a day; days count from 1, or from -1 at the end of the month")
	}
	e.checkWeekDays(problem)
	e.checkOccurrences(problem)
	if f.valid() {
		checkOnly("weekDays", len(e.WeekDays), Week, f, problem)
		checkOnly("monthDays", len(e.MonthDays), Month, f, problem)
		checkOnly("monthlyOccurrences", len(e.MonthlyOccurrences), Month, f, problem)
	}
}

func (e Elements) checkWeekDays(problem report) {
	if n := len(e.WeekDays); n > 7 {
		problem("weekDays", "%d days; a week has 7", n)
	}
	for i, day := range e.WeekDays {
		if day < time.Sunday || day > time.Saturday {
			problem(at("weekDays", i), "%d is not a weekday", day)
		}
	}
}

func (e Elements) checkOccurrences(problem report) {
	for i, m := range e.MonthlyOccurrences {
		path := at("monthlyOccurrences", i)
		if m.Day < time.Sunday || m.Day > time.Saturday {
			problem(path+".day", "%d is not a weekday", m.Day)
		}
		if m.Occurrence < -5 || m.Occurrence > 5 {
			problem(path+".occurrence", "%d is not in -5 to 5; no month has more of a weekday", m.Occurrence)
		}
	}
}

// checkOnly reports an element that belongs to one frequency and comes with another (the table of elements on Azure's
// page).
func checkOnly(name string, size int, only, f Frequency, problem report) {
	if size > 0 && f != only {
		problem(name, "can be used with the frequency %s only, not with %s", only, f)
	}
}

func checkRange(name string, values []int, low, high int, problem report) {
	form := "%d is not in %d-%d"
	if low < 0 {
		form = "%d is not in %d to %d"
	}
	for i, n := range values {
		if n < low || n > high {
			problem(at(name, i), form, n, low, high)
		}
	}
}

// at returns the path of the element i of an array.
func at(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
