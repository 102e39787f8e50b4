package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// windows are the units of the day, in runs from…to, in which a tile has times.
type windows [][2]int64

// mostWindows bounds the runs that are looked at one by one. Times in more runs are met soon anyway.
const mostWindows = 256

// windowsOf returns the runs of units, of so many seconds, that hold any of the times; nil if they are too many.
func windowsOf(t calendar.Times, unit int64) windows {
	var list windows
	add := func(from, to int64) {
		if n := len(list); n > 0 && list[n-1][1]+1 == from {
			list[n-1][1] = to
			return
		}
		list = append(list, [2]int64{from, to})
	}
	for hours := t.Hours; hours != 0; hours &= hours - 1 {
		hour := int64(bits.TrailingZeros32(hours))
		if unit == 3600 {
			add(hour, hour)
			continue
		}
		for minutes := t.Minutes; minutes != 0; minutes &= minutes - 1 {
			minute := hour*60 + int64(bits.TrailingZeros64(minutes))
			if unit == 60 {
				add(minute, minute)
				continue
			}
			for seconds := t.Seconds; seconds != 0; seconds &= seconds - 1 {
				second := minute*60 + int64(bits.TrailingZeros64(seconds))
				add(second, second)
			}
		}
		if len(list) > mostWindows {
			return nil
		}
	}
	return list
}

// meeting returns the smallest k, not negative, for which (a + k·s) mod m lies in one of the windows, -1 if none does.
func (w windows) meeting(a, s, m int64) int64 {
	best := int64(-1)
	for _, run := range w {
		low := calendar.Mod(run[0]-a, m)
		if k := firstMultiple(calendar.Mod(s, m), m, low, low+run[1]-run[0]); k >= 0 && (best < 0 || k < best) {
			best = k
		}
	}
	return best
}

// firstMultiple returns the smallest k, not negative, for which k·s mod m lies in low…high, where low is less than m
// and high may be beyond it, in the next turn. It is -1 if there is none. Like Euclid's algorithm it takes a number of
// steps that grows with the logarithm of m.
func firstMultiple(s, m, low, high int64) int64 {
	switch {
	case low == 0 || high >= m:
		return 0
	case s == 0:
		return -1
	case 2*s > m: // the same from the other side
		return firstMultiple(m-s, m, m-high, m-low)
	}
	if k := calendar.DivideUp(low, s); k*s <= high {
		return k
	}
	turns := firstMultiple(m%s, s, calendar.Mod(-high, s), calendar.Mod(-low, s)) // before a multiple of s falls into the range
	if turns < 0 {
		return -1
	}
	return calendar.DivideUp(low+m*turns, s)
}
