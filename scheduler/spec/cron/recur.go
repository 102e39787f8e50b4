package cron

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
)

// Recur is Obsidian's recurrence, "@recur 3 weeks 2015-01-15 00:00": an interval that no cron pattern can express, and
// optionally a date and time to count it from ("Recurrence" on Obsidian's page).
//
// Minutes and hours are elapsed time. Days, weeks and months are counted on the calendar of the zone: the time of day
// stays, a month that is too short has its last day, and what is counted is always from the same anchor, so that
// nothing drifts.
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

// recurUnits are the units with their names ("Interval Types" on Obsidian's page) and the largest interval that makes
// sense: a thousand years and more.
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

// Compile implements [language.Rule]. The interval is counted from the date and time of the text or, without it, from
// where the setting begins, Obsidian's effective date. The first run is the first one not before both.
func (r *Recur) Compile(s language.Setting) (*instant.Schedule, error) {
	if r.start.IsZero() {
		return r.countedFrom(s.Begin(), s).Clip(s.Begin(), s.End), nil
	}
	anchor := instant.FirstShown(r.start.Unix(), s.Location())
	schedule := r.calendar(r.start, s)
	if r.elapsed() {
		schedule = r.steps(anchor)
	}
	return schedule.Clip(instant.Later(anchor, s.Begin()), s.End), nil
}

// Differs implements [language.Rule].
func (r *Recur) Differs(a, b language.Setting) bool { return !a.Begin().Equal(b.Begin()) }

// countedFrom returns the instant and the runs that follow it.
func (r *Recur) countedFrom(anchor time.Time, s language.Setting) *instant.Schedule {
	anchor = anchor.Round(0)
	nano := time.Duration(anchor.Nanosecond())
	anchor = anchor.Add(-nano)
	if r.elapsed() {
		return r.steps(anchor).Delay(nano)
	}
	schedule := r.calendar(anchor.In(s.Location()), s)
	if schedule.Count(anchor, anchor) == 0 { // the second time that the clock shows this
		schedule = instant.UnionOf(schedule, instant.NewZoned(localtime.Single(anchor.Unix()), time.UTC, instant.Literal))
	}
	return schedule.Delay(nano)
}

// AnchoredAt returns the runs after one that was really started at t, the first of them one interval later: "Recurring
// intervals are calculated from the last execution time, if available" (Obsidian's page), so that a late run, and one
// by hand, moves all that follow.
func (r *Recur) AnchoredAt(t time.Time, s language.Setting) *instant.Schedule {
	return r.countedFrom(t, s).Clip(t.Add(1), s.End)
}

// Describe implements [language.Rule].
func (r *Recur) Describe(s language.Setting) string {
	origin := "the job's start"
	if !r.start.IsZero() {
		origin = r.start.Format(recurLayout)
	}
	if !s.Grid {
		origin = "the last run, at first from " + origin
	}
	return fmt.Sprintf("%s, counted from %s%s", english.Every(r.n, r.unit.name()), origin, english.Zone(s.Location()))
}
