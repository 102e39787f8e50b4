package localtime

// Eras are parts of sets of local times, one after the other.
type Eras []Range

// Next implements [Set].
func (e Eras) Next(w int64) (int64, bool) {
	for i := range e {
		if w <= e[i].Final {
			if found, ok := e[i].Next(w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Last implements [Set].
func (e Eras) Last(w int64) (int64, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if w >= e[i].First {
			if found, ok := e[i].Last(w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Count implements [Set].
func (e Eras) Count(a, b int64) int64 {
	n := int64(0)
	for i := range e {
		n += e[i].Count(a, b)
	}
	return n
}
