package spec

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
