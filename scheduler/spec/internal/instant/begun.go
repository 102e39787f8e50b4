package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// begun is a schedule whose first instant is known: to find that can be most of the work that it ever takes.
type begun struct {
	schedule Schedule
	first    time.Time
	some     bool // there is any instant
}

// Begun returns a schedule that has looked for its first instant, and remembers it. If the meter is exhausted by then, it is
// of no use.
func Begun(m *work.Meter, s Schedule) Schedule {
	first, ok := Next(m, s, time.Time{})
	return &begun{s, first, ok}
}

// Next implements [Schedule].
func (b *begun) Next(after time.Time) (time.Time, bool) { return b.nextIn(nil, after) }

func (b *begun) nextIn(m *work.Meter, after time.Time) (time.Time, bool) {
	if !b.some || after.Before(b.first) && !after.Before(time.Time{}) {
		return b.first, b.some
	}
	return Next(m, b.schedule, after)
}

// Last implements [Schedule].
func (b *begun) Last(notAfter time.Time) (time.Time, bool) { return b.lastIn(nil, notAfter) }

func (b *begun) lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	if !b.some || notAfter.Before(b.first) {
		return time.Time{}, false
	}
	return Last(m, b.schedule, notAfter)
}

// Count implements [Schedule].
func (b *begun) Count(from, to time.Time) int { return b.countIn(nil, from, to) }

func (b *begun) countIn(m *work.Meter, from, to time.Time) int {
	if !b.some || to.Before(b.first) {
		return 0
	}
	return Count(m, b.schedule, from, to)
}

func (b *begun) notes(m *work.Meter, from, to int64) []note { return notesOf(m, b.schedule, from, to) }

func (b *begun) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	return gapsOf(b.schedule).nextGap(m, from, to)
}

func (b *begun) Countable() bool { return Countable(b.schedule) }
