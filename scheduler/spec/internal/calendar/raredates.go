package calendar

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// fewDates is how many days make dates rare.
const fewDates = 512

// NewDates returns the days that lie in the units of a cycle, with the rare ones looked up beforehand: every search of
// them would take as many steps as there are units without any.
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

// EveryNth returns, for each of some first days, the days that are a multiple of n away from it. What the days and the
// steps have in common is looked up beforehand, where that is less work than searches would be later: from whichever
// side has less to go through, which for the days is once for all.
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
		lists := make([][]int64, n) // by what is left when days are divided by n
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
