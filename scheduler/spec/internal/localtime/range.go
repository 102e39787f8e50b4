package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Range is the part of a set of local times in first…final.
type Range struct {
	Set          Set
	First, Final int64
}

// Next implements [Set].
func (s *Range) Next(m *work.Meter, w int64) (int64, bool) {
	found, ok := s.Set.Next(m, max(w, s.First))
	return found, ok && found <= s.Final
}

// Last implements [Set].
func (s *Range) Last(m *work.Meter, w int64) (int64, bool) {
	found, ok := s.Set.Last(m, min(w, s.Final))
	return found, ok && found >= s.First
}

// Count implements [Set].
func (s *Range) Count(m *work.Meter, a, b int64) int64 {
	a, b = max(a, s.First), min(b, s.Final)
	if a > b {
		return 0
	}
	return s.Set.Count(m, a, b)
}
