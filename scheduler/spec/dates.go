package spec

import "slices"

// dates is a set of days: those of days, limited to the days, months or years of a cycle if there is one.
type dates struct {
	days  *yearDays
	cycle *cycle
	unit  dateUnit
	rare  []int64 // all of them, in order, if it is known that they are few; else nil
}

// fewDates is how many days make dates rare.
const fewDates = 512

// newDates returns the days that lie in the units of a cycle, with the rare ones looked up beforehand: every search of
// them would take as many steps as there are units without any.
func newDates(days *yearDays, cycle *cycle, unit dateUnit) dates {
	d := dates{days: days, cycle: cycle, unit: unit}
	switch {
	case unit == byDay && cycle.length == 1:
		return everyNth(days, cycle.stride, cycle.anchor)[0]
	case unit == byMonth && cycle.length == 1 && gcd(cycle.stride, 12) > 1:
		months := every(mod(cycle.anchor, 12), gcd(cycle.stride, 12), 12)
		d.days = days.and(newYearDays(months, newMonthDays(func(int, int) uint32 { return 1<<32 - 1 })))
	}
	if d.unit != eachDay && d.days.inCalendar()*cycle.size/(cycle.length*cycle.stride) < 4*fewDates {
		d.rare = d.list()
	}
	return d
}

// list returns all days, nil if they are too many.
func (d *dates) list() []int64 {
	list := []int64{}
	for day, ok := d.next(firstOfAll); ok; day, ok = d.next(day + 1) {
		if list = append(list, day); len(list) > fewDates {
			return nil
		}
	}
	return list
}

// everyNth returns, for each of some first days, the days that are a multiple of n away from it. What the days and the
// steps have in common is looked up beforehand, where that is less work than searches would be later: from whichever
// side has less to go through, which for the days is once for all.
func everyNth(days *yearDays, n int64, firsts ...int64) []dates {
	const mostDays, mostSteps, mostResidues = 200_000, 30_000, 1 << 14
	found := make([]dates, len(firsts))
	for i, first := range firsts {
		cycle := stepCycle(first, n)
		found[i] = dates{days: days, cycle: &cycle, unit: byDay}
		if n%7 == 0 {
			found[i].days = days.and(daysOfWeek(1 << weekdayOf(first)))
		}
	}
	size, steps := days.inCalendar(), int64(len(firsts))*(lastDay-firstOfAll)/n
	switch {
	case size*int64(len(firsts))/n > 2*fewDates: // many enough for a search to meet one soon, and too many to keep
	case n <= mostResidues && size <= mostDays && size <= 10*steps:
		lists := make([][]int64, n) // by what is left when days are divided by n
		for _, first := range firsts {
			lists[mod(first, n)] = []int64{}
		}
		for day := range days.all() {
			if i := mod(day, n); lists[i] != nil {
				lists[i] = append(lists[i], day)
			}
		}
		for i, first := range firsts {
			found[i].rare = lists[mod(first, n)]
		}
	case steps <= mostSteps:
		for i := range found {
			found[i].rare = []int64{}
			for day, _ := found[i].cycle.next(firstOfAll); day <= lastDay; day += n {
				if days.has(day) {
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

// searchLimit bounds every search for a match of two cycles. One that takes longer finds nothing.
const searchLimit = 150_000 // somewhat more than the days of 400 years, after which the calendar repeats itself

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

// lastDay is the last day of the calendar.
const lastDay = 2_932_896 // 9999-12-31

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

// firstOfAll is the first day of the calendar.
const firstOfAll = -719_162 // 0001-01-01

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
