package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// covers reports whether every step of another step set, at the tile's times of its unit, is a step of s too.
func (s *StepSet) covers(o *StepSet) bool {
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
	for second, ok := inner.Next(0); ok; second, ok = inner.After(second) {
		if calendar.Mod(o.grid.Anchor*ratio+second/s.unit-s.grid.Anchor, s.grid.Step) != 0 {
			return false
		}
	}
	return true
}

// Without returns the set without tiles and without other step sets, as far as those step on all of its own steps.
func (s *StepSet) Without(minus []Tile, excluded []*StepSet) Set {
	minus = slices.Clone(minus)
	for _, e := range excluded {
		if e.covers(s) {
			minus = append(minus, e.tile)
		}
	}
	if len(minus) == 0 || len(minus) > MaxTiles {
		return s
	}
	filter := NewDifference([]Tile{s.tile}, minus)
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

func (s *filtered) Next(w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Next(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Next(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *filtered) Last(w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Last(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Last(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *filtered) Count(a, b int64) int64 {
	n := int64(0)
	for w, ok := s.Next(a); ok && w <= b; w, ok = s.Next(w + 1) {
		n++
	}
	return n
}
