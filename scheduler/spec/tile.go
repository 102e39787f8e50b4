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

// tile is the plainest set of wall-clock seconds: certain times on certain dates.
type tile struct {
	dates dates
	times times
}

func (t *tile) next(w int64) (int64, bool) {
	day, second := divide(w, dayLength)
	found, ok := t.dates.next(day)
	if found == day && ok {
		if s, ok := t.times.next(second); ok {
			return day*dayLength + s, true
		}
		found, ok = t.dates.next(day + 1)
	}
	if !ok || t.times.size() == 0 {
		return 0, false
	}
	return found*dayLength + t.times.first(), true
}

func (t *tile) last(w int64) (int64, bool) {
	day, second := divide(w, dayLength)
	found, ok := t.dates.last(day)
	if found == day && ok {
		if s, ok := t.times.last(second); ok {
			return day*dayLength + s, true
		}
		found, ok = t.dates.last(day - 1)
	}
	if !ok {
		return 0, false
	}
	s, ok := t.times.last(dayLength - 1)
	return found*dayLength + s, ok
}

func (t *tile) count(a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := divide(a, dayLength)
	final, to := divide(b, dayLength)
	if first == final {
		if !t.dates.has(first) {
			return 0
		}
		return t.times.before(to+1) - t.times.before(from)
	}
	n := t.dates.count(first+1, final-1) * t.times.size()
	if t.dates.has(first) {
		n += t.times.size() - t.times.before(from)
	}
	if t.dates.has(final) {
		n += t.times.before(to + 1)
	}
	return n
}

// never reports whether the tile is empty.
func (t *tile) never() bool { return t.times.size() == 0 || t.dates.never() }
