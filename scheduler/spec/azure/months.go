package azure

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// monthly returns the days of a monthly or yearly recurrence.
func (c *compiler) monthly() *monthly {
	days := calendar.NewMonthDays(c.monthDays())
	months := c.months()
	for phase := range min(months.Length, 12) {
		if _, month := calendar.Divide(months.Anchor+phase*months.Step, 12); !days.Possible(month) {
			months.Drop(phase)
		}
	}
	return &monthly{months, *days}
}

// months returns the months of a monthly or yearly recurrence. A year without months has its start's month.
func (c *compiler) months() calendar.Cycle {
	day, _ := calendar.Divide(c.seconds, 86_400)
	start, _ := calendar.MonthOf(day)
	interval := int64(c.interval())
	mask := monthMask(c.Schedule.Months)
	if c.Frequency == Month {
		return calendar.NewCycle(start, interval, 12/calendar.GCD(12, interval), func(phase int64) bool {
			_, month := calendar.Divide(start+phase*interval, 12)
			return mask>>month&1 == 1
		})
	}
	year, month := calendar.Divide(start, 12)
	if len(c.Schedule.Months) == 0 {
		mask = 1 << month
	}
	interval = min(interval, 10_000) // the years end before a longer interval does
	return calendar.MaskCycle(year*12, 12*interval, mask)
}

// MonthDays returns the function that says which days of a month the recurrence has.
//
// Without a schedule it is the start's day, or the last day of a shorter month: always counted from the start, so that
// a job of 31 January does not stay on the 29th after February. With a schedule, days that a month lacks are skipped,
// as the page says of MonthDays [31]; the start's day, which stands for MonthDays where there are none, is no
// exception.
func (c *compiler) monthDays() func(weekday, length int) uint32 {
	e, day := c.Schedule, c.start.Day()
	switch {
	case e.empty():
		return func(_, length int) uint32 { return 1 << min(day, length) }
	case len(e.MonthDays) == 0 && len(e.MonthlyOccurrences) == 0:
		return func(_, _ int) uint32 { return 1 << day }
	}
	return func(weekday, length int) uint32 {
		return calendar.DayMask(e.MonthDays, length) & occurrenceMask(e.MonthlyOccurrences, weekday, length)
	}
}

// occurrenceMask returns the days of a month that begins on that weekday (from Monday); no occurrences say nothing and
// are all days.
func occurrenceMask(occurrences []MonthlyOccurrence, weekday, length int) uint32 {
	if len(occurrences) == 0 {
		return calendar.LengthMask(length)
	}
	set := uint32(0)
	for _, m := range occurrences {
		set |= calendar.NthWeekday(m.Day, m.Occurrence, weekday, length)
	}
	return set
}
