package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// windows are units, of a day or of another time that repeats itself, in runs from…to, in which a layer has times.
type windows [][2]int64

// mostWindows bounds the runs of a day that are looked at one by one. Times in more runs are met soon anyway.
const mostWindows = 256

// meetingWork is the work to find out when a window is met.
const meetingWork = 4

// with returns the windows with a run behind the others.
func (w windows) with(from, to int64) windows {
	if n := len(w); n > 0 && w[n-1][1]+1 == from {
		w[n-1][1] = to
		return w
	}
	return append(w, [2]int64{from, to})
}

// windowsOf returns the runs of units, of the given length in seconds, that hold any of the times; nil if they are
// too many.
func windowsOf(t calendar.Times, unit int64) windows {
	if leastWindows(t, unit) > mostWindows {
		return nil
	}
	var list windows
	for hours := t.Hours; hours != 0; hours &= hours - 1 {
		hour := int64(bits.TrailingZeros32(hours))
		if unit == 3600 {
			list = list.with(hour, hour)
			continue
		}
		for minutes := t.Minutes; minutes != 0; minutes &= minutes - 1 {
			minute := hour*60 + int64(bits.TrailingZeros64(minutes))
			if unit == 60 {
				list = list.with(minute, minute)
				continue
			}
			for seconds := t.Seconds; seconds != 0; seconds &= seconds - 1 {
				second := minute*60 + int64(bits.TrailingZeros64(seconds))
				list = list.with(second, second)
			}
		}
		if len(list) > mostWindows {
			return nil
		}
	}
	return list
}

// leastWindows returns a number of runs that windowsOf finds at least: without it, a time every ten seconds makes a long list
// for nothing.
func leastWindows(t calendar.Times, unit int64) int {
	switch unit {
	case 3600:
		return 0
	case 60:
		return bits.OnesCount32(t.Hours) * leastRuns(t.Minutes)
	default:
		return bits.OnesCount32(t.Hours) * bits.OnesCount64(t.Minutes) * leastRuns(t.Seconds)
	}
}

// leastRuns returns how many separate runs each copy of 60 bits has when copies follow each other: the last run of one may
// continue in the next.
func leastRuns(of uint64) int {
	runs := bits.OnesCount64(of &^ (of << 1))
	if of&1 != 0 && of>>59&1 != 0 {
		runs--
	}
	return runs
}

// roundOf returns the windows of a layer of certain weekdays in the shortest of a minute, an hour, a day and a week after
// which they come back, counted from a Monday, with the units of that; none if they are too many.
func roundOf(l *Layer) (windows, int64) {
	times, turn, unit := l.Times, int64(calendar.DayLength), l.unit
	if l.Dates.Days == calendar.EveryDay && times.Hours == calendar.AllHours && unit < 3600 {
		times.Hours, turn = 1, 3600
		if times.Minutes == calendar.AllMinutes && unit < 60 {
			times.Minutes, turn = 1, 60
		}
	}
	list := windowsOf(times, unit)
	if list == nil || l.Dates.Days == calendar.EveryDay {
		return list, turn / unit
	}
	var week windows
	perDay := calendar.DayLength / unit
	for weekday := range int64(7) {
		for _, run := range list {
			if l.Dates.Days.Has(monday + weekday) {
				week = week.with(weekday*perDay+run[0], weekday*perDay+run[1])
			}
		}
	}
	return week, 7 * perDay
}

// place returns the position of a unit in the turn of the round.
func (l *Layer) place(unit int64) int64 {
	return calendar.Mod(unit-monday*(calendar.DayLength/l.unit), l.turn)
}

// meeting returns the smallest k ≥ 0 with (a + k·s) mod m in a window, -1 if none exists.
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

// met returns the number of k in 0…n-1 with (a + k·s) mod m in a window. The windows are disjoint and within 0…m-1.
func (w windows) met(a, s, m, n int64) int64 {
	if n <= 0 {
		return 0
	}
	a, s = calendar.Mod(a, m), calendar.Mod(s, m)
	total := uint64(0)
	for _, run := range w {
		// x is in low…high modulo m if x-low has one more multiple of m at or below it than x-high-1.
		total += floors(n, m, s, a+m-run[0]) - floors(n, m, s, a+m-run[1]-1)
	}
	return int64(total)
}

