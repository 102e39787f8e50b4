package calendar

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Dates is a set of days: those of days, limited to the days, months or years of a cycle if there is one.
type Dates struct {
	Days  *YearDays
	Cycle *Cycle
	Unit  dateUnit
	rare  []int64 // all of them, in order, if it is known that they are few; else nil
}

// Less returns the dates that are in some of the days.
func (d *Dates) Less(m *work.Meter, days *YearDays) Dates {
	part := Dates{Days: days, Cycle: d.Cycle, Unit: d.Unit}
	if d.rare != nil {
		m.Spend(int64(len(d.rare)))
		part.rare = slices.DeleteFunc(slices.Clone(d.rare), func(day int64) bool { return !days.Has(day) })
	}
	return part
}

// Or returns the days of both, which are limited in the same way.
func (d *Dates) Or(m *work.Meter, o *Dates) Dates {
	m.Spend(JoinWork)
	both := Dates{Days: d.Days.Or(o.Days), Cycle: d.Cycle, Unit: d.Unit}
	if d.rare != nil && o.rare != nil {
		m.Spend(int64(len(d.rare) + len(o.rare)))
		both.rare = slices.Concat(d.rare, o.rare)
		slices.Sort(both.rare)
		both.rare = slices.Compact(both.rare)
	}
	return both
}

// dateUnit is what the cycle of dates counts.
type dateUnit uint8

// What the cycle of dates may count.
const (
	EachDay dateUnit = iota // there is no cycle
	ByDay                   // from 1970-01-01
	ByMonth                 // from January of the year 0
	ByYear                  // of our era
	listed                  // rare has all days, without a cycle
)

// EveryDate is all days.
var EveryDate = Dates{Days: EveryDay}

// YearCycle returns the cycle, for [ByYear], of the listed years.
func YearCycle(years []int) *Cycle {
	last := int64(0)
	for _, year := range years {
		last = max(last, int64(year))
	}
	c := Cycle{Step: 1, Length: lastYear + 1, phases: make([]uint64, last/64+1)}
	for _, year := range years {
		if word := &c.phases[year/64]; *word>>(year%64)&1 == 0 {
			*word |= 1 << (year % 64)
			c.size++
		}
	}
	return &c
}

// SameCycle reports whether two sets are limited in the same way.
func (d *Dates) SameCycle(o *Dates) bool {
	switch {
	case d.Unit != o.Unit || d.Unit == EachDay:
		return d.Unit == o.Unit
	case d.Unit == listed:
		return slices.Equal(d.rare, o.rare)
	}
	a, b := d.Cycle, o.Cycle
	return a.Anchor == b.Anchor && a.Step == b.Step && a.Length == b.Length && slices.Equal(a.phases, b.phases)
}

// Inside reports whether the cycle lets no day pass that other's does not. It says no when that is hard to tell.
func (d *Dates) Inside(m *work.Meter, other *Dates) bool {
	if other.Unit == EachDay {
		return true
	}
	if d.Unit != other.Unit || d.Unit == listed {
		return false
	}
	const most = 4096
	period, others := d.Cycle.Step*d.Cycle.Length, other.Cycle.Step*other.Cycle.Length
	turns := others / GCD(period, others) // after which both are as they were
	if d.Cycle.size > most/max(turns, 1) {
		return false
	}
	x, ok := d.Cycle.Next(d.Cycle.Anchor)
	for range turns * d.Cycle.size {
		if found, _ := other.Cycle.Next(x); !ok || found != x || !m.Spend(2) {
			return false
		}
		x, ok = d.Cycle.Next(x + 1)
	}
	return true
}

// number returns the number of a day's unit.
func (d *Dates) number(day int64) int64 {
	switch d.Unit {
	case ByMonth:
		month, _ := MonthOf(day)
		return month
	case ByYear:
		year, _ := YearOf(day)
		return year
	default:
		return day
	}
}

// begin returns the first day of a unit.
func (d *Dates) begin(number int64) int64 {
	switch d.Unit {
	case ByMonth:
		return FirstDay(number)
	case ByYear:
		return FirstDay(12 * number)
	default:
		return number
	}
}

// Date is a day with what it takes to find out whether it is in a set.
type Date struct {
	day, year, dayOfYear int64
	shape                int
}

// DateOf returns a day as a date.
func DateOf(day int64) Date {
	year, dayOfYear := YearOf(day)
	return Date{day, year, dayOfYear, ShapeOf(year, day-dayOfYear)}
}

// Has reports whether the day is in the set.
func (d *Dates) Has(day int64) bool {
	if d.everyNth() {
		found, ok := d.nth(day)
		return ok && found == day
	}
	return d.HasDate(DateOf(day))
}

