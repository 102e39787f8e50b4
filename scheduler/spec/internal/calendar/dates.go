package calendar

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Dates is a set of days, optionally limited to the days, months or years of a cycle.
type Dates struct {
	Days  *YearDays
	Cycle *Cycle
	Unit  dateUnit
	rare  []int64 // all of them, in order, if it is known that they are few; else nil
}

// NewDates returns the days within the units of a cycle. It looks rare days up in advance; otherwise each search would
// step through all units without one.
func NewDates(m *work.Meter, days *YearDays, cycle *Cycle, unit dateUnit) Dates {
	d := Dates{Days: days, Cycle: cycle, Unit: unit}
	switch {
	case unit == ByDay && cycle.Length == 1:
		return EveryNth(m, days, cycle.Step, cycle.Anchor)[0]
	case unit == ByMonth && cycle.Length == 1 && GCD(cycle.Step, 12) > 1:
		months := StepBits(Mod(cycle.Anchor, 12), GCD(cycle.Step, 12), 12)
		d.Days = days.And(DaysOfMonths(months))
	}
	if d.Unit != EachDay && d.Days.inCalendar()*cycle.size/(cycle.Length*cycle.Step) < 4*fewDates {
		d.rare = d.list(m)
	}
	return d
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

// dateUnit is the unit of a cycle of dates.
type dateUnit uint8

// The units of a cycle of dates.
const (
	EachDay dateUnit = iota // no cycle
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

// Inside reports whether every day of d's cycle is in other's. It returns false if that is too expensive to compute.
func (d *Dates) Inside(m *work.Meter, other *Dates) bool {
	if other.Unit == EachDay {
		return true
	}
	if d.Unit != other.Unit || d.Unit == listed {
		return false
	}
	const most = 4096
	period, others := d.Cycle.Step*d.Cycle.Length, other.Cycle.Step*other.Cycle.Length
	turns := others / GCD(period, others) // then both repeat
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

// Date is a day with the data to test whether it is in a set.
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
		found, ok := d.nth(day)
		return found, ok && m.Spend(2)
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

// yearBits is the number of bits of a number of days below about a year: to pass over a year is a unit of work.
const yearBits = 9

// Count returns how many days of the set lie in a…b.
func (d *Dates) Count(m *work.Meter, a, b int64) int64 {
	switch {
	case a > b:
		return 0
	case d.Unit == EachDay && d.Days == EveryDay:
		m.Spend(1)
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

// fewDates is the number of days up to which dates are rare.
const fewDates = 512

// Stepped returns the days that lie in every n-th unit, counted from the unit of a day.
func Stepped(m *work.Meter, days *YearDays, unit dateUnit, from, n int64) Dates {
	counted := Dates{Unit: unit}
	cycle := StepCycle(counted.number(from), n)
	return NewDates(m, days, &cycle, unit)
}

// list returns all days, nil if they are too many.
func (d *Dates) list(m *work.Meter) []int64 {
	list := []int64{}
	for day, ok := d.Next(m, firstOfAll); ok; day, ok = d.Next(m, day+1) {
		if list = append(list, day); len(list) > fewDates {
			return nil
		}
	}
	return list
}

// EveryNth returns, for each of the given first days, the days at multiples of n from it. It lists the intersection of
// days and steps in advance if that costs less than later searches, and iterates over the smaller side; the days are
// listed once for all first days.
func EveryNth(m *work.Meter, days *YearDays, n int64, firsts ...int64) []Dates {
	const mostDays, mostSteps, mostResidues = 200_000, 30_000, 1 << 14
	found := make([]Dates, len(firsts))
	for i, first := range firsts {
		cycle := StepCycle(first, n)
		found[i] = Dates{Days: days, Cycle: &cycle, Unit: ByDay}
		if n%7 == 0 {
			found[i].Days = days.And(DaysOfWeek(1 << WeekdayOf(first)))
		}
	}
	size, steps := days.inCalendar(), int64(len(firsts))*(lastDay-firstOfAll)/n
	switch {
	case size*int64(len(firsts))/n > 2*fewDates: // many enough for a search to meet one soon, and too many to keep
	case n <= mostResidues && size <= mostDays && size <= 10*steps:
		m.Spend(size/2 + n)
		lists := make([][]int64, n) // by remainder modulo n
		for _, first := range firsts {
			lists[Mod(first, n)] = []int64{}
		}
		for day := range days.all() {
			if i := Mod(day, n); lists[i] != nil {
				lists[i] = append(lists[i], day)
			}
		}
		for i, first := range firsts {
			found[i].rare = lists[Mod(first, n)]
		}
	case steps <= mostSteps:
		m.Spend(steps)
		for i := range found {
			found[i].rare = []int64{}
			for day, _ := found[i].Cycle.Next(firstOfAll); day <= lastDay; day += n {
				if days.Has(day) {
					found[i].rare = append(found[i].rare, day)
				}
			}
		}
	}
	for i := range found {
		found[i].rare = slices.Clip(found[i].rare)
	}
	return found
}

// The offsets from Easter Sunday whose day is in the same year, for every year.
const (
	FirstOfEaster = -80
	LastOfEaster  = 250
)

// Easter returns Easter Sunday of a year in the western churches, by the formula of python-dateutil.
func Easter(year int64) int64 {
	golden, century := year%19, year/100
	h := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	i := h - h/28*(1-h/28*(29/(h+1))*((21-golden)/11))
	j := (year + year/4 + i + 2 - century + century/4) % 7
	return FirstDay(12*year+2) + i - j + 27
}

// OfEaster returns the dates at the given distances, in days, from Easter Sunday of their year.
func (d *Dates) OfEaster(m *work.Meter, offsets []int) Dates {
	list := []int64{}
	for year := int64(1); year <= lastYear && m.Spend(int64(len(offsets))); year++ {
		easter := Easter(year)
		for _, n := range offsets {
			if day := easter + int64(n); d.Has(day) {
				list = append(list, day)
			}
		}
	}
	return Dates{Days: d.Days, Unit: listed, rare: slices.Clip(list)}
}
