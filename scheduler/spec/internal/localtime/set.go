package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Set is a set of local times, each the seconds since 1970-01-01T00:00:00 on a clock that is never changed.
type Set interface {
	// Next returns the first second of the set not before w, false if there is none up to the year 9999.
	Next(m *work.Meter, w int64) (int64, bool)
	// Last returns the last second of the set not after w, false if there is none from the year 1 on.
	Last(m *work.Meter, w int64) (int64, bool)
	// Count returns how many seconds of the set lie in a…b.
	Count(m *work.Meter, a, b int64) int64
}

// Nothing is the empty set.
type Nothing struct{}

// Next implements [Set].
func (Nothing) Next(*work.Meter, int64) (int64, bool) { return 0, false }

// Last implements [Set].
func (Nothing) Last(*work.Meter, int64) (int64, bool) { return 0, false }

// Count implements [Set].
func (Nothing) Count(*work.Meter, int64, int64) int64 { return 0 }

// IsNothing reports whether a set is [Nothing].
func IsNothing(set Set) bool {
	_, none := set.(Nothing)
	return none
}

// Countable reports whether a set is counted by its days at most, and not by its seconds.
func Countable(set Set) bool {
	switch set := set.(type) {
	case *Range:
		_, nested := set.Set.(*Range)
		return !nested && Countable(set.Set)
	case *Tile, Steps, *StepSet, *Difference:
		return true
	}
	return false
}
