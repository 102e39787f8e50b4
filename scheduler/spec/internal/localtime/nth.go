package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Nth returns the n-th second of a set from a given one on, a second beyond the calendar if there are fewer. It is not
// ok if that takes more than so many years to count, which only sets do that are not counted year by year.
func Nth(set Set, from, n, years int64) (w int64, ok bool) {
	const few = 1000
	if n <= few {
		w, ok = set.Next(from)
		for ; ok && n > 1; n-- {
			w, ok = set.Next(w + 1)
		}
		if !ok {
			return calendar.Forever, true
		}
		return w, true
	}
	low, step := from, int64(calendar.DayLength)
	for {
		size := set.Count(low, low+step)
		if size >= n {
			break
		}
		n -= size
		if low += step + 1; low > calendar.LastSecond {
			return calendar.Forever, true
		}
		if !yearly(set) && low-from > years*366*calendar.DayLength {
			_, more := set.Next(low)
			return calendar.Forever, !more
		}
		step *= 2
	}
	for high := low + step; low < high; { // it is in low…high
		middle := low + (high-low)/2
		if size := set.Count(low, middle); size < n {
			low, n = middle+1, n-size
		} else {
			high = middle
		}
	}
	return low, true
}

// yearly reports whether a set is counted by years, not by days.
func yearly(set Set) bool {
	switch set := set.(type) {
	case *Tile:
		return set.Dates.Unit == calendar.EachDay || set.Dates.Unit == calendar.ByYear
	case *Difference:
		return set.plain()
	case Nothing:
		return true
	}
	return false
}
