package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Nth returns the n-th second of a set from a given one on, a second beyond the calendar if there are fewer.
func Nth(m *work.Meter, set Set, from, n int64) int64 {
	if n <= walked(set) {
		w, ok := set.Next(m, from)
		for ; ok && n > 1; n-- {
			w, ok = set.Next(m, w+1)
		}
		if !ok {
			return calendar.Forever
		}
		return w
	}
	low, step := from, int64(calendar.DayLength)
	for {
		size := set.Count(m, low, low+step)
		if size >= n {
			break
		}
		n -= size
		if low += step + 1; low > calendar.LastSecond || m.Exhausted() {
			return calendar.Forever
		}
		step *= 2
	}
	for high := low + step; low < high && !m.Exhausted(); { // it is in low…high
		middle := low + (high-low)/2
		if size := set.Count(m, low, middle); size < n {
			low, n = middle+1, n-size
		} else {
			high = middle
		}
	}
	return low
}

// walked returns up to how many seconds of a set are found sooner one by one than by counting.
func walked(set Set) int64 {
	switch set := set.(type) {
	case *StepSet:
		if set.round != nil {
			return 100
		}
	case DisjointUnion:
		most := int64(1000)
		for _, part := range set.Union {
			most = min(most, walked(part))
		}
		return most
	}
	return 1000
}