// floors returns the sum of the quotients (a·i + b) / m for i in 0…n-1, modulo 2⁶⁴: of two such sums the difference is
// right whenever it is small. It takes as many steps as Euclid's algorithm. None of a and b is negative, and a·n is less
// than 2⁶².
func floors(n, m, a, b int64) uint64 {
	sum := uint64(0)
	for {
		if a >= m {
			sum += triangle(n) * uint64(a/m)
			a %= m
		}
		if b >= m {
			sum += uint64(n) * uint64(b/m)
			b %= m
		}
		top := a*n + b
		if top < m {
			return sum
		}
		n, b = top/m, top%m
		m, a = a, m
	}
}

// triangle returns n·(n-1)/2, modulo 2⁶⁴.
func triangle(n int64) uint64 {
	a, b := uint64(n), uint64(n-1)
	if a%2 == 0 {
		return a / 2 * b
	}
	return a * (b / 2)
}

// firstMultiple returns the smallest k ≥ 0 with k·s mod m in low…high, -1 if none exists. low is less than m; high may
// exceed m, into the next turn. Like Euclid's algorithm, it takes O(log m) steps.
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

// meet returns the first second not before w that is in a step and in the layer's times, regardless of its date; with a
// round, on its date. The set must have windows.
func (l *Layer) meet(m *work.Meter, w int64) (int64, bool) {
	number, rest := calendar.Divide(w, l.unit)
	if step, _ := l.grid.Next(number); step == number && rest > 0 { // in the middle of a step
		if match, ok := l.withinUnit(w, number); ok {
			return match, true
		}
		number++
	}
	step, _ := l.grid.Next(number)
	k := l.turns(m, step, l.grid.Step)
	if k < 0 {
		return 0, false
	}
	start := (step + k*l.grid.Step) * l.unit
	return l.within(m, start, start+l.unit-1)
}

// turns returns the number of steps of step units from unit from to the first in a window, or -1.
func (l *Layer) turns(m *work.Meter, from, step int64) int64 {
	if l.round != nil {
		if !m.Spend(int64(len(l.round)) * meetingWork) {
			return -1
		}
		return l.round.meeting(l.place(from), step, l.turn)
	}
	if !m.Spend(int64(len(l.windows)) * meetingWork) {
		return -1
	}
	perDay := calendar.DayLength / l.unit
	return l.windows.meeting(calendar.Mod(from, perDay), step, perDay)
}

// withinUnit returns the first time not before w in the unit of w; with a round, on its date.
func (l *Layer) withinUnit(w, number int64) (int64, bool) {
	day, second := calendar.Divide(w, calendar.DayLength)
	if l.round != nil && !l.Dates.Days.Has(day) {
		return 0, false
	}
	time, ok := l.Times.Next(second)
	return day*calendar.DayLength + time, ok && day*calendar.DayLength+time < (number+1)*l.unit
}

// meetLast returns the last second not after w that is in a step and in the layer's times, regardless of its date; with
// a round, on its date.
func (l *Layer) meetLast(m *work.Meter, w int64) (int64, bool) {
	number, rest := calendar.Divide(w, l.unit)
	if l.grid.Last(number) == number && rest < l.unit-1 {
		day, _ := calendar.Divide(w, calendar.DayLength)
		if match, ok := l.lastWithin(w-rest, w); ok && (l.round == nil || l.Dates.Days.Has(day)) {
			return match, true
		}
		number--
	}
	step := l.grid.Last(number)
	k := l.turns(m, step, -l.grid.Step)
	if k < 0 {
		return 0, false
	}
	start := (step - k*l.grid.Step) * l.unit
	return l.lastWithin(start, start+l.unit-1)
}

// lastWithin returns the last of the layer's times in a…b, two seconds of one unit of the day.
func (l *Layer) lastWithin(a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	time, ok := l.Times.Last(b - midnight)
	return midnight + time, ok && midnight+time >= a
}
