package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Except is a set of local times without those of others.
type Except struct {
	set      Set
	excluded Union
	patience int // how many seconds, excluded one by one, a search passes before it gives up
}

// NewExcept returns a set without others. Whoever makes it finds out with search whether that ever gives up.
func NewExcept(set Set, excluded Union) *Except {
	return &Except{set, excluded, 200_000 / (effort(set) + effort(excluded))}
}

// effort tells, roughly, how much work a look into a set is, compared with a tile.
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
	found, ok, _ := e.Search(m, w)
	return found, ok
}

// Search returns the first second not before w. If it gives up, it is exhausted, and found is where it has come to.
func (e *Except) Search(m *work.Meter, w int64) (found int64, ok, exhausted bool) {
	for range e.patience {
		if w, ok = e.set.Next(m, w); !ok {
			return 0, false, m.Exhausted()
		}
		if out, excluded := e.excluded.Next(m, w); !excluded || out != w {
			return w, true, false
		}
		w++
	}
	return w, false, true
}

// Last implements [Set].
func (e *Except) Last(m *work.Meter, w int64) (int64, bool) {
	for range e.patience {
		found, ok := e.set.Last(m, w)
		if !ok {
			return 0, false
		}
		if out, excluded := e.excluded.Next(m, found); !excluded || out != found {
			return found, true
		}
		w = found - 1
	}
	return 0, false
}

// Count implements [Set].
func (e *Except) Count(m *work.Meter, a, b int64) int64 {
	n := e.set.Count(m, a, b)
	both := 0
	for w, ok := e.set.Next(m, a); ok && w <= b; w, ok = e.set.Next(m, w+1) {
		if out, excluded := e.excluded.Next(m, w); excluded && out == w {
			both++
		}
	}
	return n - int64(both)
}
