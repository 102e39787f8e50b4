package instant

import "time"

// delayed is a schedule of whole seconds, moved by a fraction of a second.
type delayed struct {
	schedule Schedule
	by       time.Duration
}

// Delay moves a schedule.
func Delay(s Schedule, by time.Duration) Schedule {
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

func (d *delayed) nextGap(from, to int64) (gap, bool) { return gapsOf(d.schedule).nextGap(from, to) }
