package spec

// walls is a set of wall-clock seconds: seconds since 1970-01-01T00:00:00 on a clock that is never changed. A zone makes
// instants of them (zoned).
type walls interface {
	// next returns the first second of the set not before w, false if there is none up to the year 9999.
	next(w int64) (int64, bool)
	// last returns the last second of the set not after w, false if there is none from the year 1 on.
	last(w int64) (int64, bool)
	// count returns how many seconds of the set lie in a…b.
	count(a, b int64) int64
}

// nothing is the empty set.
type nothing struct{}

func (nothing) next(int64) (int64, bool) { return 0, false }

func (nothing) last(int64) (int64, bool) { return 0, false }

func (nothing) count(_, _ int64) int64 { return 0 }

func isNothing(set walls) bool {
	_, none := set.(nothing)
	return none
}

// countableSet reports whether a set is counted without walking through it.
func countableSet(set walls) bool {
	switch set := set.(type) {
	case *span:
		_, nested := set.walls.(*span)
		return !nested && countableSet(set.walls)
	case *tile, wallSteps:
		return true
	case *mosaic:
		return set.plain()
	}
	return false
}
