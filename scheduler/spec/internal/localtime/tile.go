package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Tile is the plainest set of local times: certain times on certain dates.
type Tile struct {
	Dates calendar.Dates
	Times calendar.Times
}

// Next implements [Set].
func (t *Tile) Next(m *work.Meter, w int64) (int64, bool) {
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := t.Dates.Next(m, day)
	if found == day && ok {
		if s, ok := t.Times.Next(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = t.Dates.Next(m, day+1)
	}
	if !ok || t.Times.Size() == 0 {
		return 0, false
	}
	return found*calendar.DayLength + t.Times.First(), true
}

// Last implements [Set].
func (t *Tile) Last(m *work.Meter, w int64) (int64, bool) {
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := t.Dates.Last(m, day)
	if found == day && ok {
		if s, ok := t.Times.Last(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = t.Dates.Last(m, day-1)
	}
	if !ok {
		return 0, false
	}
	s, ok := t.Times.Last(calendar.DayLength - 1)
	return found*calendar.DayLength + s, ok
}

// Count implements [Set].
func (t *Tile) Count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		if !t.Dates.Has(first) {
			return 0
		}
		return t.Times.Before(to+1) - t.Times.Before(from)
	}
	n := t.Dates.Count(m, first+1, final-1) * t.Times.Size()
	if t.Dates.Has(first) {
		n += t.Times.Size() - t.Times.Before(from)
	}
	if t.Dates.Has(final) {
		n += t.Times.Before(to + 1)
	}
	return n
}

// Never reports whether the tile is empty.
func (t *Tile) Never(m *work.Meter) bool { return t.Times.Size() == 0 || t.Dates.Never(m) }
