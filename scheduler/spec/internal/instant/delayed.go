package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

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
func (d *delayed) Next(after time.Time) (time.Time, bool) { return d.nextIn(nil, after) }

func (d *delayed) nextIn(m *work.Meter, after time.Time) (time.Time, bool) {
	t, ok := Next(m, d.schedule, after.Add(-d.by))
	return d.move(t, ok)
}

// Last implements [Schedule].
func (d *delayed) Last(notAfter time.Time) (time.Time, bool) { return d.lastIn(nil, notAfter) }

func (d *delayed) lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	t, ok := Last(m, d.schedule, notAfter.Add(-d.by))
	return d.move(t, ok)
}

// Count implements [Schedule].
func (d *delayed) Count(from, to time.Time) int { return d.countIn(nil, from, to) }

func (d *delayed) countIn(m *work.Meter, from, to time.Time) int {
	return Count(m, d.schedule, from.Add(-d.by), to.Add(-d.by))
}

func (d *delayed) move(t time.Time, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return t.Add(d.by), true
}

func (d *delayed) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	return gapsOf(d.schedule).nextGap(m, from, to)
}

func (d *delayed) notes(m *work.Meter, from, to int64) []note {
	return notesOf(m, d.schedule, from, to)
}

func (d *delayed) Countable() bool { return Countable(d.schedule) }
