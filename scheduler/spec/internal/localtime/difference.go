package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Difference is a union of tiles without another union of tiles. Which tiles lie on a day decides what times it has, so
// the work for a day does not depend on how many seconds are taken out of it.
type Difference struct {
	plus, minus []Tile
	live        *calendar.YearDays // no time is left on any other day
}

// MaxTiles bounds the tiles of one kind in a set difference: they are numbered by bits.
const MaxTiles = 64

// NewDifference returns the seconds of the plus tiles that are in none of the minus tiles. There are at most MaxTiles
// of each.
func NewDifference(plus, minus []Tile) Set {
	plus, minus = subtract(Merge(plus), Merge(minus))
	switch {
	case len(plus) == 0:
		return Nothing{}
	case len(plus) == 1 && len(minus) == 0:
		return &plus[0]
	}
	m := &Difference{plus: plus, minus: minus, live: plus[0].Dates.Days}
	for _, t := range plus[1:] {
		m.live = m.live.Or(t.Dates.Days)
	}
	if len(minus) > 0 {
		m.prune()
	}
	if m.live.Empty() {
		return Nothing{}
	}
	return m
}

// layers says which tiles lie on a day, by their numbers.
type layers struct{ plus, minus uint64 }

// prune takes the days out of live on which the minus tiles leave nothing, as far as the year's shape tells.
func (m *Difference) prune() {
	left := map[layers]bool{}
	sure := m.sure()
	m.live = calendar.FillYearDays(func(s calendar.Shape, days *calendar.DayBits) {
		*days = *m.live.In(s)
		for day := days.From(0); day >= 0; day = days.From(day + 1) {
			l := layers{on(m.plus, s, day), on(m.minus, s, day) & sure}
			some, known := left[l]
			if !known {
				_, some = m.within(l, 0)
				left[l] = some
			}
			if !some {
				days.Clear(day)
			}
			if day == 365 {
				break
			}
		}
	})
}

// sure returns which of the minus tiles lie on a day, given that the year's shape says so and that a plus tile does.
func (m *Difference) sure() uint64 {
	set := uint64(0)
	for i := range m.minus {
		d := &m.minus[i].Dates
		if d.Unit == calendar.EachDay || !slices.ContainsFunc(m.plus, func(t Tile) bool { return !t.Dates.SameCycle(d) }) {
			set |= 1 << i
		}
	}
	return set
}

// on returns which tiles may lie on a day of a shape: those with a cycle may not.
func on(tiles []Tile, s calendar.Shape, day int64) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].Dates.Days.In(s).Has(day) {
			set |= 1 << i
		}
	}
	return set
}

// layersOf returns which tiles lie on a day.
func (m *Difference) layersOf(day int64) layers {
	return layers{onDay(m.plus, day), onDay(m.minus, day)}
}

func onDay(tiles []Tile, day int64) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].Dates.Has(day) {
			set |= 1 << i
		}
	}
	return set
}

// secondsOf returns the seconds of a minute that are left.
func (m *Difference) secondsOf(l layers, hour, minute int) uint64 {
	set := uint64(0)
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &m.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set |= t.Seconds
		}
	}
	if set == 0 {
		return 0
	}
	for rest := l.minus; rest != 0; rest &= rest - 1 {
		if t := &m.minus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set &^= t.Seconds
		}
	}
	return set
}

// hoursOf returns the hours that any plus tile has.
func (m *Difference) hoursOf(l layers) (hours uint32) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		hours |= m.plus[bits.TrailingZeros64(rest)].Times.Hours
	}
	return hours
}

// minutesOf returns the minutes that any plus tile has in an hour.
func (m *Difference) minutesOf(l layers, hour int) (minutes uint64) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &m.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 {
			minutes |= t.Minutes
		}
	}
	return minutes
}
