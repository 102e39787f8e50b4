package spec

import (
	"iter"
	"math/bits"
)

// yearDays is a set of days of the calendar that looks the same in all years of one shape. What months, days of the
// month, weekdays, numbered weekdays, days of the year and ISO weeks say is such a set, and so is every union,
// intersection and difference of them, and the choice of the n-th of them in a week, a month or a year.
type yearDays struct {
	shapes [shapes]dayBits
	sizes  [shapes]int16
	empty  bool
}

// dayBits holds the days of one year, 1 January at bit 0.
type dayBits [6]uint64

// A year's shape is the weekday of 1 January and where the leap years are: ISO weeks and weeks cut by the new year look
// over the year's edges.
const shapes = 7 * 4

const (
	noLeap   = iota // neither it nor its neighbours
	leapYear        // the year itself
	leapPast        // the year before it
	leapNext        // the year after it
)

// shapeOf returns the shape of a year, whose first day is given.
func shapeOf(year, first int64) int {
	kind := noLeap
	switch {
	case leap(year):
		kind = leapYear
	case leap(year - 1):
		kind = leapPast
	case leap(year + 1):
		kind = leapNext
	}
	return int(weekdayOf(first))*4 + kind
}

// shape describes a shape of a year to the functions that fill it.
type shape struct {
	weekday int // of 1 January, from Monday
	kind    int
}

// length returns the number of the year's days.
func (s shape) length() int {
	if s.kind == leapYear {
		return 366
	}
	return 365
}

// monthStart returns the day of the year, from 0, on which a month begins. Month 12 is the next January.
func (s shape) monthStart(month int) int {
	start := int(monthStarts[month])
	if month > 1 && s.kind == leapYear {
		start++
	}
	return start
}

var monthStarts = [13]int16{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// fillYearDays returns the set of days that fill sets in each shape.
func fillYearDays(fill func(s shape, days *dayBits)) *yearDays {
	y := &yearDays{}
	for i := range y.shapes {
		fill(shape{i / 4, i % 4}, &y.shapes[i])
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
	y.empty = true
	for i := range y.shapes {
		n := y.shapes[i].size()
		y.sizes[i] = int16(n)
		y.empty = y.empty && n == 0
	}
}

// weekly reports whether the set is certain weekdays and nothing else.
func (y *yearDays) weekly() bool {
	weekdays := uint64(0)
	for day := range 7 {
		weekdays |= y.shapes[0][0] >> day & 1 << day // the first year begins on a Monday
	}
	return y.shapes == daysOfWeek(weekdays).shapes
}

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
			for i, word := range y.shapes[shapeOf(year, first)] {
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
		return &yearDays{empty: true}
	}
	return y.join(other, func(a, b uint64) uint64 { return a &^ b })
}

func (y *yearDays) join(other *yearDays, op func(a, b uint64) uint64) *yearDays {
	if y == other {
		return y
	}
	joined := &yearDays{}
	for i := range y.shapes {
		for word := range y.shapes[i] {
			joined.shapes[i][word] = op(y.shapes[i][word], other.shapes[i][word])
		}
	}
	joined.measure()
	return joined
}

// has reports whether the day is in the set.
func (y *yearDays) has(day int64) bool {
	year, dayOfYear := yearOf(day)
	return y.shapes[shapeOf(year, day-dayOfYear)].has(dayOfYear)
}

// lastYear is the end of the calendar.
const lastYear = 9999

// next returns the first day of the set not before day, false if there is none up to the year 9999.
func (y *yearDays) next(day int64) (int64, bool) {
	if y.empty {
		return 0, false
	}
	year, dayOfYear := yearOf(day)
	for first := day - dayOfYear; year <= lastYear; year++ {
		if found := y.shapes[shapeOf(year, first)].from(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = firstDay(12*(year+1)), 0
	}
	return 0, false
}

// last returns the last day of the set not after day, false if there is none from the year 1 on.
func (y *yearDays) last(day int64) (int64, bool) {
	if y.empty {
		return 0, false
	}
	year, dayOfYear := yearOf(day)
	for first := day - dayOfYear; year >= 1; year-- {
		if found := y.shapes[shapeOf(year, first)].to(dayOfYear); found >= 0 {
			return first + found, true
		}
		first, dayOfYear = firstDay(12*(year-1)), 365
	}
	return 0, false
}

// count returns how many days of the set lie in a…b.
func (y *yearDays) count(a, b int64) int64 {
	if a > b || y.empty {
		return 0
	}
	n := int64(0)
	year, dayOfYear := yearOf(a)
	for first := a - dayOfYear; first <= b; year++ {
		shape, after := shapeOf(year, first), firstDay(12*(year+1))
		if dayOfYear == 0 && after <= b {
			n += int64(y.sizes[shape])
		} else {
			n += y.shapes[shape].count(dayOfYear, min(b-first, 365))
		}
		first, dayOfYear = after, 0
	}
	return n
}

func (d *dayBits) set(day int) { d[day/64] |= 1 << (day % 64) }

func (d *dayBits) has(day int64) bool { return d[day/64]>>(day%64)&1 == 1 }

// put sets the days whose bits are set, the first of them at day.
func (d *dayBits) put(day int, set uint64) {
	d[day/64] |= set << (day % 64)
	if day%64 > 0 && day/64 < 5 {
		d[day/64+1] |= set >> (64 - day%64)
	}
}

func (d *dayBits) size() int {
	n := 0
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}

// from returns the first day not before day, or -1.
func (d *dayBits) from(day int64) int64 {
	i := day / 64
	if word := d[i] >> (day % 64); word != 0 {
		return day + int64(bits.TrailingZeros64(word))
	}
	for i++; i < int64(len(d)); i++ {
		if d[i] != 0 {
			return i*64 + int64(bits.TrailingZeros64(d[i]))
		}
	}
	return -1
}

// to returns the last day not after day, or -1.
func (d *dayBits) to(day int64) int64 {
	i := day / 64
	if word := d[i] & (1<<(day%64)<<1 - 1); word != 0 {
		return i*64 + int64(bits.Len64(word)-1)
	}
	for i--; i >= 0; i-- {
		if d[i] != 0 {
			return i*64 + int64(bits.Len64(d[i])-1)
		}
	}
	return -1
}

// count returns how many days lie in a…b.
func (d *dayBits) count(a, b int64) int64 {
	n := 0
	for i := a / 64; i <= b/64; i++ {
		word := d[i]
		if i == a/64 {
			word &^= 1<<(a%64) - 1
		}
		if i == b/64 {
			word &= 1<<(b%64)<<1 - 1
		}
		n += bits.OnesCount64(word)
	}
	return int64(n)
}
