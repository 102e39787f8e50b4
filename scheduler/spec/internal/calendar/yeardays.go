package calendar

import (
	"iter"
	"math/bits"
)

// YearDays is a set of days of the calendar that looks the same in all years of one shape. What months, days of the
// month, weekdays, numbered weekdays, days of the year and ISO weeks say is such a set, and so is every union,
// intersection and difference of them, and the choice of the n-th of them in a week, a month or a year.
type YearDays struct {
	years [Shapes]DayBits // by the number of the shape
	sizes [Shapes]int16
	none  bool
}

// FillYearDays returns the set of days that fill sets in each shape.
func FillYearDays(fill func(s Shape, days *DayBits)) *YearDays {
	y := &YearDays{}
	for i := range y.years {
		fill(Shape{i / 4, i % 4}, &y.years[i])
	}
	y.measure()
	return y
}

// NewYearDays returns the days that certain months (January at bit 0) have by their shape.
func NewYearDays(months uint64, days *MonthDays) *YearDays {
	y := FillYearDays(func(s Shape, set *DayBits) {
		for rest := months & (1<<12 - 1); rest != 0; rest &= rest - 1 {
			month := bits.TrailingZeros64(rest)
			start := s.MonthStart(month)
			length := s.MonthStart(month+1) - start
			set.put(start, uint64(days[(s.Weekday+start)%7][length-28])>>1)
		}
	})
	if y.sizes == EveryDay.sizes {
		return EveryDay
	}
	return y
}

// DaysOfMonths returns the days of certain months (January at bit 0).
func DaysOfMonths(months uint64) *YearDays {
	return NewYearDays(months, NewMonthDays(func(int, int) uint32 { return 1<<32 - 1 }))
}

// EveryDay is all days.
var EveryDay = FillYearDays(func(s Shape, days *DayBits) {
	for day := range s.Length() {
		days.Set(day)
	}
})

// measure brings the sizes up to date.
func (y *YearDays) measure() {
	y.none = true
	for i := range y.years {
		n := y.years[i].Count(0, 365)
		y.sizes[i] = int16(n)
		y.none = y.none && n == 0
	}
}

// Weekly reports whether the set is certain weekdays and nothing else.
func (y *YearDays) Weekly() bool {
	weekdays := uint64(0)
	for day := range 7 {
		weekdays |= y.years[0][0] >> day & 1 << day // the first year begins on a Monday
	}
	return y.years == DaysOfWeek(weekdays).years
}

// Empty reports whether there is no such day.
func (y *YearDays) Empty() bool { return y.none }

// Equal reports whether two sets are the same.
func (y *YearDays) Equal(o *YearDays) bool { return y == o || y.years == o.years }

// In returns the days of the years of one shape.
func (y *YearDays) In(s Shape) *DayBits { return &y.years[s.number()] }

// inCalendar returns about how many of the days the calendar has.
func (y *YearDays) inCalendar() int64 {
	n := int64(0)
	for _, size := range y.sizes {
		n += int64(size)
	}
	return n * lastYear / Shapes
}

// all goes through the days of the calendar.
func (y *YearDays) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		first := int64(firstOfAll)
		for year := int64(1); year <= lastYear; year++ {
			for i, word := range y.years[ShapeOf(year, first)] {
				for ; word != 0; word &= word - 1 {
					if !yield(first + int64(i*64+bits.TrailingZeros64(word))) {
						return
					}
				}
			}
			first = FirstDay(12 * (year + 1))
		}
	}
}

// And returns the days that are in both sets.
func (y *YearDays) And(other *YearDays) *YearDays {
	return y.join(other, func(a, b uint64) uint64 { return a & b })
}

// Or returns the days that are in either set.
func (y *YearDays) Or(other *YearDays) *YearDays {
	return y.join(other, func(a, b uint64) uint64 { return a | b })
}

// But returns the days that are in y and not in other.
func (y *YearDays) But(other *YearDays) *YearDays {
	if y == other {
		return &YearDays{none: true}
	}
	return y.join(other, func(a, b uint64) uint64 { return a &^ b })
}

func (y *YearDays) join(other *YearDays, op func(a, b uint64) uint64) *YearDays {
	if y == other {
		return y
	}
	joined := &YearDays{}
	for i := range y.years {
		for word := range y.years[i] {
			joined.years[i][word] = op(y.years[i][word], other.years[i][word])
		}
	}
	joined.measure()
	return joined
}

// Has reports whether the day is in the set.
func (y *YearDays) Has(day int64) bool {
	year, dayOfYear := YearOf(day)
	return y.years[ShapeOf(year, day-dayOfYear)].Has(dayOfYear)
}

// Next returns the first day of the set not before day, false if there is none up to the year 9999.
func (y *YearDays) Next(day int64) (int64, bool) {
	if y.none {
		return 0, false
	}
	year, dayOfYear := YearOf(day)
	for first := day - dayOfYear; year <= lastYear; year++ {
		if found := y.years[ShapeOf(year, first)].From(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = FirstDay(12*(year+1)), 0
	}
	return 0, false
}

// Last returns the last day of the set not after day, false if there is none from the year 1 on.
func (y *YearDays) Last(day int64) (int64, bool) {
	if y.none {
		return 0, false
	}
	year, dayOfYear := YearOf(day)
	for first := day - dayOfYear; year >= 1; year-- {
		if found := y.years[ShapeOf(year, first)].to(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = FirstDay(12*(year-1)), 365
	}
	return 0, false
}

// Count returns how many days of the set lie in a…b.
func (y *YearDays) Count(a, b int64) int64 {
	if a > b || y.none {
		return 0
	}
	n := int64(0)
	year, dayOfYear := YearOf(a)
	for first := a - dayOfYear; first <= b; year++ {
		shape, after := ShapeOf(year, first), FirstDay(12*(year+1))
		if dayOfYear == 0 && after <= b {
			n += int64(y.sizes[shape])
		} else {
			n += y.years[shape].Count(dayOfYear, min(b-first, 365))
		}
		first, dayOfYear = after, 0
	}
	return n
}

// DaysOfWeek returns the days with certain weekdays, Monday at bit 0.
func DaysOfWeek(weekdays uint64) *YearDays {
	return FillYearDays(func(y Shape, days *DayBits) {
		for day := range y.Length() {
			if weekdays>>((y.Weekday+day)%7)&1 == 1 {
				days.Set(day)
			}
		}
	})
}

// Share returns how many of all days are in the set, from 0 to 1.
func (y *YearDays) Share() float64 {
	return float64(y.inCalendar()) / float64(EveryDay.inCalendar())
}
