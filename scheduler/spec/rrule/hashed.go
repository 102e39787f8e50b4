package rrule

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// hashed returns the set with its open positions filled in from the job's name, like H in dsari's cron:
// "RRULE:FREQ=DAILY" is "H H * * *" with a hashed second (dsari's Schedule Format).
//
// A rule that repeats every n units uses a grid of units from 1 January 1970, offset by the hash modulo n. The grid
// survives restarts of the scheduler, and "FREQ=MINUTELY;INTERVAL=5" is "H/5 * * * *". Minutes, hours and days count
// from the start of that day, weeks from Sunday 4 January, months and years from January 1970, all in the schedule's
// zone. Every rule has a separate grid, including EXRULEs.
//
// A set with a DTSTART has no open positions: it supplies them, as in RFC 5545.
func (r *Set) hashed(name string) *Set {
	if r.hasStart {
		return r
	}
	h, filled := language.HashOf(name), *r
	filled.rules, filled.excluded = hashRules(r.rules, h), hashRules(r.excluded, h)
	return &filled
}

func hashRules(rules []rrule, h language.Hash) []rrule {
	filled := slices.Clone(rules)
	for i := range filled {
		filled[i].fillIn(h)
	}
	return filled
}

// fillIn fills in the open positions of the rule, from the longest period to the shortest.
func (r *rrule) fillIn(h language.Hash) {
	r.anchor, r.hasAnchor = localTime(r.grid(h)), true
	r.complete(defaults{
		month:    h.Pick(language.HashMonth, 1, 12),
		monthDay: func() int { return r.possible(h.Pick(language.HashDay, 1, 31)) },
		weekday:  time.Weekday(h.Pick(language.HashWeekday, 0, 6)),
		clock: [3]int{
			h.Pick(language.HashHour, 0, 23), h.Pick(language.HashMinute, 0, 59), h.Pick(language.HashSecond, 0, 59),
		},
	})
}

// grid returns a local time in a period in which the rule is due. A named position is not hashed:
// "FREQ=HOURLY;INTERVAL=4;BYHOUR=1,5,9" is due at 01 for every job name.
func (r *rrule) grid(h language.Hash) int64 {
	phase := func(field language.HashField, n int) int64 { return int64(uint64(h>>field) % uint64(n)) }
	named := func(list []int, otherwise int64) int64 {
		if len(list) > 0 {
			return int64(list[0])
		}
		return otherwise
	}
	within := func(coarser ...[]int) int { // of an hour or a minute if that is named
		for _, list := range coarser {
			if len(list) > 0 {
				return min(r.interval, 60)
			}
		}
		return r.interval
	}
	hour, minute := named(r.byHour, 0)*3600, named(r.byMinute, 0)*60
	switch n := r.interval; r.freq {
	case freqYearly:
		const field = 6 // the field of the year, in cron lines of seven fields
		return calendar.FirstDay((1970+phase(field, n))*12) * calendar.DayLength
	case freqMonthly:
		return calendar.FirstDay(1970*12-1+named(r.byMonth, 1+phase(language.HashMonth, n))) * calendar.DayLength
	case freqWeekly: // of 7n days; modulo 7 it is the weekday
		const sunday = 3 // 4 January 1970
		return (sunday + phase(language.HashWeekday, 7*n)) * calendar.DayLength
	case freqDaily:
		return r.onWeekday(phase(language.HashDay, n)) * calendar.DayLength
	case freqHourly:
		return named(r.byHour, phase(language.HashHour, n)) * 3600
	case freqMinutely:
		return hour + named(r.byMinute, phase(language.HashMinute, within(r.byHour)))*60
	default:
		return hour + minute + named(r.bySecond, phase(language.HashSecond, within(r.byMinute, r.byHour)))
	}
}

// onWeekday returns a day, or the next one on a weekday of BYDAY if the interval is one of weeks and would miss it
// always.
func (r *rrule) onWeekday(day int64) int64 {
	if len(r.byDay) == 0 || r.interval%7 != 0 {
		return day
	}
	for !slices.ContainsFunc(r.byDay, func(d nthDay) bool { return d.day == time.Weekday((calendar.WeekdayOf(day)+1)%7) }) {
		day++
	}
	return day
}

// leapYear is a year with a leap day.
const leapYear = 2000

// possible returns a day of the month, or -1, its last day, if none of the rule's months has that day: a job whose hash
// is 30 February runs on the last of February instead of never.
func (r *rrule) possible(day int) int {
	step := int64(1)
	if r.freq == freqMonthly {
		step = calendar.GCD(int64(r.interval), 12)
	}
	anchor, _ := calendar.Divide(int64(r.anchor), calendar.DayLength)
	begin, _ := calendar.MonthOf(anchor)
	for i := range int64(12) {
		due := (i-begin)%step == 0 && (len(r.byMonth) == 0 || slices.Contains(r.byMonth, int(i)+1))
		if due && int64(day) <= calendar.MonthLength(leapYear*12+i) {
			return day
		}
	}
	return -1
}
