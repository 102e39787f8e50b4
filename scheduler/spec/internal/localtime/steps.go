package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Steps is every so many seconds.
type Steps struct{ Cycle calendar.Cycle }

// Next implements [Set].
func (s Steps) Next(_ *work.Meter, w int64) (int64, bool) { return s.Cycle.Next(w) }

// Last implements [Set].
func (s Steps) Last(_ *work.Meter, w int64) (int64, bool) { return s.Cycle.Last(w), true }

// Count implements [Set].
func (s Steps) Count(_ *work.Meter, a, b int64) int64 { return s.Cycle.Count(a, b) }

// Single returns the set of one local time.
func Single(local int64) Set { return &Range{Steps{calendar.StepCycle(0, 1)}, local, local} }
