package spec

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
