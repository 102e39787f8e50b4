package spec

import (
	"fmt"
	"time"
)

// Recur is Obsidian's recurrence, "@recur 3 weeks 2015-01-15 00:00": an interval that no cron pattern can express, and
// optionally a date and time to count it from (seed 002, "Recurrence").
//
// Minutes and hours are elapsed time. Days, weeks and months are counted on the calendar of the zone: the time of day
// stays, a month that is too short has its last day, and what is counted is always from the same anchor, so that nothing
// drifts.
type Recur struct {
	n     int
	unit  recurUnit
	start time.Time // as if it were UTC; zero: none
}

// recurUnit is the unit of an interval. The zero unit is none.
type recurUnit uint8

const (
	recurMinutes recurUnit = iota + 1
	recurHours
	recurDays
	recurWeeks
	recurMonths
)

// recurUnits are the units with their names (seed 002, "Interval Types") and the largest interval that makes sense: a
// thousand years and more.
var recurUnits = [...]struct {
	words []string // the second is the name
	most  int
}{
	recurMinutes: {[]string{"min", "minute", "minutes"}, 999_999_999},
	recurHours:   {[]string{"h", "hour", "hours"}, 9_999_999},
	recurDays:    {[]string{"d", "day", "days"}, 999_999},
	recurWeeks:   {[]string{"w", "week", "weeks"}, 99_999},
	recurMonths:  {[]string{"mon", "month", "months"}, 99_999},
}

// name returns the unit's name in the singular.
func (u recurUnit) name() string { return recurUnits[u].words[1] }

// recurUnitOf returns the unit of one of the fifteen words, in any case, or none.
func recurUnitOf(word string) recurUnit {
	for u := recurMinutes; u <= recurMonths; u++ {
		if oneOf(word, recurUnits[u].words...) {
			return u
		}
	}
	return 0
}

// elapsed reports whether the interval is a length of time, not a number of days.
func (r *Recur) elapsed() bool { return r.unit <= recurHours }

// Compile implements [Rule]. The interval is counted from the date and time of the text or, without it, from where the
// setting begins, the effective date of seed 002. The first run is the first one not before both.
func (r *Recur) Compile(s Setting) (Schedule, error) {
	if r.start.IsZero() {
		return clip(r.countedFrom(s.begin(), s), s.begin(), s.End), nil
	}
	anchor := firstShown(r.start.Unix(), s.zone())
	schedule := r.calendar(r.start, s)
	if r.elapsed() {
		schedule = r.steps(anchor)
	}
	return clip(schedule, later(anchor, s.begin()), s.End), nil
}

// Differs implements [Rule].
func (r *Recur) Differs(a, b Setting) bool { return !a.begin().Equal(b.begin()) }

// countedFrom returns the instant and the runs that follow it.
func (r *Recur) countedFrom(anchor time.Time, s Setting) Schedule {
	anchor = anchor.Round(0)
	nano := time.Duration(anchor.Nanosecond())
	anchor = anchor.Add(-nano)
	if r.elapsed() {
		return delay(r.steps(anchor), nano)
	}
	schedule := r.calendar(anchor.In(s.zone()), s)
	if schedule.Count(anchor, anchor) == 0 { // the second time that the clock shows this
		schedule = unionOf(schedule, newZoned(wallSecond(anchor.Unix()), time.UTC, literal))
	}
	return delay(schedule, nano)
}

// anchoredAt returns the runs after one that was really started at t, the first of them one interval later: "Recurring
// intervals are calculated from the last execution time, if available" (seed 002), so that a late run, and one by hand,
// moves all that follow.
func (r *Recur) anchoredAt(t time.Time, s Setting) Schedule {
	return clip(r.countedFrom(t, s), t.Add(1), s.End)
}

// after returns the run that follows one started at t.
func (r *Recur) after(t time.Time, s Setting) (time.Time, bool) {
	return r.anchoredAt(t, s).Next(t)
}

// Describe implements [Rule].
func (r *Recur) Describe(s Setting) string {
	origin := "the job's start"
	if !r.start.IsZero() {
		origin = r.start.Format(recurLayout)
	}
	return fmt.Sprintf("%s, counted from the last run, at first from %s%s",
		englishEvery(r.n, r.unit.name()), origin, englishZone(s.zone()))
}
