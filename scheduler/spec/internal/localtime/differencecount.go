package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Count implements [Set].
func (m *Difference) Count(a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		return m.sizeOf(first, from, to)
	}
	return m.sizeOf(first, from, calendar.DayLength-1) + m.days(first+1, final-1) + m.sizeOf(final, 0, to)
}

// sizeOf returns how many seconds of the set lie in a…b of a day.
func (m *Difference) sizeOf(day, a, b int64) int64 {
	l := m.layersOf(day)
	if l.plus == 0 {
		return 0
	}
	return m.size(l, a, b)
}

// days returns how many seconds of the set lie on the days first…final. Years of the same shape have the same number,
// unless there are cycles.
func (m *Difference) days(first, final int64) int64 {
	var years [calendar.Shapes]int64 // the numbers, plus one
	sizes := map[layers]int64{}
	n := int64(0)
	for day := first; day <= final; {
		year, dayOfYear := calendar.YearOf(day)
		end := calendar.FirstDay(12*(year+1)) - 1
		if dayOfYear > 0 || end > final || !m.plain() {
			end = min(end, final)
			n += m.walk(day, end, sizes)
			day = end + 1
			continue
		}
		i := calendar.ShapeOf(year, day)
		if years[i] == 0 {
			years[i] = m.walk(day, end, sizes) + 1
		}
		n += years[i] - 1
		day = end + 1
	}
	return n
}

// plain reports whether no tile has a cycle.
func (m *Difference) plain() bool {
	cyclic := func(t Tile) bool { return t.Dates.Unit != calendar.EachDay }
	return !slices.ContainsFunc(m.plus, cyclic) && !slices.ContainsFunc(m.minus, cyclic)
}

// walk counts day by day. The sizes that it finds out are kept.
func (m *Difference) walk(first, final int64, sizes map[layers]int64) int64 {
	var ahead [MaxTiles]int64
	m.begin(&ahead, first-1)
	n := int64(0)
	for day, ok := m.nextDay(first, &ahead); ok && day <= final; day, ok = m.nextDay(day+1, &ahead) {
		l := m.layersOf(day)
		size, known := sizes[l]
		if !known {
			size = m.size(l, 0, calendar.DayLength-1)
			sizes[l] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of a day with those layers lie in a…b.
func (m *Difference) size(l layers, a, b int64) int64 {
	n := 0
	for hours := m.hoursOf(l); hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		for minutes := m.minutesOf(l, hour); minutes != 0; minutes &= minutes - 1 {
			minute := bits.TrailingZeros64(minutes)
			set := m.secondsOf(l, hour, minute)
			begin := int64(hour*3600 + minute*60)
			if begin < a {
				set = set >> min(a-begin, 63) << min(a-begin, 63)
			}
			if b < begin+59 {
				set &= 1<<(max(b-begin, -1)+1) - 1
			}
			n += bits.OnesCount64(set)
		}
	}
	return int64(n)
}
