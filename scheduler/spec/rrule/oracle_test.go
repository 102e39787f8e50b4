package rrule

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// rruleOracle is RFC 5545 read aloud, with python-dateutil's readings: it decides of one reading of the clock
// whether it is an instance of a rule, with package time and nothing else. It is slow and has no arithmetic in common
// with the code under test. Local times are in UTC here.
type rruleOracle struct {
	rrule

	start   time.Time
	seconds []int               // of any day: those that BYHOUR, BYMINUTE and BYSECOND leave
	counts  map[int64]bool      // the instances, if COUNT says how many there are
	periods map[int][]time.Time // what matches in a period, if it was asked for
}

func newRRuleOracle(r *rrule, start time.Time) *rruleOracle {
	o := &rruleOracle{rrule: *r, start: start, periods: map[int][]time.Time{}}
	if len(r.byWeekNo)+len(r.byYearDay)+len(r.byMonthDay)+len(r.byDay) == 0 {
		switch r.freq {
		case freqYearly:
			if len(r.byMonth) == 0 {
				o.byMonth = []int{int(start.Month())}
			}
			o.byMonthDay = []int{start.Day()}
		case freqMonthly:
			o.byMonthDay = []int{start.Day()}
		case freqWeekly:
			o.byDay = []nthDay{{0, start.Weekday()}}
		default:
		}
	}
	if len(r.byHour) == 0 && r.freq < freqHourly {
		o.byHour = []int{start.Hour()}
	}
	if len(r.byMinute) == 0 && r.freq < freqMinutely {
		o.byMinute = []int{start.Minute()}
	}
	if len(r.bySecond) == 0 && r.freq < freqSecondly {
		o.bySecond = []int{start.Second()}
	}
	for s := range calendar.DayLength {
		if oracleAllows(o.byHour, s/3600) && oracleAllows(o.byMinute, s/60%60) && oracleAllows(o.bySecond, s%60) {
			o.seconds = append(o.seconds, s)
		}
	}
	return o
}

// count finds the instances of a rule with COUNT, up to a day.
func (o *rruleOracle) count(to time.Time) {
	n := o.rrule.count
	if n == 0 {
		return
	}
	counts := map[int64]bool{}
	for day := midnight(o.start); n > 0 && !day.After(to); day = day.AddDate(0, 0, 1) {
		for _, at := range o.ofDay(day) {
			if n > 0 {
				counts[at.Unix()] = true
				n--
			}
		}
	}
	o.counts = counts
}

func midnight(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }

// ofDay returns the instances of a day.
func (o *rruleOracle) ofDay(day time.Time) []time.Time {
	var list []time.Time
	if !o.dayMatches(day) || o.freq <= freqDaily && !o.onGrid(day) {
		return nil
	}
	for _, s := range o.seconds {
		if at := day.Add(time.Duration(s) * time.Second); o.has(at) {
			list = append(list, at)
		}
	}
	return list
}

// has reports whether at, whose day and time match, is an instance.
func (o *rruleOracle) has(at time.Time) bool {
	switch {
	case at.Before(o.start) || !o.onGrid(at):
		return false
	case o.counts != nil && !o.counts[at.Unix()]:
		return false
	}
	return len(o.bySetPos) == 0 || o.positioned(at)
}

// period returns the number of the period in which a local time lies.
func (o *rruleOracle) period(at time.Time) int {
	switch o.freq {
	case freqYearly:
		return at.Year()
	case freqMonthly:
		return at.Year()*12 + int(at.Month())
	case freqWeekly:
		return int(o.weekOf(at).Unix() / (7 * 86_400))
	case freqDaily:
		return int(midnight(at).Unix() / 86_400)
	case freqHourly:
		return int(at.Truncate(time.Hour).Unix() / 3600)
	case freqMinutely:
		return int(at.Truncate(time.Minute).Unix() / 60)
	default:
		return int(at.Unix())
	}
}

