package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Tile is the plainest set of local times: certain times on certain dates.
type Tile struct {
	Dates calendar.Dates
	Times calendar.Times
}

// Next implements [Set].
func (t *Tile) Next(m *work.Meter, w int64) (int64, bool) {
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := t.Dates.Next(m, day)
	if found == day && ok {
		if s, ok := t.Times.Next(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = t.Dates.Next(m, day+1)
	}
	if !ok || t.Times.Size() == 0 {
		return 0, false
	}
	return found*calendar.DayLength + t.Times.First(), true
}

// Last implements [Set].
func (t *Tile) Last(m *work.Meter, w int64) (int64, bool) {
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := t.Dates.Last(m, day)
	if found == day && ok {
		if s, ok := t.Times.Last(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = t.Dates.Last(m, day-1)
	}
	if !ok {
		return 0, false
	}
	s, ok := t.Times.Last(calendar.DayLength - 1)
	return found*calendar.DayLength + s, ok
}

// Count implements [Set].
func (t *Tile) Count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		if !t.Dates.Has(first) {
			return 0
		}
		return t.Times.Before(to+1) - t.Times.Before(from)
	}
	n := t.Dates.Count(m, first+1, final-1) * t.Times.Size()
	if t.Dates.Has(first) {
		n += t.Times.Size() - t.Times.Before(from)
	}
	if t.Dates.Has(final) {
		n += t.Times.Before(to + 1)
	}
	return n
}

// Never reports whether the tile is empty.
func (t *Tile) Never(m *work.Meter) bool { return t.Times.Size() == 0 || t.Dates.Never(m) }

// subtract subtracts the minus tiles from the plus tiles where the result is tiles, and returns the other minus tiles:
// those with a cycle unrelated to the cycle of a plus tile.
func subtract(m *work.Meter, plus, minus []Tile) (left, rest []Tile) {
	for i := range minus {
		var cut []Tile
		alien := false
		for j := range plus {
			if plus[j].Dates.Inside(m, &minus[i].Dates) {
				cut = append(cut, plus[j].without(m, &minus[i])...)
				continue
			}
			cut = append(cut, plus[j])
			alien = true
		}
		if cut = Merge(m, cut); len(cut) > MaxTiles {
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

// without subtracts a tile whose cycle includes all days of t. The result is the days that the other tile lacks, and on
// common days the hours, minutes and seconds that it lacks.
func (t *Tile) without(m *work.Meter, o *Tile) []Tile {
	m.Spend(3 * calendar.JoinWork)
	both := t.Dates.Days.And(o.Dates.Days)
	hours, minutes := t.Times.Hours&o.Times.Hours, t.Times.Minutes&o.Times.Minutes
	if both.Empty() || hours == 0 || minutes == 0 || t.Times.Seconds&o.Times.Seconds == 0 {
		return []Tile{*t}
	}
	common := t.Dates.Less(m, both)
	return []Tile{
		{t.Dates.Less(m, t.Dates.Days.But(o.Dates.Days)), t.Times},
		{common, calendar.Times{Hours: t.Times.Hours &^ o.Times.Hours, Minutes: t.Times.Minutes, Seconds: t.Times.Seconds}},
		{common, calendar.Times{Hours: hours, Minutes: t.Times.Minutes &^ o.Times.Minutes, Seconds: t.Times.Seconds}},
		{common, calendar.Times{Hours: hours, Minutes: minutes, Seconds: t.Times.Seconds &^ o.Times.Seconds}},
	}
}

// Merge drops empty tiles, and joins tiles with the same times or, on the same dates, with times that differ in one
// component only.
func Merge(m *work.Meter, tiles []Tile) []Tile {
	var merged []Tile
	for _, t := range tiles {
		if t.Never(m) {
			continue
		}
		for i := 0; i < len(merged) && m.Spend(1); i++ {
			if joined, ok := merged[i].join(m, &t); ok { // the joined tile may join others
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
func (t *Tile) join(m *work.Meter, o *Tile) (Tile, bool) {
	if !t.Dates.SameCycle(&o.Dates) {
		return Tile{}, false
	}
	a, b := t.Times, o.Times
	switch {
	case a == b:
		return Tile{t.Dates.Or(m, &o.Dates), a}, true
	case !m.Spend(2) || !t.Dates.Days.Equal(o.Dates.Days):
		return Tile{}, false
	case a.Minutes == b.Minutes && a.Seconds == b.Seconds:
		a.Hours |= b.Hours
	case a.Hours == b.Hours && a.Seconds == b.Seconds:
		a.Minutes |= b.Minutes
	case a.Hours == b.Hours && a.Minutes == b.Minutes:
		a.Seconds |= b.Seconds
	default:
		return Tile{}, false
	}
	return Tile{t.Dates, a}, true
}

// DifferenceOf returns the plus tiles without the minus tiles, however many there are of the plus tiles.
func DifferenceOf(m *work.Meter, plus, minus []Tile) Set {
	plus = Merge(m, plus)
	var sets []Set
	for len(plus) > MaxTiles {
		sets = append(sets, NewDifference(m, plus[:MaxTiles], minus))
		plus = plus[MaxTiles:]
	}
	return UnionOf(append(sets, NewDifference(m, plus, minus)))
}

// PeriodOf returns a number of seconds after which sets repeat themselves, 0 if that takes longer than the calendar.
func PeriodOf(tiles []Tile, steps []*StepSet) int64 {
	turn := int64(1)
	join := func(n int64) {
		if turn /= calendar.GCD(turn, n); turn > calendar.LastSecond/n {
			turn = 0
			return
		}
		turn *= n
	}
	for _, s := range steps {
		join(s.unit * s.grid.Step)
		tiles = append(tiles, s.tile)
	}
	for _, t := range tiles {
		days := int64(1)
		switch {
		case t.Dates.Days.Weekly():
			days = 7
		case t.Dates.Days != calendar.EveryDay:
			days = calendar.DaysPer400Years
		}
		join(days * calendar.DayLength)
		switch c := t.Dates.Cycle; t.Dates.Unit {
		case calendar.EachDay:
		case calendar.ByDay:
			join(c.Step * c.Length * calendar.DayLength)
		default:
			return 0
		}
		if turn == 0 {
			return 0
		}
	}
	return turn
}
