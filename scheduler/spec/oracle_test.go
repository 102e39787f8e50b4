package spec_test

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// oracle is the recurrence as the page words it, read aloud: it decides of one instant whether the job runs then, with
// package time and nothing else. It is slow and has no arithmetic in common with the code under test.
type oracle struct {
	spec.Recurrence

	start time.Time
}

// walk returns the runs in from…to, by looking at every minute (or second) in between. Days that are out of the
// question are looked at once.
func (o oracle) walk(from, to time.Time) []time.Time {
	step := time.Minute
	if o.Frequency == spec.Second {
		step = time.Second
	}
	midnight := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	phase := time.Duration(o.start.Nanosecond())
	if step == time.Minute {
		phase += time.Duration(o.start.Second()) * time.Second
	}
	var runs []time.Time
	for day := midnight; !day.After(to); day = day.AddDate(0, 0, 1) {
		if !o.runsOnDay(day) {
			continue
		}
		for t := day.Add(phase); t.Before(day.AddDate(0, 0, 1).Add(phase)); t = t.Add(step) {
			if !t.Before(from) && !t.After(to) && o.runsAt(t) {
				runs = append(runs, t)
			}
		}
	}
	return runs
}

// runsAt reports whether the job runs at t, which lies on a day of the job.
func (o oracle) runsAt(t time.Time) bool {
	if t.Before(o.start) || !o.End.IsZero() && t.After(o.End) {
		return false
	}
	e, every := o.Schedule, max(o.Interval, 1)
	scheduled := len(e.Minutes)+len(e.Hours)+len(e.WeekDays)+len(e.MonthDays)+len(e.Months)+len(e.MonthlyOccurrences) > 0
	hour := func(t time.Time) time.Time { return t.Truncate(time.Hour) }
	switch o.Frequency {
	case spec.Second:
		return t.Sub(o.start)%(time.Duration(every)*time.Second) == 0 && listed(e.Hours, t.Hour()) && listed(e.Minutes, t.Minute())
	case spec.Minute:
		return t.Sub(o.start)%(time.Duration(every)*time.Minute) == 0 && listed(e.Hours, t.Hour()) && listed(e.Minutes, t.Minute())
	case spec.Hour:
		onGrid := hour(t).Sub(hour(o.start))%(time.Duration(every)*time.Hour) == 0
		minute := t.Minute() == o.start.Minute()
		if len(e.Minutes) > 0 {
			minute = slices.Contains(e.Minutes, t.Minute())
		}
		return onGrid && minute && listed(e.Hours, t.Hour())
	default:
		switch {
		case !scheduled || len(e.Hours) == 0 && len(e.Minutes) == 0:
			return t.Hour() == o.start.Hour() && t.Minute() == o.start.Minute()
		case len(e.Minutes) == 0:
			return slices.Contains(e.Hours, t.Hour()) && t.Minute() == o.start.Minute()
		}
		return listed(e.Hours, t.Hour()) && slices.Contains(e.Minutes, t.Minute())
	}
}

// runsOnDay reports whether the job may run on a day at all.
func (o oracle) runsOnDay(day time.Time) bool {
	e, every := o.Schedule, max(o.Interval, 1)
	first := time.Date(o.start.Year(), o.start.Month(), o.start.Day(), 0, 0, 0, 0, time.UTC)
	days := int(day.Sub(first) / (24 * time.Hour))
	months := (day.Year()-first.Year())*12 + int(day.Month()) - int(first.Month())
	if len(e.Months) > 0 && !slices.Contains(e.Months, int(day.Month())) {
		return false
	}
	switch o.Frequency {
	case spec.Day:
		return days%every == 0
	case spec.Week:
		if len(e.WeekDays) == 0 {
			return days%(7*every) == 0
		}
		monday := func(t time.Time) time.Time { return t.AddDate(0, 0, -int(t.Weekday()+6)%7) }
		weeks := int(monday(day).Sub(monday(first)) / (7 * 24 * time.Hour))
		return weeks%every == 0 && slices.Contains(e.WeekDays, day.Weekday())
	case spec.Month:
		return months%every == 0 && o.runsOnDayOfMonth(day)
	case spec.Year:
		inMonth := len(e.Months) > 0 || day.Month() == first.Month()
		return (day.Year()-first.Year())%every == 0 && inMonth && o.runsOnDayOfMonth(day)
	default:
		return true
	}
}

func (o oracle) runsOnDayOfMonth(day time.Time) bool {
	e := o.Schedule
	length := day.AddDate(0, 1, -day.Day()).Day()
	if len(e.MonthDays) == 0 && len(e.MonthlyOccurrences) == 0 {
		if len(e.Minutes)+len(e.Hours)+len(e.Months) == 0 {
			return day.Day() == min(o.start.Day(), length)
		}
		return day.Day() == o.start.Day()
	}
	inDays := len(e.MonthDays) == 0 || slices.Contains(e.MonthDays, day.Day()) || slices.Contains(e.MonthDays, day.Day()-length-1)
	return inDays && (len(e.MonthlyOccurrences) == 0 || slices.ContainsFunc(e.MonthlyOccurrences, func(m spec.MonthlyOccurrence) bool {
		fromStart, fromEnd := (day.Day()-1)/7+1, -(length-day.Day())/7-1
		return m.Day == day.Weekday() && (m.Occurrence == 0 || m.Occurrence == fromStart || m.Occurrence == fromEnd)
	}))
}

// listed reports whether n is in a set that, without elements, has all.
func listed(set []int, n int) bool { return len(set) == 0 || slices.Contains(set, n) }
