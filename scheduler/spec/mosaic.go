package spec

import (
	"math/bits"
	"slices"
)

// mosaic is a union of tiles without another union of tiles. Which tiles lie on a day decides what times it has, so the
// work for a day does not depend on how many seconds are taken out of it.
type mosaic struct {
	plus, minus []tile
	live        *yearDays // no time is left on any other day
}

// maxTiles bounds the tiles of one kind in a mosaic: they are numbered by bits.
const maxTiles = 64

// newMosaic returns the seconds of the plus tiles that are in none of the minus tiles. There are at most maxTiles of
// each.
func newMosaic(plus, minus []tile) walls {
	plus, minus = subtract(merge(plus), merge(minus))
	switch {
	case len(plus) == 0:
		return nothing{}
	case len(plus) == 1 && len(minus) == 0:
		return &plus[0]
	}
	m := &mosaic{plus: plus, minus: minus, live: plus[0].dates.days}
	for _, t := range plus[1:] {
		m.live = m.live.or(t.dates.days)
	}
	if len(minus) > 0 {
		m.prune()
	}
	if m.live.empty {
		return nothing{}
	}
	return m
}

// subtract takes the minus tiles out of the plus tiles where that leaves tiles, and returns the minus tiles for which it
// does not: those whose cycle has nothing to do with that of a plus tile.
func subtract(plus, minus []tile) (left, rest []tile) {
	for i := range minus {
		var cut []tile
		alien := false
		for j := range plus {
			if plus[j].dates.inside(&minus[i].dates) {
				cut = append(cut, plus[j].without(&minus[i])...)
				continue
			}
			cut = append(cut, plus[j])
			alien = true
		}
		if cut = merge(cut); len(cut) > maxTiles {
			rest = append(rest, minus[i])
			continue
		}
		plus = cut
		if alien {
			rest = append(rest, minus[i])
		}
	}
	return plus, rest
}

// without returns what is left of a tile without another whose cycle lets all its days pass: the days that the other does
// not have, and on those that it has the hours, the minutes and the seconds that it does not have.
func (t *tile) without(o *tile) []tile {
	both := t.dates.days.and(o.dates.days)
	hours, minutes := t.times.hours&o.times.hours, t.times.minutes&o.times.minutes
	if both.empty || hours == 0 || minutes == 0 || t.times.seconds&o.times.seconds == 0 {
		return []tile{*t}
	}
	common := t.dates.less(both)
	return []tile{
		{t.dates.less(t.dates.days.but(o.dates.days)), t.times},
		{common, times{t.times.hours &^ o.times.hours, t.times.minutes, t.times.seconds}},
		{common, times{hours, t.times.minutes &^ o.times.minutes, t.times.seconds}},
		{common, times{hours, minutes, t.times.seconds &^ o.times.seconds}},
	}
}

// nothing is the empty set.
type nothing struct{}

func (nothing) next(int64) (int64, bool) { return 0, false }
func (nothing) last(int64) (int64, bool) { return 0, false }
func (nothing) count(_, _ int64) int64   { return 0 }

// merge drops empty tiles, and joins tiles with the same times or, on the same dates, with times that differ in one
// component only.
func merge(tiles []tile) []tile {
	var merged []tile
	for _, t := range tiles {
		if t.never() {
			continue
		}
		for i := 0; i < len(merged); i++ {
			if joined, ok := merged[i].join(&t); ok { // and what it has become may join with others
				t = joined
				merged = slices.Delete(merged, i, i+1)
				i = -1
			}
		}
		merged = append(merged, t)
	}
	return merged
}

// join returns the union of two tiles if it is a tile.
func (t *tile) join(o *tile) (tile, bool) {
	if !t.dates.sameCycle(&o.dates) {
		return tile{}, false
	}
	a, b := t.times, o.times
	switch {
	case a == b:
		return tile{t.dates.or(&o.dates), a}, true
	case t.dates.days != o.dates.days && t.dates.days.shapes != o.dates.days.shapes:
		return tile{}, false
	case a.minutes == b.minutes && a.seconds == b.seconds:
		a.hours |= b.hours
	case a.hours == b.hours && a.seconds == b.seconds:
		a.minutes |= b.minutes
	case a.hours == b.hours && a.minutes == b.minutes:
		a.seconds |= b.seconds
	default:
		return tile{}, false
	}
	return tile{t.dates, a}, true
}

