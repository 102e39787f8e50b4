package rrule

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
)

// days returns the days that the parts allow, for any interval.
func (e *expander) days() *calendar.YearDays {
	months := uint64(1<<12 - 1)
	if len(e.byMonth) > 0 {
		months = calendar.BitsOf(e.byMonth) >> 1
	}
	nthInYear := e.freq == freqYearly && len(e.byMonth) == 0 && e.numbered()
	days := calendar.EveryDay
	e.work.Spend(calendar.FillWork)
	if months != 1<<12-1 || len(e.byMonthDay) > 0 || len(e.byDay) > 0 && !nthInYear {
		days = calendar.NewYearDays(months, calendar.NewMonthDays(func(weekday, length int) uint32 {
			set := calendar.DayMask(e.byMonthDay, length)
			if len(e.byDay) > 0 && !nthInYear {
				set &= e.weekdaysOf(weekday, length)
			}
			return set
		}))
	}
	if nthInYear {
		days = e.and(days, e.daysOfYearWeekdays, len(e.byDay))
	}
	if len(e.byYearDay) > 0 {
		days = e.and(days, e.daysOfYear, len(e.byYearDay))
	}
	if len(e.byWeekNo) > 0 {
		days = e.and(days, e.daysOfWeeks, len(e.byWeekNo))
	}
	return days
}

// and intersects days with the days of a part. fill sets the part's days; the part has the given number of items.
func (e *expander) and(days *calendar.YearDays, fill func(calendar.Shape, *calendar.DayBits), items int) *calendar.YearDays {
	e.work.Spend(calendar.JoinWork + int64(calendar.Shapes*items/4))
	return days.And(calendar.FillYearDays(fill))
}

// numbered reports whether an item of BYDAY has a number.
func (e *expander) numbered() bool {
	return slices.ContainsFunc(e.byDay, func(d nthDay) bool { return d.n != 0 })
}

// weekdaysOf returns the days of BYDAY in a month that begins on that weekday (from Monday). Periods shorter than a
// month ignore the numbers (python-dateutil; RFC 5545 forbids them). A number that no month reaches matches no day.
func (e *expander) weekdaysOf(weekday, length int) uint32 {
	set := uint32(0)
	for _, d := range e.byDay {
		n := d.n
		if e.freq > freqMonthly {
			n = 0
		}
		set |= calendar.NthWeekday(d.day, n, weekday, length)
	}
	return set
}

// daysOfYearWeekdays sets the weekdays of BYDAY, numbered in the year.
func (e *expander) daysOfYearWeekdays(s calendar.Shape, days *calendar.DayBits) {
	for _, d := range e.byDay {
		first := (int(calendar.MondayBased(d.day)) - s.Weekday + 7) % 7
		last := first + (s.Length()-1-first)/7*7
		switch {
		case d.n == 0:
			for day := first; day <= last; day += 7 {
				days.Set(day)
			}
		case d.n > 0 && first+7*(d.n-1) <= last:
			days.Set(first + 7*(d.n-1))
		case d.n < 0 && last+7*(d.n+1) >= 0:
			days.Set(last + 7*(d.n+1))
		}
	}
}

// daysOfYear sets the days of BYYEARDAY.
func (e *expander) daysOfYear(s calendar.Shape, days *calendar.DayBits) {
	for _, n := range e.byYearDay {
		if n < 0 {
			n += s.Length() + 1
		}
		if n >= 1 && n <= s.Length() {
			days.Set(n - 1)
		}
	}
}

// daysOfWeeks sets the days of the weeks of BYWEEKNO. A week belongs to the year in which it has four days or more (ISO
// 8601, with weeks that begin on WKST), but its days to their calendar year.
func (e *expander) daysOfWeeks(s calendar.Shape, days *calendar.DayBits) {
	start := int(calendar.MondayBased(e.weekStart))
	previous, length, following := 365, s.Length(), 365
	switch s.Kind {
	case calendar.LeapPast:
		previous = 366
	case calendar.LeapNext:
		following = 366
	}
	this := firstWeek(s.Weekday, start)
	starts := [4]int{ // of the first weeks of the years around, seen from 1 January
		firstWeek(s.Weekday-previous, start) - previous,
		this,
		firstWeek(s.Weekday+length, start) + length,
		firstWeek(s.Weekday+length+following, start) + length + following,
	}
	for i, first := range starts[:3] {
		weeks := (starts[i+1] - first) / 7
		for _, n := range e.byWeekNo {
			if n < 0 {
				n += weeks + 1
			}
			if n < 1 || n > weeks {
				continue
			}
			for day := first + 7*(n-1); day < first+7*n; day++ {
				if day >= 0 && day < length {
					days.Set(day)
				}
			}
		}
	}
}

// firstWeek returns the day on which the first week of a year begins, from -3 to 3, 1 January being 0 and having the
// weekday given, from Monday. Weeks begin on start.
func firstWeek(weekday, start int) int {
	since := ((weekday-start)%7 + 7) % 7
	if since <= 3 {
		return -since
	}
	return 7 - since
}

