package spec

import "slices"

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