// layers says which tiles lie on a day, by their numbers.
type layers struct{ plus, minus uint64 }

// prune takes the days out of live on which the minus tiles leave nothing, as far as the year's shape tells.
func (m *mosaic) prune() {
	left := map[layers]bool{}
	sure := m.sure()
	m.live = fillYearDays(func(s shape, days *dayBits) {
		i := s.weekday*4 + s.kind
		*days = m.live.shapes[i]
		for day := days.from(0); day >= 0; day = days.from(day + 1) {
			l := layers{on(m.plus, i, day), on(m.minus, i, day) & sure}
			some, known := left[l]
			if !known {
				_, some = m.within(l, 0)
				left[l] = some
			}
			if !some {
				days[day/64] &^= 1 << (day % 64)
			}
			if day == 365 {
				break
			}
		}
	})
}

// sure returns which of the minus tiles lie on a day, given that the year's shape says so and that a plus tile does.
func (m *mosaic) sure() uint64 {
	set := uint64(0)
	for i := range m.minus {
		d := &m.minus[i].dates
		if d.unit == eachDay || !slices.ContainsFunc(m.plus, func(t tile) bool { return !t.dates.sameCycle(d) }) {
			set |= 1 << i
		}
	}
	return set
}

// on returns which tiles may lie on a day of a shape: those with a cycle may not.
func on(tiles []tile, shape int, day int64) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].dates.days.shapes[shape].has(day) {
			set |= 1 << i
		}
	}
	return set
}

// patience is how many days without anything left a search passes before it gives up.
func (m *mosaic) patience() int { return searchLimit / (2 * (len(m.plus) + len(m.minus))) }

// layersOf returns which tiles lie on a day.
func (m *mosaic) layersOf(day int64) layers {
	var l layers
	for i := range m.plus {
		if m.plus[i].dates.has(day) {
			l.plus |= 1 << i
		}
	}
	for i := range m.minus {
		if m.minus[i].dates.has(day) {
			l.minus |= 1 << i
		}
	}
	return l
}

// secondsOf returns the seconds of a minute that are left.
func (m *mosaic) secondsOf(l layers, hour, minute int) uint64 {
	set := uint64(0)
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &m.plus[bits.TrailingZeros64(rest)].times; t.hours>>hour&1 == 1 && t.minutes>>minute&1 == 1 {
			set |= t.seconds
		}
	}
	if set == 0 {
		return 0
	}
	for rest := l.minus; rest != 0; rest &= rest - 1 {
		if t := &m.minus[bits.TrailingZeros64(rest)].times; t.hours>>hour&1 == 1 && t.minutes>>minute&1 == 1 {
			set &^= t.seconds
		}
	}
	return set
}

// hoursOf returns the hours that any plus tile has.
func (m *mosaic) hoursOf(l layers) (hours uint32) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		hours |= m.plus[bits.TrailingZeros64(rest)].times.hours
	}
	return hours
}

// minutesOf returns the minutes that any plus tile has in an hour.
func (m *mosaic) minutesOf(l layers, hour int) (minutes uint64) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &m.plus[bits.TrailingZeros64(rest)].times; t.hours>>hour&1 == 1 {
			minutes |= t.minutes
		}
	}
	return minutes
}

// within returns the first second of a day with those layers not before s.
func (m *mosaic) within(l layers, s int64) (int64, bool) {
	begin, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := m.hoursOf(l) >> begin << begin; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		if hour != begin {
			minute, second = 0, 0
		}
		for minutes := m.minutesOf(l, hour) >> minute << minute; minutes != 0; minutes &= minutes - 1 {
			found := bits.TrailingZeros64(minutes)
			set := m.secondsOf(l, hour, found)
			if found == minute {
				set = set >> second << second
			}
			if set != 0 {
				return int64(hour*3600 + found*60 + bits.TrailingZeros64(set)), true
			}
		}
	}
	return 0, false
}

