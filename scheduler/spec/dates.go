package spec

import "slices"

// dates is a set of days: those of days, limited to the days, months or years of a cycle if there is one.
type dates struct {
	days  *yearDays
	cycle *cycle
	unit  dateUnit
	rare  []int64 // all of them, in order, if it is known that they are few; else nil
}

// less returns the dates that are in some of the days.
func (d *dates) less(days *yearDays) dates {
	part := dates{days: days, cycle: d.cycle, unit: d.unit}
	if d.rare != nil {
		part.rare = slices.DeleteFunc(slices.Clone(d.rare), func(day int64) bool { return !days.has(day) })
	}
	return part
}

// or returns the days of both, which are limited in the same way.
func (d *dates) or(o *dates) dates {
	both := dates{days: d.days.or(o.days), cycle: d.cycle, unit: d.unit}
	if d.rare != nil && o.rare != nil {
		both.rare = slices.Concat(d.rare, o.rare)
		slices.Sort(both.rare)
		both.rare = slices.Compact(both.rare)
	}
	return both
}

// dateUnit is what the cycle of dates counts.
type dateUnit uint8

const (
	eachDay dateUnit = iota // there is no cycle
	byDay                   // from 1970-01-01
	byMonth                 // from January of the year 0
	byYear                  // of our era
)

// everyDate is all days.
var everyDate = dates{days: everyDay}

// yearCycle returns the cycle, for [byYear], of the listed years.
func yearCycle(years []int) *cycle {
	last := int64(0)
	for _, year := range years {
		last = max(last, int64(year))
	}
	c := cycle{stride: 1, length: lastYear + 1, phases: make([]uint64, last/64+1)}
	for _, year := range years {
		if word := &c.phases[year/64]; *word>>(year%64)&1 == 0 {
			*word |= 1 << (year % 64)
			c.size++
		}
	}
	return &c
}

// sameCycle reports whether two sets are limited in the same way.
func (d *dates) sameCycle(o *dates) bool {
	if d.unit != o.unit || d.unit == eachDay {
		return d.unit == o.unit
	}
	a, b := d.cycle, o.cycle
	return a.anchor == b.anchor && a.stride == b.stride && a.length == b.length && slices.Equal(a.phases, b.phases)
}

// inside reports whether the cycle lets no day pass that other's does not. It says no when that is hard to tell.
func (d *dates) inside(other *dates) bool {
	if other.unit == eachDay {
		return true
	}
	if d.unit != other.unit {
		return false
	}
	const most = 4096
	period, others := d.cycle.stride*d.cycle.length, other.cycle.stride*other.cycle.length
	turns := others / gcd(period, others) // after which both are as they were
	if d.cycle.size > most/max(turns, 1) {
		return false
	}
	x, ok := d.cycle.next(d.cycle.anchor)
	for range turns * d.cycle.size {
		if found, _ := other.cycle.next(x); !ok || found != x {
			return false
		}
		x, ok = d.cycle.next(x + 1)
	}
	return true
}

// number returns the number of a day's unit.
func (d *dates) number(day int64) int64 {
	switch d.unit {
	case byMonth:
		month, _ := monthOf(day)
		return month
	case byYear:
		year, _ := yearOf(day)
		return year
	default:
		return day
	}
}

// begin returns the first day of a unit.
func (d *dates) begin(number int64) int64 {
	switch d.unit {
	case byMonth:
		return firstDay(number)
	case byYear:
		return firstDay(12 * number)
	default:
		return number
	}
}

// end is a number that no unit of the calendar reaches.
func (d *dates) end() int64 {
	switch d.unit {
	case byMonth:
		return lastMonth + 1
	case byYear:
		return lastYear + 1
	default:
		return lastDay + 1
	}
}

// has reports whether the day is in the set.
func (d *dates) has(day int64) bool {
	if !d.days.has(day) {
		return false
	}
	if d.unit == eachDay {
		return true
	}
	number := d.number(day)
	found, ok := d.cycle.next(number)
	return ok && found == number
}

// next returns the first day of the set not before day.
func (d *dates) next(day int64) (int64, bool) {
	if d.rare != nil {
		i, _ := slices.BinarySearch(d.rare, day)
		if i == len(d.rare) {
			return 0, false
		}
		return d.rare[i], true
	}
	for range searchLimit {
		found, ok := d.days.next(day)
		if !ok || d.unit == eachDay {
			return found, ok
		}
		number := d.number(found)
		allowed, ok := d.cycle.next(number)
		if allowed == number && ok {
			return found, true
		}
		if !ok || allowed >= d.end() {
			return 0, false
		}
		day = d.begin(allowed)
	}
	return 0, false
}

// last returns the last day of the set not after day.
func (d *dates) last(day int64) (int64, bool) {
	if d.rare != nil {
		i, _ := slices.BinarySearch(d.rare, day+1)
		if i == 0 {
			return 0, false
		}
		return d.rare[i-1], true
	}
	if d.unit != eachDay && d.cycle.size == 0 {
		return 0, false
	}
	for range searchLimit {
		found, ok := d.days.last(day)
		if !ok || d.unit == eachDay {
			return found, ok
		}
		number := d.number(found)
		allowed := d.cycle.last(number)
		if allowed == number {
			return found, true
		}
		day = d.begin(allowed+1) - 1
		if day < firstOfAll {
			return 0, false
		}
	}
	return 0, false
}

// count returns how many days of the set lie in a…b.
func (d *dates) count(a, b int64) int64 {
	switch {
	case a > b:
		return 0
	case d.unit == eachDay:
		return d.days.count(a, b)
	case d.unit == byDay && d.days == everyDay:
		return d.cycle.count(a, b)
	case d.rare != nil:
		from, _ := slices.BinarySearch(d.rare, a)
		to, _ := slices.BinarySearch(d.rare, b+1)
		return int64(to - from)
	}
	n := int64(0)
	for number := d.number(a); ; number++ {
		found, ok := d.cycle.next(number)
		if !ok || found >= d.end() || d.begin(found) > b {
			return n
		}
		number = found
		n += d.days.count(max(a, d.begin(number)), min(b, d.begin(number+1)-1))
	}
}

// never reports whether the set is empty.
func (d *dates) never() bool {
	_, ok := d.next(firstOfAll)
	return !ok
}