// weekOf returns the first day of the week of a local time.
func (o *rruleOracle) weekOf(at time.Time) time.Time {
	day := midnight(at)
	for day.Weekday() != o.weekStart {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

func (o *rruleOracle) onGrid(at time.Time) bool {
	if o.freq == freqWeekly {
		weeks := int(o.weekOf(at).Sub(o.weekOf(o.start)) / (7 * 24 * time.Hour))
		return weeks%o.interval == 0
	}
	return (o.period(at)-o.period(o.start))%o.interval == 0
}

// positioned applies BYSETPOS to everything that matches in the period of a local time.
func (o *rruleOracle) positioned(at time.Time) bool {
	all := o.ofPeriod(at)
	i := slices.IndexFunc(all, at.Equal)
	return i >= 0 && (slices.Contains(o.bySetPos, i+1) || slices.Contains(o.bySetPos, i-len(all)))
}

func (o *rruleOracle) ofPeriod(at time.Time) []time.Time {
	if all, ok := o.periods[o.period(at)]; ok {
		return all
	}
	var all []time.Time
	begin, end := midnight(at), midnight(at).AddDate(0, 0, 1)
	switch o.freq {
	case freqYearly:
		begin = time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		end = begin.AddDate(1, 0, 0)
	case freqMonthly:
		begin = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		end = begin.AddDate(0, 1, 0)
	case freqWeekly:
		begin = o.weekOf(at)
		end = begin.AddDate(0, 0, 7)
	case freqDaily:
	case freqHourly:
		begin = at.Truncate(time.Hour)
		end = begin.Add(time.Hour)
	case freqMinutely:
		begin = at.Truncate(time.Minute)
		end = begin.Add(time.Minute)
	case freqSecondly:
		return []time.Time{at}
	}
	for day := midnight(begin); day.Before(end); day = day.AddDate(0, 0, 1) {
		if !o.dayMatches(day) {
			continue
		}
		for _, s := range o.seconds {
			if t := day.Add(time.Duration(s) * time.Second); !t.Before(begin) && t.Before(end) {
				all = append(all, t)
			}
		}
	}
	o.periods[o.period(at)] = all
	return all
}

func oracleAllows(list []int, n int) bool { return len(list) == 0 || slices.Contains(list, n) }

func (o *rruleOracle) dayMatches(day time.Time) bool {
	length := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	yearLength := time.Date(day.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
	fromEnd := func(list []int, n, size int) bool { return oracleAllows(list, n) || slices.Contains(list, n-size-1) }
	if !oracleAllows(o.byMonth, int(day.Month())) || !fromEnd(o.byMonthDay, day.Day(), length) || !fromEnd(o.byYearDay, day.YearDay(), yearLength) {
		return false
	}
	return (len(o.byWeekNo) == 0 || o.weekMatches(day)) && (len(o.byDay) == 0 || slices.ContainsFunc(o.byDay, func(d nthDay) bool {
		n, size := day.Day(), length
		if o.freq == freqYearly && len(o.byMonth) == 0 {
			n, size = day.YearDay(), yearLength
		}
		return d.day == day.Weekday() && (d.n == 0 || o.freq > freqMonthly || d.n == (n-1)/7+1 || d.n == -((size-n)/7+1))
	}))
}

// weekMatches reports whether a day's week is one of BYWEEKNO. A week belongs to the year of its fourth day.
func (o *rruleOracle) weekMatches(day time.Time) bool {
	fourth := o.weekOf(day).AddDate(0, 0, 3)
	week := (fourth.YearDay()-1)/7 + 1
	weeks := 52
	if last := time.Date(fourth.Year(), 12, 31, 0, 0, 0, 0, time.UTC); o.weekOf(last).AddDate(0, 0, 3).Year() == fourth.Year() {
		weeks = (o.weekOf(last).AddDate(0, 0, 3).YearDay()-1)/7 + 1
	}
	return slices.Contains(o.byWeekNo, week) || slices.Contains(o.byWeekNo, week-weeks-1)
}

// oracleLocalTimes returns the local times of a set on the days from…to.
func oracleLocalTimes(set *Set, from, to time.Time) []int64 {
	start := time.Unix(int64(set.start), 0).UTC()
	var rules, excluded []*rruleOracle
	for i := range set.rules {
		rules = append(rules, newRRuleOracle(&set.rules[i], start))
	}
	for i := range set.excluded {
		excluded = append(excluded, newRRuleOracle(&set.excluded[i], start))
	}
	for _, o := range slices.Concat(rules, excluded) {
		o.count(to)
	}
	var times []int64
	for day := midnight(from); !day.After(to); day = day.AddDate(0, 0, 1) {
		out := map[int64]bool{}
		for _, o := range excluded {
			for _, at := range o.ofDay(day) {
				out[at.Unix()] = !o.ended(set, at)
			}
		}
		for _, o := range rules {
			for _, at := range o.ofDay(day) {
				if !out[at.Unix()] && !o.ended(set, at) {
					times = append(times, at.Unix())
				}
			}
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// ended reports whether a local time is after the rule's UNTIL.
func (o *rruleOracle) ended(set *Set, local time.Time) bool {
	if !o.until.given {
		return false
	}
	until := int64(o.until.at)
	if !o.until.utc {
		return local.Unix() > until
	}
	at := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, set.zone)
	return at.Unix() > until
}

// oracleInstants returns the instants at which a zone's clock shows local times. Of two, the first counts; a time that is
// skipped is moved by the gap, if it is not to be left out.
func oracleInstants(times []int64, zone *time.Location, skip bool) []int64 {
	offset := func(u int64) int64 {
		_, seconds := time.Unix(u, 0).In(zone).Zone()
		return int64(seconds)
	}
	var list []int64
	for _, w := range times {
		before, after := offset(w-tz.Margin), offset(w+tz.Margin)
		switch u := w - before; {
		case offset(u) == before:
			list = append(list, u)
		case offset(w-after) == after:
			list = append(list, w-after)
		case !skip:
			list = append(list, u)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
