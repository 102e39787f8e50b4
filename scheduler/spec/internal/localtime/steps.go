package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Steps is every so many seconds.
type Steps struct{ Cycle calendar.Cycle }

// Next implements [Set].
func (s Steps) Next(w int64) (int64, bool) { return s.Cycle.Next(w) }

// Last implements [Set].
func (s Steps) Last(w int64) (int64, bool) { return s.Cycle.Last(w), true }

// Count implements [Set].
func (s Steps) Count(a, b int64) int64 { return s.Cycle.Count(a, b) }

// Single is a single local time.
type Single int64

// Next implements [Set].
func (s Single) Next(w int64) (int64, bool) { return int64(s), w <= int64(s) }

// Last implements [Set].
func (s Single) Last(w int64) (int64, bool) { return int64(s), w >= int64(s) }

// Count implements [Set].
func (s Single) Count(a, b int64) int64 {
	if a <= int64(s) && int64(s) <= b {
		return 1
	}
	return 0
}
