package azure

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

// Compile returns the occurrences of r, which is valid, from start on or, if that is zero, from the creation on.
func (r Recurrence) Compile(start, created time.Time) instant.Schedule {
	origin := r.origin(start, created)
	c := compiler{Recurrence: r, start: origin.UTC(), seconds: origin.Unix()}
	phase := time.Duration(origin.Nanosecond())
	if r.Frequency != Second {
		second := c.start.Second()
		phase += time.Duration(second) * time.Second
		c.seconds -= int64(second)
	}
	if start.IsZero() {
		start = created
	}
	return newSeries(c.pattern(), phase, start, r.End)
}

// origin returns what the occurrences are counted from: the start or, without one, the creation. A schedule knows no
// seconds, and those of a creation are nobody's wish: {"minutes":[15], "hours":[5]} is "at 5:15 AM every day".
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

// compiler turns a recurrence into a pattern. The pattern has whole minutes, unless the frequency is Second; what the
// start has beyond them is added to every occurrence.
type compiler struct {
	Recurrence

	start   time.Time // UTC
	seconds int64     // the start since the epoch, less what is added later
}

func (c *compiler) pattern() pattern {
	switch f := c.Frequency; {
	case f >= Month:
		return pattern{86_400, c.monthly(), c.clock()}
	case c.Schedule.empty():
		step := int64(c.interval()) * int64(frequencies[f].length/time.Second)
		cycle := calendar.StepCycle(c.seconds, step)
		return pattern{1, &cycle, sharp}
	case f >= Day:
		return pattern{86_400, c.limit(c.days(), 1), c.clock()}
	default:
		return c.grid()
	}
}

// grid returns the pattern of a frequency of less than a day with a schedule: the seconds, minutes or hours of the grid
// whose hour (and minute) is allowed. The grid runs on over midnight; it comes back to the same times of day after a
// whole number of days, which is the length of the cycle.
func (c *compiler) grid() pattern {
	unit := int64(frequencies[c.Frequency].length / time.Second)
	perDay, interval := 86_400/unit, int64(c.interval())
	anchor, _ := calendar.Divide(c.seconds, unit)
	allowed := calendar.Times{Hours: hourMask(c.Schedule.Hours), Minutes: minuteMask(c.Schedule.Minutes), Seconds: 1}
	times := sharp
	if c.Frequency == Hour {
		times.Minutes = c.clock().Minutes
		allowed.Minutes = 1
	}
	cycle := calendar.NewCycle(anchor, interval, perDay/calendar.GCD(perDay, interval), func(phase int64) bool {
		_, period := calendar.Divide(anchor+phase*interval, perDay)
		second := period * unit
		return allowed.Hours>>(second/3600)&1 == 1 && allowed.Minutes>>(second/60%60)&1 == 1
	})
	return pattern{unit, c.limit(cycle, perDay), times}
}

// days returns the days of a daily or weekly recurrence. Weeks are counted from the Monday of the start's week (ISO
// 8601; the page lists Monday first), so that with an interval of 2 a Sunday and the Monday after it are not in the
// same week.
func (c *compiler) days() calendar.Cycle {
	day, _ := calendar.Divide(c.seconds, 86_400)
	if c.Frequency == Day {
		return calendar.StepCycle(day, int64(c.interval()))
	}
	weekday := calendar.WeekdayOf(day)
	mask := weekdayMask(c.Schedule.WeekDays)
	if mask == 0 {
		mask = 1 << weekday
	}
	return calendar.MaskCycle(day-weekday, 7*int64(c.interval()), mask)
}

// limit applies the months, if there are any, to a cycle of periods.
func (c *compiler) limit(cycle calendar.Cycle, perDay int64) periods {
	if len(c.Schedule.Months) == 0 {
		return &cycle
	}
	return &limited{cycle, perDay, calendar.MaskCycle(0, 12, monthMask(c.Schedule.Months))}
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
