package localtime

// Range is the part of a set of local times in first…final.
type Range struct {
	Set          Set
	First, Final int64
}

// Next implements [Set].
func (s *Range) Next(w int64) (int64, bool) {
	found, ok := s.Set.Next(max(w, s.First))
	return found, ok && found <= s.Final
}

// Last implements [Set].
func (s *Range) Last(w int64) (int64, bool) {
	found, ok := s.Set.Last(min(w, s.Final))
	return found, ok && found >= s.First
}

// Count implements [Set].
func (s *Range) Count(a, b int64) int64 {
	a, b = max(a, s.First), min(b, s.Final)
	if a > b {
		return 0
	}
	return s.Set.Count(a, b)
}
