package azure

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
)

// Describe says in plain English when a job with that start, zero for none, runs.
func (r Recurrence) Describe(start, created time.Time) string {
	first := ""
	if start.IsZero() {
		first = "at once, then "
	}
	c := compiler{Recurrence: r, start: r.origin(start, created).UTC()}
	switch {
	case r.Schedule.empty() && start.IsZero() && (r.Frequency < Day || r.Anchor == AnchorLastExecution):
		return first + english.Every(r.interval(), r.Frequency.String()) + r.englishBase()
	case r.Schedule.empty():
		return first + c.englishSteps() + ", UTC"
	case r.Frequency < Day:
		return first + c.englishGrid() + ", UTC"
	}
	clock := c.clock()
	clock.Seconds = 1 << c.start.Second()
	phrase, allDay := english.Times(clock)
	return first + phrase + c.englishDays(allDay) + c.englishAnchor() + ", UTC"
}

// englishSteps describes a recurrence without schedule.
func (c *compiler) englishSteps() string {
	unit, clock := c.Frequency.String(), english.Clock(c.start.Clock())
	every := english.Each(c.interval(), unit)
	if c.Anchor == AnchorLastExecution {
		return "first at " + english.Stamp(c.start) + ", then " + english.Every(c.interval(), unit) + c.englishBase()
	}
	switch c.Frequency {
	case Day:
		return "at " + clock + " " + every + c.englishAnchor()
	case Week:
		return "at " + clock + c.englishWeek(every, "") + c.englishAnchor()
	case Month:
		return "at " + clock + " on " + c.englishStartDay() + " of " + every + c.englishAnchor()
	case Year:
		day := fmt.Sprintf("%d %s", c.start.Day(), c.start.Month())
		if day == "29 February" {
			day += " (28 February of years without it)"
		}
		return "at " + clock + " on " + day + " of " + every + c.englishAnchor()
	default:
		return english.Every(c.interval(), unit) + ", counted from " + english.Stamp(c.start)
	}
}

// englishBase describes counting from the last execution; "" if the steps count from the start.
func (r Recurrence) englishBase() string {
	if r.Anchor == AnchorLastExecution {
		return " after the last execution"
	}
	return ""
}

// englishStartDay returns the start's day of the month as a recurrence without schedule takes it.
func (c *compiler) englishStartDay() string {
	day := "day " + strconv.Itoa(c.start.Day())
	if c.start.Day() > 28 {
		day += " (the last day of shorter months)"
	}
	return day
}

// englishAnchor describes the anchor of an interval above one.
func (c *compiler) englishAnchor() string {
	switch {
	case c.interval() == 1:
		return ""
	case c.Frequency == Week:
		return ", counted from the week of " + c.start.Format("2006-01-02")
	case c.Frequency == Month:
		return ", counted from " + c.start.Format("January 2006")
	case c.Frequency == Year:
		return ", counted from " + strconv.Itoa(c.start.Year())
	}
	return ", counted from " + c.start.Format("2006-01-02")
}

// englishGrid describes a frequency of less than a day with a schedule that limits it.
func (c *compiler) englishGrid() string {
	phrase := english.Every(c.interval(), c.Frequency.String()) + ", counted from " + english.Stamp(c.start)
	e := c.Schedule
	if c.Frequency == Hour {
		phrase += ", at " + english.Numbers("minute", calendar.Ones(c.clock().Minutes), strconv.Itoa)
	} else if len(e.Minutes) > 0 {
		phrase += ", at " + english.Numbers("minute", calendar.Ones(minuteMask(e.Minutes)), strconv.Itoa) + " only"
	}
	if len(e.Hours) > 0 {
		phrase += ", in " + english.Numbers("hour", calendar.Ones(uint64(hourMask(e.Hours))), english.TwoDigits) + " only"
	}
	if len(e.Months) > 0 {
		phrase += ", in " + english.Months(monthMask(e.Months)) + " only"
	}
	return phrase
}

// englishDays describes the days of a frequency of a day or more with a schedule.
func (c *compiler) englishDays(allDay bool) string {
	e, every := c.Schedule, english.Each(c.interval(), c.Frequency.String())
	months := ""
	if len(e.Months) > 0 {
		months = english.Months(monthMask(e.Months))
	}
	switch c.Frequency {
	case Day:
		if months != "" {
			return " " + every + " in " + months
		}
		if allDay && c.interval() == 1 {
			return ""
		}
		return " " + every
	case Week:
		return c.englishWeek(every, months)
	case Year:
		if months == "" {
			months = c.start.Month().String()
		}
		return fmt.Sprintf(" on day %d of %s of %s", c.start.Day(), months, every)
	default:
		switch {
		case months != "" && c.interval() == 1:
			every = months
		case months != "":
			every += ", in " + months + " only"
		}
		return " on " + c.englishMonthDays(" of "+every)
	}
}

func (c *compiler) englishWeek(every, months string) string {
	weekdays := weekdayMask(c.Schedule.WeekDays)
	if weekdays == 0 {
		weekdays = 1 << ((c.start.Weekday() + 6) % 7)
	}
	phrase := " " + english.EachWeekday(weekdays)
	if c.interval() > 1 {
		phrase = " on " + english.Weekdays(weekdays) + " of " + every
	}
	if months != "" {
		phrase += ", in " + months
	}
	return phrase
}

// englishMonthDays describes the days of certain months: "the last Friday of every month", "day 13 of every month if
// that is a Friday".
func (c *compiler) englishMonthDays(of string) string {
	e := c.Schedule
	var days []string
	if positive := calendar.Ones(calendar.BitsOf(e.MonthDays)); len(positive) > 0 {
		days = append(days, english.Numbers("day", positive, strconv.Itoa))
	}
	for n := -1; n >= -31; n-- {
		if slices.Contains(e.MonthDays, n) {
			days = append(days, "the "+english.Ordinal(n)+" day")
		}
	}
	var weekdays []string
	for _, m := range e.MonthlyOccurrences {
		name := "the " + english.Ordinal(m.Occurrence) + " " + m.Day.String()
		switch {
		case m.Occurrence == 0 && len(days) > 0:
			name = "a " + m.Day.String()
		case m.Occurrence == 0:
			name = "every " + m.Day.String()
		}
		if !slices.Contains(weekdays, name) {
			weekdays = append(weekdays, name)
		}
	}
	switch {
	case len(days)+len(weekdays) == 0:
		return "day " + strconv.Itoa(c.start.Day()) + of
	case len(days) == 0:
		return english.List(weekdays, "and") + of
	case len(weekdays) == 0:
		return english.List(days, "and") + of
	}
	return english.List(days, "and") + of + " if that is " + english.List(weekdays, "or")
}
