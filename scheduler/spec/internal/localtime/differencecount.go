package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Count implements [Set].
func (d *Difference) Count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		return d.sizeOf(m, first, from, to)
	}
	return d.sizeOf(m, first, from, calendar.DayLength-1) + d.days(m, first+1, final-1) + d.sizeOf(m, final, 0, to)
}

// sizeOf returns how many seconds of the set lie in a…b of a day.
func (d *Difference) sizeOf(m *work.Meter, day, a, b int64) int64 {
	l := d.layersOf(day)
	if l.plus == 0 {
		return 0
	}
	return d.size(m, l, a, b)
}

// days returns how many seconds of the set lie on the days first…final. Years of the same shape have the same number,
// unless there are cycles.
func (d *Difference) days(m *work.Meter, first, final int64) int64 {
	var years [calendar.Shapes]int64 // the numbers, plus one
	sizes := map[layers]int64{}
	n := int64(0)
	for day := first; day <= final; {
		year, dayOfYear := calendar.YearOf(day)
		end := calendar.FirstDay(12*(year+1)) - 1
		if dayOfYear > 0 || end > final || !d.plain() {
			end = min(end, final)
			n += d.walk(m, day, end, sizes)
			day = end + 1
			continue
		}
		i := calendar.ShapeOf(year, day)
		if years[i] == 0 {
			years[i] = d.walk(m, day, end, sizes) + 1
		}
		n += years[i] - 1
		m.Spend(1)
		day = end + 1
	}
	return n
}

// plain reports whether no tile has a cycle.
func (d *Difference) plain() bool {
	cyclic := func(t Tile) bool { return t.Dates.Unit != calendar.EachDay }
	return !slices.ContainsFunc(d.plus, cyclic) && !slices.ContainsFunc(d.minus, cyclic)
}

// walk counts day by day. The sizes that it finds out are kept.
func (d *Difference) walk(m *work.Meter, first, final int64, sizes map[layers]int64) int64 {
	var ahead [MaxTiles]int64
	d.begin(&ahead, first-1)
	n := int64(0)
	for day, ok := d.nextDay(m, first, &ahead); ok && day <= final; day, ok = d.nextDay(m, day+1, &ahead) {
		if !m.Spend(d.layers() + 1) {
			break
		}
		l := d.layersOf(day)
		size, known := sizes[l]
		if !known {
			size = d.size(m, l, 0, calendar.DayLength-1)
			sizes[l] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of a day with those layers lie in a…b.
func (d *Difference) size(m *work.Meter, l layers, a, b int64) int64 {
	n := 0
	for hours := d.hoursOf(l); hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		for minutes := d.minutesOf(l, hour); minutes != 0; minutes &= minutes - 1 {
			minute := bits.TrailingZeros64(minutes)
			set := d.secondsOf(l, hour, minute)
			m.Spend(l.work())
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
