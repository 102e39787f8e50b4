package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Warning is something in a document that is allowed, and that its writer might not expect.
type Warning struct {
	Path    string `json:"path"` // of the member, such as "recurrence.cron"
	Message string `json:"message"`
}

// doubtful is a rule whose text may mean something else than it looks like.
type doubtful interface {
	// Doubts says what, in sentences without a full stop. compiled are the rule's instants.
	Doubts(s Setting, compiled *Schedule) []string
}

// Warnings returns what the writer of the timing might not expect, whatever the time: that it never runs, that a member
// is without effect, that the text of a rule looks like another language's. Paths are seen from the job's properties.
func (p *Plan) Warnings() []Warning {
	var list []Warning
	warn := func(path, message string) { list = append(list, Warning{path, message}) }
	r := p.timing.Recurrence
	if r == nil {
		if p.timing.Zone != nil && p.timing.Zone != time.UTC {
			warn("timeZone", p.timing.Zone.String()+" is without effect: a job without recurrence has no clock")
		}
		return list
	}
	path := "recurrence"
	if r.Rule != nil {
		path += "." + memberOf(r.Rule)
	}
	switch {
	case !r.End.IsZero() && r.End.Before(p.timing.Start):
		warn("recurrence.endTime", "never runs: endTime is before startTime")
	case !p.runs:
		warn(path, "never runs: "+p.whyNever())
	}
	if rule, ok := r.Rule.(doubtful); ok {
		for _, doubt := range rule.Doubts(p.timing.setting(p.created), p.rule) {
			warn(path, doubt)
		}
	}
	if zone := p.timing.zone(); zone != time.UTC {
		switch own := p.Zone(); {
		case r.Rule == nil:
			warn("timeZone", "the recurrence counts in UTC; timeZone "+zone.String()+" applies to cron and rrule only")
		case own.String() != zone.String():
			warn("timeZone", zone.String()+" is without effect: the rule names its own, "+own.String())
		}
	}
	return list
}

// ClockNotes returns what changes of the clock do to runs, the first of which is not before from.
func (p *Plan) ClockNotes(from time.Time, times []time.Time) []string {
	if len(times) == 0 || p.schedule == nil {
		return nil
	}
	if start := p.timing.Start; from.Before(start) {
		from = start
	}
	return p.schedule.Notes(work.New(listWork), from, times[len(times)-1])
}

// whyNever says why a recurrence never runs.
func (p *Plan) whyNever() string {
	if end := p.recurrence.End; !end.IsZero() {
		return "no time matches until the end, " + english.Stamp(end) + " UTC"
	}
	if last, ok := p.schedule.LastIn(work.New(listWork), p.created); ok {
		return "its last time was " + english.Stamp(last) + " UTC"
	}
	return "no time matches"
}
