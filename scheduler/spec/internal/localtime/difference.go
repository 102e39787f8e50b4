package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
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
func NewDifference(m *work.Meter, plus, minus []Tile) Set {
	plus, minus = subtract(m, Merge(m, plus), Merge(m, minus))
	switch {
	case len(plus) == 0:
		return Nothing{}
	case len(plus) == 1 && len(minus) == 0:
		return &plus[0]
	}
	d := &Difference{plus: plus, minus: minus, live: plus[0].Dates.Days}
	for _, t := range plus[1:] {
		m.Spend(calendar.JoinWork)
		d.live = d.live.Or(t.Dates.Days)
	}
	if len(minus) > 0 {
		d.prune(m)
	}
	if d.live.Empty() {
		return Nothing{}
	}
	return d
}

// layers says which tiles lie on a day, by their numbers.
type layers struct{ plus, minus uint64 }

// prune takes the days out of live on which the minus tiles leave nothing, as far as the year's shape tells.
func (d *Difference) prune(m *work.Meter) {
	left := map[layers]bool{}
	m.Spend(calendar.FillWork)
	sure := d.sure()
	d.live = calendar.FillYearDays(func(s calendar.Shape, days *calendar.DayBits) {
		*days = *d.live.In(s)
		for day := days.From(0); day >= 0 && m.Spend(1+d.layers()/6); day = days.From(day + 1) {
			l := layers{on(d.plus, s, day), on(d.minus, s, day) & sure}
			some, known := left[l]
			if !known {
				_, some = d.within(m, l, 0)
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
func (d *Difference) sure() uint64 {
	set := uint64(0)
	for i := range d.minus {
		dates := &d.minus[i].Dates
		if dates.Unit == calendar.EachDay || !slices.ContainsFunc(d.plus, func(t Tile) bool { return !t.Dates.SameCycle(dates) }) {
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
func (d *Difference) layersOf(day int64) layers {
	date := calendar.DateOf(day)
	return layers{onDay(d.plus, date), onDay(d.minus, date)}
}

func onDay(tiles []Tile, date calendar.Date) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].Dates.HasDate(date) {
			set |= 1 << i
		}
	}
	return set
}

// secondsOf returns the seconds of a minute that are left.
func (d *Difference) secondsOf(l layers, hour, minute int) uint64 {
	set := uint64(0)
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &d.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set |= t.Seconds
		}
	}
	if set == 0 {
		return 0
	}
	for rest := l.minus; rest != 0; rest &= rest - 1 {
		if t := &d.minus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set &^= t.Seconds
		}
	}
	return set
}

// hoursOf returns the hours that any plus tile has.
func (d *Difference) hoursOf(l layers) (hours uint32) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		hours |= d.plus[bits.TrailingZeros64(rest)].Times.Hours
	}
	return hours
}

// minutesOf returns the minutes that any plus tile has in an hour.
func (d *Difference) minutesOf(l layers, hour int) (minutes uint64) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &d.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 {
			minutes |= t.Minutes
		}
	}
	return minutes
}
