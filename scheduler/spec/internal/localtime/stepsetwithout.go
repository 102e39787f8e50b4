package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// covers reports whether every step of another step set, at the tile's times of its unit, is a step of s too.
func (s *StepSet) covers(m *work.Meter, o *StepSet) bool {
	if s.unit > o.unit {
		return false
	}
	ratio := o.unit / s.unit
	if o.grid.Step*ratio%s.grid.Step != 0 {
		return false
	}
	inner := o.tile.Times // the times of one of the other's units, in units of s
	inner.Hours = 1
	if o.unit < 3600 {
		inner.Minutes = 1
	}
	if o.unit == 1 {
		inner.Seconds = 1
	}
	for second, ok := inner.Next(0); ok && m.Spend(1); second, ok = inner.After(second) {
		if calendar.Mod(o.grid.Anchor*ratio+second/s.unit-s.grid.Anchor, s.grid.Step) != 0 {
			return false
		}
	}
	return true
}

// Without returns the set without tiles and without other step sets, as far as those step on all of its own steps.
func (s *StepSet) Without(m *work.Meter, minus []Tile, excluded []*StepSet) Set {
	minus = slices.Clone(minus)
	for _, e := range excluded {
		if e.covers(m, s) {
			minus = append(minus, e.tile)
		}
	}
	if len(minus) == 0 || len(minus) > MaxTiles {
		return s
	}
	filter := NewDifference(m, []Tile{s.tile}, minus)
	if _, none := filter.(Nothing); none {
		return filter
	}
	return &filtered{s, filter}
}

// filtered is the part of a step set that lies in another set.
type filtered struct {
	steps  *StepSet
	filter Set
}

func (s *filtered) Next(m *work.Meter, w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Next(m, w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Next(m, step); !ok || w == step {
			return w, ok
		}
	}
	return 0, m.GiveUp()
}

func (s *filtered) Last(m *work.Meter, w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Last(m, w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Last(m, step); !ok || w == step {
			return w, ok
		}
	}
	return 0, m.GiveUp()
}

func (s *filtered) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for w, ok := s.Next(m, a); ok && w <= b; w, ok = s.Next(m, w+1) {
		n++
	}
	return n
}
