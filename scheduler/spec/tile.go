package spec

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
