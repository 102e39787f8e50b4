package spec

import "slices"

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
	if both.empty() || hours == 0 || minutes == 0 || t.times.seconds&o.times.seconds == 0 {
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
	case !t.dates.days.equal(o.dates.days):
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

// patchwork returns the plus tiles without the minus tiles, however many there are of the plus tiles.
func patchwork(plus, minus []tile) walls {
	plus = merge(plus)
	var sets []walls
	for len(plus) > maxTiles {
		sets = append(sets, newMosaic(plus[:maxTiles], minus))
		plus = plus[maxTiles:]
	}
	return together(append(sets, newMosaic(plus, minus)))
}
