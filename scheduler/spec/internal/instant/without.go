package instant

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Span is the seconds since the epoch in From…To, both included.
type Span struct{ From, To int64 }

// without is a schedule of whole seconds without those in spans, which are in order and do not overlap.
type without struct {
	schedule Schedule
	spans    []Span
}

// Without returns a schedule of whole seconds without those in spans.
func Without(s Schedule, spans []Span) Schedule {
	if len(spans) == 0 {
		return s
	}
	var merged []Span
	for _, span := range slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.From, b.From) }) {
		if n := len(merged); n > 0 && span.From <= merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, span.To)
		} else {
			merged = append(merged, span)
		}
	}
	return &without{s, merged}
}

// from returns the spans that end at an instant or later.
func (w *without) from(t time.Time) []Span {
	i, _ := slices.BinarySearchFunc(w.spans, t.Unix(), func(s Span, u int64) int { return cmp.Compare(s.To, u) })
	return w.spans[i:]
}

// Next implements [Schedule].
func (w *without) Next(after time.Time) (time.Time, bool) { return w.nextIn(nil, after) }

func (w *without) nextIn(m *work.Meter, after time.Time) (time.Time, bool) {
	for {
		t, ok := Next(m, w.schedule, after)
		spans := w.from(t)
		if !ok || len(spans) == 0 || t.Unix() < spans[0].From {
			return t, ok
		}
		after = time.Unix(spans[0].To, 0)
	}
}

// Last implements [Schedule].
func (w *without) Last(notAfter time.Time) (time.Time, bool) { return w.lastIn(nil, notAfter) }

func (w *without) lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	for {
		t, ok := Last(m, w.schedule, notAfter)
		spans := w.from(t)
		if !ok || len(spans) == 0 || t.Unix() < spans[0].From {
			return t, ok
		}
		notAfter = time.Unix(spans[0].From-1, 0)
	}
}

// Count implements [Schedule].
func (w *without) Count(from, to time.Time) int { return w.countIn(nil, from, to) }

func (w *without) countIn(m *work.Meter, from, to time.Time) int {
	n := Count(m, w.schedule, from, to)
	for _, span := range w.from(from) {
		if span.From > to.Unix() {
			break
		}
		n -= Count(m, w.schedule, Later(from, time.Unix(span.From, 0)), time.Unix(min(span.To, to.Unix()), 0))
	}
	return n
}

func (w *without) notes(m *work.Meter, from, to int64) []note {
	return notesOf(m, w.schedule, from, to)
}

func (w *without) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	return gapsOf(w.schedule).nextGap(m, from, to)
}

func (w *without) Countable() bool { return Countable(w.schedule) }
