package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Except is a set of local times minus others.
type Except struct {
	set      Set
	excluded Union
	patience int // how many excluded runs a search passes at most
}

// NewExcept returns a set minus others. The caller must check with Search whether a search ever exceeds its bound.
func NewExcept(set Set, excluded Union) *Except {
	return &Except{set, excluded, 200_000 / (effort(set) + effort(excluded))}
}

// effort estimates the cost of a lookup in a set, relative to a tile.
func effort(set Set) int {
	switch set := set.(type) {
	case *Range:
		return effort(set.Set)
	case *Difference:
		return len(set.plus) + len(set.minus)
	case *StepSet:
		if set.long {
			return 4 + 4*len(set.windows)
		}
		return 4
	case *filtered:
		return effort(set.steps) + effort(set.filter)
	case DisjointUnion:
		return effort(set.Union)
	case Union:
		n := 0
		for _, part := range set {
			n += effort(part)
		}
		return n
	}
	return 1
}

// Next implements [Set].
func (e *Except) Next(m *work.Meter, w int64) (int64, bool) {
	for {
		found, ok, exhausted := e.Search(m, w)
		if !exhausted {
			return found, ok
		}
		if m == nil || m.Exhausted() {
			return 0, m.GiveUp()
		}
		w = found
	}
}

// Search returns the first second not before w. If it exceeds its bound, exhausted is true, and found is the position
// reached.
func (e *Except) Search(m *work.Meter, w int64) (found int64, ok, exhausted bool) {
	for range e.patience {
		if w, ok = e.set.Next(m, w); !ok || !m.Spend(1) {
			return 0, false, m.Exhausted()
		}
		_, last, excluded := e.run(m, w)
		if !excluded {
			return w, true, false
		}
		w = last + 1
	}
	return w, false, true
}

// run returns a run of excluded seconds that w belongs to.
func (e *Except) run(m *work.Meter, w int64) (first, last int64, excluded bool) {
	for _, set := range e.excluded {
		found, ok := set.Next(m, w)
		if !ok || found != w {
			continue
		}
		if s, ok := set.(*StepSet); ok {
			first, last = s.run(w)
			return first, last, true
		}
		return w, w, true
	}
	return 0, 0, false
}

// Last implements [Set].
func (e *Except) Last(m *work.Meter, w int64) (int64, bool) {
	for steps := 0; m != nil || steps < e.patience; steps++ {
		found, ok := e.set.Last(m, w)
		if !ok || !m.Spend(1) {
			return 0, false
		}
		first, _, excluded := e.run(m, found)
		if !excluded {
			return found, true
		}
		w = first - 1
	}
	return 0, false
}

// Count implements [Set]. It passes over the runs of excluded seconds.
func (e *Except) Count(m *work.Meter, a, b int64) int64 {
	n := e.set.Count(m, a, b)
	for w, ok := e.set.Next(m, a); ok && w <= b; w, ok = e.set.Next(m, w) {
		out, some := e.excluded.Next(m, w)
		if !some || out > b {
			break
		}
		_, last, excluded := e.run(m, out)
		if !excluded {
			break // the meter is exhausted
		}
		n -= e.set.Count(m, out, min(last, b))
		w = last + 1
	}
	return n
}