// everyNth reports whether the set is all days, or all days of a cycle: arithmetic finds them.
func (d *Dates) everyNth() bool { return d.Days == EveryDay && d.Unit <= ByDay && d.rare == nil }

// nth returns the first day of a set of every n-th day not before day.
func (d *Dates) nth(day int64) (int64, bool) {
	if d.Unit == EachDay {
		return day, day <= lastDay
	}
	found, ok := d.Cycle.Next(day)
	return found, ok && found <= lastDay
}

// HasDate reports whether the day is in the set.
func (d *Dates) HasDate(date Date) bool {
	if d.Unit == listed {
		_, found := slices.BinarySearch(d.rare, date.day)
		return found
	}
	if !d.Days.years[date.shape].Has(date.dayOfYear) {
		return false
	}
	if d.Unit == EachDay {
		return true
	}
	number := date.year
	if d.Unit != ByYear {
		number = d.number(date.day)
	}
	found, ok := d.Cycle.Next(number)
	return ok && found == number
}

// Next returns the first day of the set not before day.
func (d *Dates) Next(m *work.Meter, day int64) (int64, bool) {
	if d.everyNth() {
		m.Spend(2)
		return d.nth(day)
	}
	if d.rare != nil {
		m.Spend(1)
		i, _ := slices.BinarySearch(d.rare, day)
		if i == len(d.rare) {
			return 0, false
		}
		return d.rare[i], true
	}
	for range SearchLimit {
		found, ok := d.Days.Next(day)
		if !ok {
			found = lastDay
		}
		if !m.Spend(2 + (found-day)>>yearBits) {
			return 0, false
		}
		if !ok || d.Unit == EachDay {
			return found, ok
		}
		number := d.number(found)
		allowed, ok := d.Cycle.Next(number)
		if allowed == number && ok {
			return found, true
		}
		if day = d.begin(allowed); !ok || day > lastDay {
			return 0, false
		}
	}
	return 0, m.GiveUp()
}

// Last returns the last day of the set not after day.
func (d *Dates) Last(m *work.Meter, day int64) (int64, bool) {
	if d.rare != nil {
		m.Spend(1)
		i, _ := slices.BinarySearch(d.rare, day+1)
		if i == 0 {
			return 0, false
		}
		return d.rare[i-1], true
	}
	if d.Unit != EachDay && d.Cycle.size == 0 {
		return 0, false
	}
	for range SearchLimit {
		found, ok := d.Days.Last(day)
		if !ok {
			found = firstOfAll
		}
		if !m.Spend(2 + (day-found)>>yearBits) {
			return 0, false
		}
		if !ok || d.Unit == EachDay {
			return found, ok
		}
		number := d.number(found)
		allowed := d.Cycle.Last(number)
		if allowed == number {
			return found, true
		}
		day = d.begin(allowed+1) - 1
		if day < firstOfAll {
			return 0, false
		}
	}
	return 0, m.GiveUp()
}

// JoinWork is the work, in units of a [work.Meter], to join two sets of days of the year or to compare them, and FillWork
// that to make one.
const (
	JoinWork = 60
	FillWork = 250
)

// yearBits is how many bits of a number of days are less than a year or so: to pass over a year is a unit of work.
const yearBits = 9

// Count returns how many days of the set lie in a…b.
func (d *Dates) Count(m *work.Meter, a, b int64) int64 {
	switch {
	case a > b:
		return 0
	case d.Unit == EachDay && d.Days == EveryDay:
		return max(0, min(b, lastDay)-a+1)
	case d.Unit == EachDay:
		m.Spend(1 + (min(b, lastDay)-a)>>yearBits)
		return d.Days.Count(a, b)
	case d.Unit == ByDay && d.Days == EveryDay:
		return d.Cycle.Count(a, b)
	case d.rare != nil:
		from, _ := slices.BinarySearch(d.rare, a)
		to, _ := slices.BinarySearch(d.rare, b+1)
		return int64(to - from)
	case d.Unit == ByDay && d.Cycle.Length == 1 && b-a > 100*d.Cycle.Step && d.Days.Weekly():
		m.Spend(FillWork)
		anchor, step := d.Cycle.Anchor, d.Cycle.Step
		weekdays := NewCycle(anchor, step, 7, func(phase int64) bool { return d.Days.Has(anchor + phase*step) })
		return weekdays.Count(a, b)
	}
	n := int64(0)
	for number := d.number(a); ; number++ {
		found, ok := d.Cycle.Next(number)
		if !ok || d.begin(found) > min(b, lastDay) || !m.Spend(2) {
			return n
		}
		number = found
		n += d.Days.Count(max(a, d.begin(number)), min(b, d.begin(number+1)-1))
	}
}

// Never reports whether the set is empty.
func (d *Dates) Never(m *work.Meter) bool {
	_, ok := d.Next(m, firstOfAll)
	return !ok
}
