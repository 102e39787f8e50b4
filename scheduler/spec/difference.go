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
	if m.live.empty() {
		return nothing{}
	}
	return m
}

// layers says which tiles lie on a day, by their numbers.
type layers struct{ plus, minus uint64 }

// prune takes the days out of live on which the minus tiles leave nothing, as far as the year's shape tells.
func (m *mosaic) prune() {
	left := map[layers]bool{}
	sure := m.sure()
	m.live = fillYearDays(func(s shape, days *dayBits) {
		*days = *m.live.of(s)
		for day := days.from(0); day >= 0; day = days.from(day + 1) {
			l := layers{on(m.plus, s, day), on(m.minus, s, day) & sure}
			some, known := left[l]
			if !known {
				_, some = m.within(l, 0)
				left[l] = some
			}
			if !some {
				days.clear(day)
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
func on(tiles []tile, s shape, day int64) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].dates.days.of(s).has(day) {
			set |= 1 << i
		}
	}
	return set
}

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
