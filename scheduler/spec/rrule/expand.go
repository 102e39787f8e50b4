package rrule

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// layers compiles one rule, but for where it begins and ends.
func (c *setCompiler) layers(r *rrule) []localtime.Layer {
	begin := c.begin
	if r.hasAnchor {
		begin = int64(r.anchor)
	}
	e := expander{rrule: *r, begin: begin, work: c.work}
	e.fill()
	if e.freq <= freqDaily {
		return e.daily()
	}
	return e.hourly()
}

// expander turns a rule into layers.
type expander struct {
	rrule

	begin int64 // start of the count, in local time
	work  *work.Meter
}

// fill completes the rule from its start (RFC 5545 section 3.3.10, "information missing"): it fills in missing parts of
// periods longer than the part itself. A frequency whose interval is a multiple of a longer period is converted to that
// period.
func (e *expander) fill() {
	day, second := calendar.Divide(e.begin, calendar.DayLength)
	month, dayOfMonth := calendar.MonthOf(day)
	hour, minute, second := second/3600, second/60%60, second%60
	e.complete(defaults{
		month:    int(calendar.Mod(month, 12)) + 1,
		monthDay: func() int { return int(dayOfMonth) },
		weekday:  time.Weekday((calendar.WeekdayOf(day) + 1) % 7),
		clock:    [3]int{int(hour), int(minute), int(second)},
	})
	e.lift(freqSecondly, 60, &e.bySecond, second)
	e.lift(freqMinutely, 60, &e.byMinute, minute)
	e.lift(freqHourly, 24, &e.byHour, hour)
}

// defaults are the values for parts that a rule omits.
type defaults struct {
	month    int // from 1
	monthDay func() int
	weekday  time.Weekday
	clock    [3]int // hour, minute and second
}

// complete fills in missing parts of periods longer than the part itself.
func (r *rrule) complete(d defaults) {
	if len(r.byWeekNo)+len(r.byYearDay)+len(r.byMonthDay)+len(r.byDay)+len(r.byEaster) == 0 {
		if r.freq == freqYearly && len(r.byMonth) == 0 {
			r.byMonth = []int{d.month}
		}
		switch r.freq {
		case freqYearly, freqMonthly:
			r.byMonthDay = []int{d.monthDay()}
		case freqWeekly:
			r.byDay = []nthDay{{0, d.weekday}}
		default:
		}
	}
	for i, list := range []*[]int{&r.byHour, &r.byMinute, &r.bySecond} {
		if len(*list) == 0 && r.freq < freqHourly+rruleFreq(i) {
			*list = []int{d.clock[i]}
		}
	}
}

// lift says a frequency whose interval is a multiple of the next longer period in that period: every 120 minutes are
// every 2 hours, at the start's minute. By is the part that limits it, empty for no limit.
func (e *expander) lift(freq rruleFreq, perPeriod int, by *[]int, at int64) {
	if e.freq != freq || e.interval%perPeriod != 0 {
		return
	}
	if len(*by) > 0 && !slices.Contains(*by, int(at)) {
		*by = []int{-1} // never
	} else {
		*by = []int{int(at)}
	}
	e.freq--
	e.interval /= perPeriod
}

// times returns the times of day that the parts leave.
func (e *expander) times() calendar.Times {
	t := calendar.AllDay
	if len(e.byHour) > 0 {
		t.Hours = uint32(calendar.BitsOf(e.byHour) & calendar.AllHours)
	}
	if len(e.byMinute) > 0 {
		t.Minutes = calendar.BitsOf(e.byMinute) & calendar.AllMinutes
	}
	if len(e.bySecond) > 0 {
		t.Seconds = calendar.BitsOf(e.bySecond) & calendar.AllMinutes // no clock shows a leap second
	}
	return t
}

// daily compiles a frequency of a day or more.
func (e *expander) daily() []localtime.Layer {
	d := e.ofEaster(e.dates())
	if len(e.bySetPos) == 0 {
		return []localtime.Layer{{Dates: d, Times: e.times()}}
	}
	return e.positions(d)
}

// ofEaster limits dates by BYEASTER.
func (e *expander) ofEaster(d calendar.Dates) calendar.Dates {
	if len(e.byEaster) == 0 {
		return d
	}
	return d.OfEaster(e.work, e.byEaster)
}

// dates returns the days that the parts and the interval of a frequency of a day or more leave.
func (e *expander) dates() calendar.Dates {
	days := e.days()
	day, _ := calendar.Divide(e.begin, calendar.DayLength)
	interval := int64(e.interval)
	switch {
	case interval == 1:
		return calendar.Dates{Days: days}
	case e.freq == freqYearly:
		return calendar.Stepped(e.work, days, calendar.ByYear, day, interval)
	case e.freq == freqMonthly:
		return calendar.Stepped(e.work, days, calendar.ByMonth, day, interval)
	case e.freq == freqWeekly:
		weekdays := uint64(0)
		for _, d := range e.byDay { // fill has made it the start's weekday if no part names days
			weekdays |= 1 << calendar.Mod(calendar.MondayBased(d.day)-calendar.MondayBased(e.weekStart), 7)
		}
		if weekdays == 0 {
			weekdays = 1<<7 - 1
		}
		cycle := calendar.MaskCycle(day-e.sinceWeekStart(day), 7*interval, weekdays)
		return calendar.NewDates(e.work, days, &cycle, calendar.ByDay)
	case interval%7 == 0:
		days = days.And(calendar.DaysOfWeek(1 << calendar.WeekdayOf(day)))
	}
	return calendar.Stepped(e.work, days, calendar.ByDay, day, interval)
}

// sinceWeekStart returns how many days of its week come before a day.
func (e *expander) sinceWeekStart(day int64) int64 {
	return calendar.Mod(calendar.WeekdayOf(day)-calendar.MondayBased(e.weekStart), 7)
}

// hourly compiles a frequency of less than a day.
func (e *expander) hourly() (layers []localtime.Layer) {
	unit := e.freq.seconds()
	anchor, _ := calendar.Divide(e.begin, unit)
	d := e.ofEaster(calendar.Dates{Days: e.days()})
	for _, part := range localtime.Merge(e.work, chosen(e.choose(e.times()))) {
		if !e.work.Spend(calendar.JoinWork) {
			break
		}
		steps := localtime.Stepped(e.work, unit, anchor, int64(e.interval), localtime.Layer{Dates: d, Times: part.Times})
		layers = append(layers, steps...)
	}
	return layers
}

// chosen returns times as layers of all days, so that they can be merged.
func chosen(list []calendar.Times) []localtime.Layer {
	layers := make([]localtime.Layer, len(list))
	for i, t := range list {
		layers[i] = localtime.Layer{Dates: calendar.EveryDate, Times: t}
	}
	return layers
}