// withinLast returns the last second of a day with those layers not after s.
func (m *mosaic) withinLast(l layers, s int64) (int64, bool) {
	end, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := m.hoursOf(l) & (1<<end<<1 - 1); hours != 0; {
		hour := bits.Len32(hours) - 1
		hours &^= 1 << hour
		if hour != end {
			minute, second = 59, 59
		}
		for minutes := m.minutesOf(l, hour) & (1<<minute<<1 - 1); minutes != 0; {
			found := bits.Len64(minutes) - 1
			minutes &^= 1 << found
			set := m.secondsOf(l, hour, found)
			if found == minute {
				set &= 1<<second<<1 - 1
			}
			if set != 0 {
				return int64(hour*3600 + found*60 + bits.Len64(set) - 1), true
			}
		}
	}
	return 0, false
}

func (m *mosaic) next(w int64) (int64, bool) {
	var memory barren
	var ahead [maxTiles]int64
	day, second := divide(w, dayLength)
	m.expect(&ahead, day)
	for range m.patience() {
		found, ok := m.nextDay(day, &ahead)
		if !ok {
			return 0, false
		}
		if found != day {
			day, second = found, 0
		}
		if l := m.layersOf(day); !memory.knows(l) {
			if s, ok := m.within(l, second); ok {
				return day*dayLength + s, true
			}
			if second == 0 {
				memory.add(l)
			}
		}
		day, second = day+1, 0
	}
	return 0, false
}

func (m *mosaic) last(w int64) (int64, bool) {
	var memory barren
	var behind [maxTiles]int64
	day, second := divide(w, dayLength)
	m.recall(&behind, day)
	for range m.patience() {
		found, ok := m.lastDay(day, &behind)
		if !ok {
			return 0, false
		}
		if found != day {
			day, second = found, dayLength-1
		}
		if l := m.layersOf(day); !memory.knows(l) {
			if s, ok := m.withinLast(l, second); ok {
				return day*dayLength + s, true
			}
			if second == dayLength-1 {
				memory.add(l)
			}
		}
		day, second = day-1, dayLength-1
	}
	return 0, false
}

func (m *mosaic) count(a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := divide(a, dayLength)
	final, to := divide(b, dayLength)
	if first == final {
		return m.sizeOf(first, from, to)
	}
	return m.sizeOf(first, from, dayLength-1) + m.days(first+1, final-1) + m.sizeOf(final, 0, to)
}

// sizeOf returns how many seconds of the set lie in a…b of a day.
func (m *mosaic) sizeOf(day, a, b int64) int64 {
	l := m.layersOf(day)
	if l.plus == 0 {
		return 0
	}
	return m.size(l, a, b)
}

// days returns how many seconds of the set lie on the days first…final. Years of the same shape have the same number,
// unless there are cycles.
func (m *mosaic) days(first, final int64) int64 {
	var years [shapes]int64 // the numbers, plus one
	sizes := map[layers]int64{}
	n := int64(0)
	for day := first; day <= final; {
		year, dayOfYear := yearOf(day)
		end := firstDay(12*(year+1)) - 1
		if dayOfYear > 0 || end > final || !m.plain() {
			end = min(end, final)
			n += m.walk(day, end, sizes)
			day = end + 1
			continue
		}
		i := shapeOf(year, day)
		if years[i] == 0 {
			years[i] = m.walk(day, end, sizes) + 1
		}
		n += years[i] - 1
		day = end + 1
	}
	return n
}

// plain reports whether no tile has a cycle.
func (m *mosaic) plain() bool {
	cyclic := func(t tile) bool { return t.dates.unit != eachDay }
	return !slices.ContainsFunc(m.plus, cyclic) && !slices.ContainsFunc(m.minus, cyclic)
}

// walk counts day by day. The sizes that it finds out are kept.
func (m *mosaic) walk(first, final int64, sizes map[layers]int64) int64 {
	var ahead [maxTiles]int64
	m.expect(&ahead, first)
	n := int64(0)
	for day, ok := m.nextDay(first, &ahead); ok && day <= final; day, ok = m.nextDay(day+1, &ahead) {
		l := m.layersOf(day)
		size, known := sizes[l]
		if !known {
			size = m.size(l, 0, dayLength-1)
			sizes[l] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of a day with those layers lie in a…b.
func (m *mosaic) size(l layers, a, b int64) int64 {
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
