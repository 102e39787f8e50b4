package spec

import "time"

// steps returns the instants anchor + k·n minutes or hours, of elapsed time.
func (r *Recur) steps(anchor time.Time) Schedule {
	seconds := int64(r.n) * 60
	if r.unit == recurHours {
		seconds *= 60
	}
	return newZoned(wallSteps{stepCycle(anchor.Unix(), seconds)}, time.UTC, literal)
}

// wallSteps is every so many seconds.
type wallSteps struct{ cycle cycle }

func (s wallSteps) next(w int64) (int64, bool) { return s.cycle.next(w) }
func (s wallSteps) last(w int64) (int64, bool) { return s.cycle.last(w), true }
func (s wallSteps) count(a, b int64) int64     { return s.cycle.count(a, b) }

// calendar returns the days, weeks or months counted from a date, each at its time of day on the zone's clock. The
// policy at changes of the clock is that of RFC 5545, unless the job asks otherwise.
func (r *Recur) calendar(anchor time.Time, s Setting) Schedule {
	day := firstDay(int64(anchor.Year())*12+int64(anchor.Month())-1) + int64(anchor.Day()) - 1
	t := tile{
		dates: everyDate,
		times: times{1 << anchor.Hour(), 1 << anchor.Minute(), 1 << anchor.Second()},
	}
	var cycle cycle
	switch r.unit {
	case recurMonths:
		month, _ := monthOf(day)
		cycle = stepCycle(month, int64(r.n))
		t.dates = newDates(newYearDays(1<<12-1, clampedTo(anchor.Day())), &cycle, byMonth)
	case recurWeeks:
		cycle = stepCycle(day, 7*int64(r.n))
		t.dates = newDates(everyDay, &cycle, byDay)
	default:
		cycle = stepCycle(day, int64(r.n))
		t.dates = newDates(everyDay, &cycle, byDay)
	}
	return newZoned(newMosaic([]tile{t}, nil), s.zone(), s.DST.or(GapShift, OverlapFirst))
}

// clampedTo returns the day of each month or, if it is too short, its last.
func clampedTo(day int) *monthDays {
	return newMonthDays(func(_, length int) uint32 { return 1 << min(day, length) })
}

// firstShown returns the first instant at which the zone's clock shows a wall-clock second or, if it jumps over it, the
// instant that comes as long after the jump's start as the clock would have said.
func firstShown(wall int64, zone *time.Location) time.Time {
	t, _ := newZoned(wallSecond(wall), zone, DST{GapShift, OverlapFirst}).Next(time.Unix(wall-margin, 0))
	return t
}

// wallSecond is a single wall-clock second.
type wallSecond int64

func (s wallSecond) next(w int64) (int64, bool) { return int64(s), w <= int64(s) }
func (s wallSecond) last(w int64) (int64, bool) { return int64(s), w >= int64(s) }

func (s wallSecond) count(a, b int64) int64 {
	if a <= int64(s) && int64(s) <= b {
		return 1
	}
	return 0
}

// delayed is a schedule of whole seconds, moved by a fraction of a second.
type delayed struct {
	schedule Schedule
	by       time.Duration
}

// delay moves a schedule.
func delay(s Schedule, by time.Duration) Schedule {
	if by == 0 {
		return s
	}
	return &delayed{s, by}
}

// Next implements [Schedule].
func (d *delayed) Next(after time.Time) (time.Time, bool) {
	t, ok := d.schedule.Next(after.Add(-d.by))
	return d.move(t, ok)
}

// Last implements [Schedule].
func (d *delayed) Last(notAfter time.Time) (time.Time, bool) {
	t, ok := d.schedule.Last(notAfter.Add(-d.by))
	return d.move(t, ok)
}

// Count implements [Schedule].
func (d *delayed) Count(from, to time.Time) int {
	return d.schedule.Count(from.Add(-d.by), to.Add(-d.by))
}

func (d *delayed) move(t time.Time, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return t.Add(d.by), true
}
