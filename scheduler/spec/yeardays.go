package spec

import (
	"iter"
	"math/bits"
)

// yearDays is a set of days of the calendar that looks the same in all years of one shape. What months, days of the
// month, weekdays, numbered weekdays, days of the year and ISO weeks say is such a set, and so is every union,
// intersection and difference of them, and the choice of the n-th of them in a week, a month or a year.
type yearDays struct {
	years [shapes]dayBits // by the number of the shape
	sizes [shapes]int16
	none  bool
}

// fillYearDays returns the set of days that fill sets in each shape.
func fillYearDays(fill func(s shape, days *dayBits)) *yearDays {
	y := &yearDays{}
	for i := range y.years {
		fill(shape{i / 4, i % 4}, &y.years[i])
	}
	y.measure()
	return y
}

// newYearDays returns the days that certain months (January at bit 0) have by their shape.
func newYearDays(months uint64, days *monthDays) *yearDays {
	return fillYearDays(func(s shape, set *dayBits) {
		for rest := months & (1<<12 - 1); rest != 0; rest &= rest - 1 {
			month := bits.TrailingZeros64(rest)
			start := s.monthStart(month)
			length := s.monthStart(month+1) - start
			set.put(start, uint64(days[(s.weekday+start)%7][length-28])>>1)
		}
	})
}

// everyDay is all days.
var everyDay = fillYearDays(func(s shape, days *dayBits) {
	for day := range s.length() {
		days.set(day)
	}
})

// measure brings the sizes up to date.
func (y *yearDays) measure() {
	y.none = true
	for i := range y.years {
		n := y.years[i].size()
		y.sizes[i] = int16(n)
		y.none = y.none && n == 0
	}
}

// weekly reports whether the set is certain weekdays and nothing else.
func (y *yearDays) weekly() bool {
	weekdays := uint64(0)
	for day := range 7 {
		weekdays |= y.years[0][0] >> day & 1 << day // the first year begins on a Monday
	}
	return y.years == daysOfWeek(weekdays).years
}

// empty reports whether there is no such day.
func (y *yearDays) empty() bool { return y.none }

// equal reports whether two sets are the same.
func (y *yearDays) equal(o *yearDays) bool { return y == o || y.years == o.years }

// of returns the days of the years of one shape.
func (y *yearDays) of(s shape) *dayBits { return &y.years[s.number()] }

// inCalendar returns about how many of the days the calendar has.
func (y *yearDays) inCalendar() int64 {
	n := int64(0)
	for _, size := range y.sizes {
		n += int64(size)
	}
	return n * lastYear / shapes
}

// all goes through the days of the calendar.
func (y *yearDays) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		first := int64(firstOfAll)
		for year := int64(1); year <= lastYear; year++ {
			for i, word := range y.years[shapeOf(year, first)] {
				for ; word != 0; word &= word - 1 {
					if !yield(first + int64(i*64+bits.TrailingZeros64(word))) {
						return
					}
				}
			}
			first = firstDay(12 * (year + 1))
		}
	}
}

// and returns the days that are in both sets.
func (y *yearDays) and(other *yearDays) *yearDays {
	return y.join(other, func(a, b uint64) uint64 { return a & b })
}

// or returns the days that are in either set.
func (y *yearDays) or(other *yearDays) *yearDays {
	return y.join(other, func(a, b uint64) uint64 { return a | b })
}

// but returns the days that are in y and not in other.
func (y *yearDays) but(other *yearDays) *yearDays {
	if y == other {
		return &yearDays{none: true}
	}
	return y.join(other, func(a, b uint64) uint64 { return a &^ b })
}

func (y *yearDays) join(other *yearDays, op func(a, b uint64) uint64) *yearDays {
	if y == other {
		return y
	}
	joined := &yearDays{}
	for i := range y.years {
		for word := range y.years[i] {
			joined.years[i][word] = op(y.years[i][word], other.years[i][word])
		}
	}
	joined.measure()
	return joined
}

// has reports whether the day is in the set.
func (y *yearDays) has(day int64) bool {
	year, dayOfYear := yearOf(day)
	return y.years[shapeOf(year, day-dayOfYear)].has(dayOfYear)
}

// next returns the first day of the set not before day, false if there is none up to the year 9999.
func (y *yearDays) next(day int64) (int64, bool) {
	if y.none {
		return 0, false
	}
	year, dayOfYear := yearOf(day)
	for first := day - dayOfYear; year <= lastYear; year++ {
		if found := y.years[shapeOf(year, first)].from(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = firstDay(12*(year+1)), 0
	}
	return 0, false
}

// last returns the last day of the set not after day, false if there is none from the year 1 on.
func (y *yearDays) last(day int64) (int64, bool) {
	if y.none {
		return 0, false
	}
	year, dayOfYear := yearOf(day)
	for first := day - dayOfYear; year >= 1; year-- {
		if found := y.years[shapeOf(year, first)].to(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = firstDay(12*(year-1)), 365
	}
	return 0, false
}

// count returns how many days of the set lie in a…b.
func (y *yearDays) count(a, b int64) int64 {
	if a > b || y.none {
		return 0
	}
	n := int64(0)
	year, dayOfYear := yearOf(a)
	for first := a - dayOfYear; first <= b; year++ {
		shape, after := shapeOf(year, first), firstDay(12*(year+1))
		if dayOfYear == 0 && after <= b {
			n += int64(y.sizes[shape])
		} else {
			n += y.years[shape].count(dayOfYear, min(b-first, 365))
		}
		first, dayOfYear = after, 0
	}
	return n
}

// daysOfWeek returns the days with certain weekdays, Monday at bit 0.
func daysOfWeek(weekdays uint64) *yearDays {
	return fillYearDays(func(y shape, days *dayBits) {
		for day := range y.length() {
			if weekdays>>((y.weekday+day)%7)&1 == 1 {
				days.set(day)
			}
		}
	})
}