// positions compiles BYSETPOS of a frequency of a day or more: of the days and times of each period, in order, those at
// certain places. Place number p of a period with t times a day is the time p mod t of the day p div t.
func (e *expander) positions(d calendar.Dates) []localtime.Layer {
	if e.freq == freqDaily || len(e.byEaster) > 0 { // one day of a period at most
		layers := []localtime.Layer{}
		for _, t := range e.choose(e.times()) {
			layers = append(layers, localtime.Layer{Dates: d, Times: t})
		}
		return layers
	}
	all := e.times()
	size := int(all.Size())
	if size == 0 {
		return []localtime.Layer{}
	}
	chosen := map[int]*calendar.YearDays{} // by the number of the time
	var order []int
	for _, p := range e.bySetPos {
		if !e.work.Spend(pickWork) {
			break
		}
		day, time := place(p, size)
		picked := e.pick(d.Days, day)
		if before, ok := chosen[time]; ok {
			picked = picked.Or(before)
		} else {
			order = append(order, time)
		}
		chosen[time] = picked
	}
	layers := make([]localtime.Layer, 0, len(order))
	for _, time := range order {
		layers = append(layers, localtime.Layer{Dates: d.Less(e.work, chosen[time]), Times: all.Number(time)})
	}
	return layers
}

// pickWork is the work to pick a day of each period of the years of all shapes.
const pickWork = 2000

// place returns the day, from 0, or from -1 at the period's end, and the time, from 0, of a position.
func place(p, size int) (day, time int) {
	if p > 0 {
		p--
	}
	q, r := calendar.Divide(int64(p), int64(size))
	return int(q), int(r)
}

// choose applies BYSETPOS to the times of a day, an hour or a minute, which are the periods of those frequencies.
func (e *expander) choose(all calendar.Times) []calendar.Times {
	if len(e.bySetPos) == 0 {
		return []calendar.Times{all}
	}
	period := all
	if e.freq >= freqHourly {
		period.Hours = 1
	}
	if e.freq >= freqMinutely {
		period.Minutes = 1
	}
	if e.freq == freqSecondly {
		period.Seconds = 1
	}
	size := int(period.Size())
	var chosen []calendar.Times
	for _, p := range e.bySetPos {
		if p < 0 {
			p += size + 1
		}
		if p < 1 || p > size {
			continue
		}
		t := period.Number(p - 1)
		if e.freq >= freqHourly {
			t.Hours = all.Hours
		}
		if e.freq >= freqMinutely {
			t.Minutes = all.Minutes
		}
		if e.freq == freqSecondly {
			t.Seconds = all.Seconds
		}
		chosen = append(chosen, t)
	}
	return chosen
}

// pick returns the days that are in the given place, from 0 or from -1 at the end, among a set's days of each year,
// month or week.
func (e *expander) pick(from *calendar.YearDays, place int) *calendar.YearDays {
	return calendar.FillYearDays(func(s calendar.Shape, days *calendar.DayBits) {
		set := from.In(s)
		switch e.freq {
		case freqYearly:
			pickIn(set, 0, s.Length(), place, days)
		case freqMonthly:
			for month := range 12 {
				pickIn(set, s.MonthStart(month), s.MonthStart(month+1), place, days)
			}
		default:
			e.pickInWeeks(from, s, place, days)
		}
	})
}

// pickIn sets the day in the given place among those in a…b, b not included.
func pickIn(set *calendar.DayBits, a, b, place int, days *calendar.DayBits) {
	if place < 0 {
		place += int(set.Count(int64(a), int64(b-1)))
	}
	day := set.From(int64(a))
	for ; place > 0 && day >= 0 && day < 365; place-- {
		day = set.From(day + 1)
	}
	if place == 0 && day >= 0 && day < int64(b) {
		days.Set(int(day))
	}
}

// pickInWeeks sets the day in the given place of each week. The weeks at both ends of the year have days of the years
// around it.
func (e *expander) pickInWeeks(from *calendar.YearDays, s calendar.Shape, place int, days *calendar.DayBits) {
	before, after := s.Neighbours()
	past, future := from.In(before), from.In(after)
	set := from.In(s)
	has := func(day int) bool {
		switch length := s.Length(); {
		case day < 0:
			return past.Has(int64(day + before.Length()))
		case day >= length:
			return future.Has(int64(day - length))
		default:
			return set.Has(int64(day))
		}
	}
	since := ((s.Weekday-int(calendar.MondayBased(e.weekStart)))%7 + 7) % 7
	for week := -since; week < s.Length(); week += 7 {
		var found [7]int
		n := 0
		for day := week; day < week+7; day++ {
			if has(day) {
				found[n] = day
				n++
			}
		}
		at := place
		if at < 0 {
			at += n
		}
		if at >= 0 && at < n && found[at] >= 0 && found[at] < s.Length() {
			days.Set(found[at])
		}
	}
}
