package azure

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
)

// Compile returns the occurrences of r, which is valid, from start on or, if that is zero, from the creation on.
func (r Recurrence) Compile(start, created time.Time) *instant.Schedule {
	origin := r.origin(start, created)
	c := compiler{Recurrence: r, start: origin.UTC(), seconds: origin.Unix()}
	by := time.Duration(origin.Nanosecond())
	if r.Frequency != Second {
		second := c.start.Second()
		by += time.Duration(second) * time.Second
		c.seconds -= int64(second)
	}
	if start.IsZero() {
		start = created
	}
	return instant.NewZoned(localtime.Of(nil, c.layers()...), time.UTC, instant.Literal).Delay(by).Clip(start, r.End).Begun(nil)
}

// origin returns the anchor of the occurrences: the start or else the creation time. With a schedule, the seconds of
// the creation time are dropped, because no user intends them: {"minutes":[15], "hours":[5]} is "at 5:15 AM every day".
func (r Recurrence) origin(start, created time.Time) time.Time {
	switch {
	case !start.IsZero():
		return start
	case r.Schedule.empty():
		return created
	case r.Frequency == Second:
		return created.Truncate(time.Second)
	}
	return created.Truncate(time.Minute)
}

// compiler turns a recurrence into a set of whole minutes, unless the frequency is Second; the start's seconds beyond the
// minute delay every occurrence.
type compiler struct {
	Recurrence

	start   time.Time // UTC
	seconds int64     // the start since the epoch, less the delay
}

func (c *compiler) layers() []localtime.Layer {
	f, unit := c.Frequency, int64(frequencies[c.Frequency].length/time.Second)
	switch {
	case f >= Month:
		return []localtime.Layer{{Dates: c.monthly(), Times: c.clock()}}
	case c.Schedule.empty():
		return []localtime.Layer{localtime.Steps(c.seconds, int64(c.interval())*unit)}
	case f >= Day:
		return []localtime.Layer{{Dates: c.days(), Times: c.clock()}}
	}
	return c.grid(unit)
}

// grid returns the layers of a frequency of less than a day with a schedule: the seconds, minutes or hours of the grid
// whose hour (and minute) is allowed. The grid runs on over midnight.
func (c *compiler) grid(unit int64) []localtime.Layer {
	times := calendar.Times{Hours: hourMask(c.Schedule.Hours), Minutes: minuteMask(c.Schedule.Minutes), Seconds: 1}
	switch c.Frequency {
	case Hour:
		times.Minutes = c.clock().Minutes
	case Second:
		times.Seconds = calendar.AllMinutes
	default:
	}
	anchor, _ := calendar.Divide(c.seconds, unit)
	dates := calendar.Dates{Days: c.inMonths()}
	return localtime.Stepped(nil, unit, anchor, int64(c.interval()), localtime.Layer{Dates: dates, Times: times})
}

// days returns the days of a daily or weekly recurrence. Weeks are counted from the Monday of the start's week (ISO
// 8601; the page lists Monday first), so that with an interval of 2 a Sunday and the Monday after it are not in the
// same week.
func (c *compiler) days() calendar.Dates {
	day, _ := calendar.Divide(c.seconds, calendar.DayLength)
	cycle := calendar.StepCycle(day, int64(c.interval()))
	switch {
	case c.Frequency == Day && c.interval() == 1:
		return calendar.Dates{Days: c.inMonths()}
	case c.Frequency == Week:
		weekday := calendar.WeekdayOf(day)
		mask := weekdayMask(c.Schedule.WeekDays)
		if mask == 0 {
			mask = 1 << weekday
		}
		cycle = calendar.MaskCycle(day-weekday, 7*int64(c.interval()), mask)
	}
	return calendar.Dates{Days: c.inMonths(), Cycle: &cycle, Unit: calendar.ByDay}
}

// inMonths returns the days of the months, if there are any.
func (c *compiler) inMonths() *calendar.YearDays {
	if len(c.Schedule.Months) == 0 {
		return calendar.EveryDay
	}
	return calendar.DaysOfMonths(monthMask(c.Schedule.Months))
}

// monthly returns the days of a monthly or yearly recurrence. A year without months has its start's month.
func (c *compiler) monthly() calendar.Dates {
	day, _ := calendar.Divide(c.seconds, calendar.DayLength)
	mask, unit := monthMask(c.Schedule.Months), calendar.ByMonth
	if c.Frequency == Year {
		unit = calendar.ByYear
		if len(c.Schedule.Months) == 0 {
			mask = 1 << (c.start.Month() - 1)
		}
	}
	days := calendar.NewYearDays(mask, calendar.NewMonthDays(c.monthDays()))
	if c.interval() == 1 {
		return calendar.Dates{Days: days}
	}
	return calendar.Stepped(nil, days, unit, day, int64(c.interval()))
}

// clock returns the times of day of a frequency of a day or more: each hour with each minute. "When a job has a
// schedule but no specified hours and minutes, these values default to the hours and minutes in the first execution";
// but {"minutes":[15]} is every hour (examples of the page).
func (c *compiler) clock() calendar.Times {
	times := calendar.Times{Hours: 1 << c.start.Hour(), Minutes: 1 << c.start.Minute(), Seconds: 1}
	if len(c.Schedule.Minutes) > 0 {
		times.Hours, times.Minutes = hourMask(nil), minuteMask(c.Schedule.Minutes)
	}
	if len(c.Schedule.Hours) > 0 {
		times.Hours = hourMask(c.Schedule.Hours)
	}
	return times
}

// monthDays returns a function from a month to the days of the recurrence in it.
//
// Without a schedule it is the start's day, or the last day of a shorter month: always counted from the start, so that
// a job of 31 January does not stay on the 29th after February. With a schedule, days that a month lacks are skipped,
// as the page says of MonthDays [31]; the start's day, the default of MonthDays, is no
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

// The masks of sets, January and Monday at bit 0. A set without elements says nothing and is all of them, except for
// weekdays.

func hourMask(hours []int) uint32 { return uint32(mask(hours, 1<<24-1)) }

func minuteMask(minutes []int) uint64 { return mask(minutes, 1<<60-1) }

func monthMask(months []int) uint64 { return mask(months, 1<<13-1) >> 1 }

func weekdayMask(days []time.Weekday) uint64 {
	set := uint64(0)
	for _, day := range days {
		set |= 1 << ((day + 6) % 7) // from Monday
	}
	return set
}

func mask(values []int, all uint64) uint64 {
	if len(values) == 0 {
		return all
	}
	return calendar.BitsOf(values)
}
