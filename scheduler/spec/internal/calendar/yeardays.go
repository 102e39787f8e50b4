package calendar

import (
	"iter"
	"math/bits"
	"sync/atomic"
	"time"
)

// YearDays is a set of days that is the same in all years of one shape. It covers months, days of the month, weekdays,
// numbered weekdays, days of the year and ISO weeks, their unions, intersections and differences, and the selection of
// the n-th of them in a week, a month or a year.
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
	if week := y.week(); y.years == week.years {
		return week
	}
	return y
}

// DaysOfMonths returns the days of certain months (January at bit 0).
func DaysOfMonths(months uint64) *YearDays {
	return NewYearDays(months, NewMonthDays(func(int, int) uint32 { return 1<<32 - 1 }))
}

// EveryDay is all days.
var EveryDay = DaysOfWeek(1<<7 - 1)

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
func (y *YearDays) Weekly() bool { return y.years == y.week().years }

// week returns the weekdays of the first days of the set.
func (y *YearDays) week() *YearDays {
	weekdays := uint64(0)
	for day := range 7 {
		weekdays |= y.years[0][0] >> day & 1 << day // the first year begins on a Monday
	}
	return DaysOfWeek(weekdays)
}

// Empty reports whether the set has no day.
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

// Next returns the first day of the set not before day, false if none exists up to the year 9999.
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

// Last returns the last day of the set not after day, false if none exists from the year 1 on.
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
	if known := weeks[weekdays].Load(); known != nil {
		return known
	}
	weeks[weekdays].CompareAndSwap(nil, FillYearDays(func(y Shape, days *DayBits) {
		for day := range y.Length() {
			if weekdays>>((y.Weekday+day)%7)&1 == 1 {
				days.Set(day)
			}
		}
	}))
	return weeks[weekdays].Load()
}

// weeks are the sets of weekdays that were needed before.
var weeks [1 << 7]atomic.Pointer[YearDays]

// Share returns the share of all days that are in the set, from 0 to 1.
func (y *YearDays) Share() float64 {
	return float64(y.inCalendar()) / float64(EveryDay.inCalendar())
}

// Shapes is the number of shapes of a year: weekdays of 1 January, and places of the leap years around. ISO weeks and
// weeks cut by the new year look over the year's edges.
const Shapes = 7 * 4

// Where the leap years are.
const (
	noLeap   = iota // neither it nor its neighbours
	leapYear        // the year itself
	LeapPast        // the year before it
	LeapNext        // the year after it
)

// ShapeOf returns the shape of a year, whose first day is given.
func ShapeOf(year, first int64) int {
	kind := noLeap
	switch {
	case leap(year):
		kind = leapYear
	case leap(year - 1):
		kind = LeapPast
	case leap(year + 1):
		kind = LeapNext
	}
	return Shape{int(WeekdayOf(first)), kind}.number()
}

// Shape describes a shape of a year to the functions that fill it.
type Shape struct {
	Weekday int // of 1 January, from Monday
	Kind    int
}

// number returns the shape's number, below shapes.
func (s Shape) number() int { return s.Weekday*4 + s.Kind }

// Length returns the number of the year's days.
func (s Shape) Length() int {
	if s.Kind == leapYear {
		return 366
	}
	return 365
}

// MonthStart returns the day of the year, from 0, on which a month begins. Month 12 is the next January.
func (s Shape) MonthStart(month int) int {
	start := int(monthStarts[month])
	if month > 1 && s.Kind == leapYear {
		start++
	}
	return start
}

var monthStarts = [13]int16{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// Neighbours returns the shapes of the years before and after, as far as they matter in December and January.
func (s Shape) Neighbours() (before, after Shape) {
	before, after = Shape{(s.Weekday + 6) % 7, noLeap}, Shape{(s.Weekday + s.Length()) % 7, noLeap}
	switch s.Kind {
	case leapYear:
		before.Kind, after.Kind = LeapNext, LeapPast
	case LeapPast:
		before.Weekday, before.Kind = (s.Weekday+5)%7, leapYear
	case LeapNext:
		after.Kind = leapYear
	}
	return before, after
}

// MonthDays holds the days of a month as a mask, bit 1 to bit 31, for each of the 28 shapes that a month can have: by
// the weekday of its first day (from Monday) and its length less 28.
type MonthDays [7][4]uint32

// NewMonthDays returns the days that the function calls for in a month of each shape.
func NewMonthDays(days func(weekday, length int) uint32) *MonthDays {
	var m MonthDays
	for weekday := range m {
		for i := range m[weekday] {
			m[weekday][i] = days(weekday, 28+i) & LengthMask(28+i)
		}
	}
	return &m
}

// LengthMask returns the mask of all days of a month.
func LengthMask(length int) uint32 { return 1<<length<<1 - 2 }

// DayMask returns the days of a month of that length; no days say nothing and are all of them.
func DayMask(days []int, length int) uint32 {
	if len(days) == 0 {
		return LengthMask(length)
	}
	set := uint32(0)
	for _, day := range days {
		if day < 0 {
			day += length + 1
		}
		if day > 0 {
			set |= 1 << day
		}
	}
	return set
}

// ClampedTo returns the day of each month or, if it is too short, its last.
func ClampedTo(day int) *MonthDays {
	return NewMonthDays(func(_, length int) uint32 { return 1 << min(day, length) })
}

// NthWeekday returns the n-th weekday, from its start (1…5) or its end (-1…-5), of a month that begins on the weekday
// first (from Monday): as a mask, empty if the month does not have it. Zero is every such weekday.
func NthWeekday(day time.Weekday, n, first, length int) uint32 {
	begin := 1 + (int(day+6)%7-first+7)%7
	end := begin + (length-begin)/7*7
	switch {
	case n > 0:
		return within(begin+7*(n-1), length)
	case n < 0:
		return within(end+7*(n+1), length)
	}
	set := uint32(0)
	for d := begin; d <= end; d += 7 {
		set |= 1 << d
	}
	return set
}

// within returns the mask of one day, empty if the month does not have it.
func within(day, length int) uint32 {
	if day < 1 || day > length {
		return 0
	}
	return 1 << day
}

// DayBits holds the days of one year, 1 January at bit 0.
type DayBits [6]uint64

// Set puts a day into the set.
func (d *DayBits) Set(day int) { d[day/64] |= 1 << (day % 64) }

// Has reports whether a day is in the set.
func (d *DayBits) Has(day int64) bool { return d[day/64]>>(day%64)&1 == 1 }

// put sets the days whose bits are set, the first of them at day.
func (d *DayBits) put(day int, set uint64) {
	d[day/64] |= set << (day % 64)
	if day%64 > 0 && day/64 < 5 {
		d[day/64+1] |= set >> (64 - day%64)
	}
}

// From returns the first day not before day, or -1.
func (d *DayBits) From(day int64) int64 { return nextBit(d[:], day) }

// to returns the last day not after day, or -1.
func (d *DayBits) to(day int64) int64 { return lastBit(d[:], day) }

// Count returns how many days lie in a…b.
func (d *DayBits) Count(a, b int64) int64 { return bitsBefore(d[:], b+1) - bitsBefore(d[:], a) }
