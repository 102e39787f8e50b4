package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Eras are parts of sets of local times, one after the other.
type Eras []Range

// Next implements [Set].
func (e Eras) Next(m *work.Meter, w int64) (int64, bool) {
	for i := range e {
		if w <= e[i].Final {
			if found, ok := e[i].Next(m, w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Last implements [Set].
func (e Eras) Last(m *work.Meter, w int64) (int64, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if w >= e[i].First {
			if found, ok := e[i].Last(m, w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Count implements [Set].
func (e Eras) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for i := range e {
		n += e[i].Count(m, a, b)
	}
	return n
}
