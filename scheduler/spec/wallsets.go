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

// anyOf is a union of sets of wall-clock seconds.
type anyOf []walls

func (u anyOf) next(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.next(w); ok && (!some || found < best) {
			best, some = found, true
		}
	}
	return best, some
}

func (u anyOf) last(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.last(w); ok && (!some || found > best) {
			best, some = found, true
		}
	}
	return best, some
}

// count counts the first set, and walks the others for what they add.
func (u anyOf) count(a, b int64) int64 {
	n := int64(0)
	for i, set := range u {
		n += set.count(a, b)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for w, ok := set.next(a); ok && w <= b; w, ok = set.next(w + 1) {
			if found, ok := earlier.next(w); ok && found == w {
				n--
			}
		}
	}
	return n
}

// disjoint is a union of sets of wall-clock seconds that have nothing in common.
type disjoint struct{ anyOf }

func (u disjoint) count(a, b int64) int64 {
	n := int64(0)
	for _, set := range u.anyOf {
		n += set.count(a, b)
	}
	return n
}

// eras are parts of sets of wall-clock seconds, one after the other.
type eras []span

func (e eras) next(w int64) (int64, bool) {
	for i := range e {
		if w <= e[i].final {
			if found, ok := e[i].next(w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

func (e eras) last(w int64) (int64, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if w >= e[i].first {
			if found, ok := e[i].last(w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

func (e eras) count(a, b int64) int64 {
	n := int64(0)
	for i := range e {
		n += e[i].count(a, b)
	}
	return n
}

// except is a set of wall-clock seconds without the seconds of others.
type except struct {
	walls    walls
	excluded anyOf
	patience int // how many seconds, excluded one by one, a search passes before it gives up
}

// newExcept returns a set without others. Whoever makes it finds out with search whether that ever gives up.
func newExcept(set walls, excluded anyOf) *except {
	return &except{set, excluded, 200_000 / (effort(set) + effort(excluded))}
}

// effort tells, roughly, how much work a look into a set is, compared with a tile.
func effort(set walls) int {
	switch set := set.(type) {
	case *span:
		return effort(set.walls)
	case *mosaic:
		return len(set.plus) + len(set.minus)
	case *stride:
		if set.long {
			return 4 + 4*len(set.windows)
		}
		return 4
	case *sieve:
		return effort(set.stride) + effort(set.filter)
	case disjoint:
		return effort(set.anyOf)
	case anyOf:
		n := 0
		for _, part := range set {
			n += effort(part)
		}
		return n
	}
	return 1
}

func (e *except) next(w int64) (int64, bool) {
	found, ok, _ := e.search(w)
	return found, ok
}

// search returns the first second not before w. If it gives up, it is exhausted, and found is where it has come to.
func (e *except) search(w int64) (found int64, ok, exhausted bool) {
	for range e.patience {
		if w, ok = e.walls.next(w); !ok {
			return 0, false, false
		}
		if out, excluded := e.excluded.next(w); !excluded || out != w {
			return w, true, false
		}
		w++
	}
	return w, false, true
}

func (e *except) last(w int64) (int64, bool) {
	for range e.patience {
		found, ok := e.walls.last(w)
		if !ok {
			return 0, false
		}
		if out, excluded := e.excluded.next(found); !excluded || out != found {
			return found, true
		}
		w = found - 1
	}
	return 0, false
}

func (e *except) count(a, b int64) int64 {
	n := e.walls.count(a, b)
	both := 0
	for w, ok := e.walls.next(a); ok && w <= b; w, ok = e.walls.next(w + 1) {
		if out, excluded := e.excluded.next(w); excluded && out == w {
			both++
		}
	}
	return n - int64(both)
}
