package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// window is the part of a schedule in start…end, both included.
type window struct {
	schedule   Schedule
	start, end time.Time
}

// Clip returns the part of a schedule in start…end, both included. A zero start or end is none.
func Clip(s Schedule, start, end time.Time) Schedule {
	if start.IsZero() && end.IsZero() {
		return s
	}
	if end.IsZero() {
		end = calendar.EndOfTime
	}
	return &window{s, start, end}
}

// Next implements [Schedule].
func (w *window) Next(after time.Time) (time.Time, bool) { return w.nextIn(nil, after) }

func (w *window) nextIn(m *work.Meter, after time.Time) (time.Time, bool) {
	if after.Before(w.start) {
		after = w.start.Add(-1)
	}
	t, ok := Next(m, w.schedule, after)
	return t, ok && !t.After(w.end)
}

// Last implements [Schedule].
func (w *window) Last(notAfter time.Time) (time.Time, bool) { return w.lastIn(nil, notAfter) }

func (w *window) lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	if notAfter.After(w.end) {
		notAfter = w.end
	}
	t, ok := Last(m, w.schedule, notAfter)
	return t, ok && !t.Before(w.start)
}

// Count implements [Schedule].
func (w *window) Count(from, to time.Time) int { return w.countIn(nil, from, to) }

func (w *window) countIn(m *work.Meter, from, to time.Time) int {
	if from.Before(w.start) {
		from = w.start
	}
	if to.After(w.end) {
		to = w.end
	}
	if from.After(to) {
		return 0
	}
	return Count(m, w.schedule, from, to)
}

func (w *window) notes(m *work.Meter, from, to int64) []note {
	if !w.start.IsZero() {
		from = max(from, w.start.Unix())
	}
	return notesOf(m, w.schedule, from, min(to, w.end.Unix()))
}

func (w *window) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	if !w.start.IsZero() { // what the clock jumps over comes before the change
		from = max(from, w.start.Unix()+1)
	}
	return gapsOf(w.schedule).nextGap(m, from, min(to, w.end.Unix()))
}

func (w *window) Countable() bool { return Countable(w.schedule) }
