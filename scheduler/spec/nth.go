package spec

// nth returns the n-th second of a set from a given one on, a second beyond the calendar if there are fewer. It is not ok
// if that takes more than so many years to count, which only sets do that are not counted year by year.
func nth(set walls, from, n, years int64) (w int64, ok bool) {
	const few = 1000
	if n <= few {
		w, ok = set.next(from)
		for ; ok && n > 1; n-- {
			w, ok = set.next(w + 1)
		}
		if !ok {
			return forever, true
		}
		return w, true
	}
	low, step := from, int64(dayLength)
	for {
		size := set.count(low, low+step)
		if size >= n {
			break
		}
		n -= size
		if low += step + 1; low > lastSecond {
			return forever, true
		}
		if !yearly(set) && low-from > years*366*dayLength {
			_, more := set.next(low)
			return forever, !more
		}
		step *= 2
	}
	for high := low + step; low < high; { // it is in low…high
		middle := low + (high-low)/2
		if size := set.count(low, middle); size < n {
			low, n = middle+1, n-size
		} else {
			high = middle
		}
	}
	return low, true
}

// yearly reports whether a set is counted by years, not by days.
func yearly(set walls) bool {
	switch set := set.(type) {
	case *tile:
		return set.dates.unit == eachDay || set.dates.unit == byYear
	case *mosaic:
		return set.plain()
	case nothing:
		return true
	}
	return false
}
