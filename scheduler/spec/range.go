package spec

// span is the part of a set of wall-clock seconds in first…final.
type span struct {
	walls        walls
	first, final int64
}

func (s *span) next(w int64) (int64, bool) {
	found, ok := s.walls.next(max(w, s.first))
	return found, ok && found <= s.final
}

func (s *span) last(w int64) (int64, bool) {
	found, ok := s.walls.last(min(w, s.final))
	return found, ok && found >= s.first
}

func (s *span) count(a, b int64) int64 {
	a, b = max(a, s.first), min(b, s.final)
	if a > b {
		return 0
	}
	return s.walls.count(a, b)
}
