package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec/azure"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

// Recurrence describes when a job recurs: with Azure Scheduler's fields, or by a rule in another language.
// [ReadRecurrence] reads one from JSON.
type Recurrence struct {
	// Rule is the text of recurrence.cron or recurrence.rrule. With it, of the other fields only Count, End and Anchor
	// are used.
	Rule Rule

	// Frequency is the unit between occurrences. Required without a Rule.
	Frequency Frequency

	// Interval is the number of units between occurrences. At most 18 months, 78 weeks, 548 days, or 1000 of the
	// shorter units; years have no limit. Default: 1.
	Interval int

	// Count is the number of runs until the job is completed. A schedule does not know what ran, so the caller counts
	// ([Plan.MaxRuns]). Zero: no limit. With End, whichever comes first ends the job.
	Count int

	// End is the last instant at which the job may run. It may lie in the past: the job then never runs. Zero: no end.
	End time.Time

	// Schedule limits or expands the occurrences within the frequency. Zero: as is.
	Schedule Elements

	// Anchor is the base of a Frequency or an @recur. [ReadRecurrence] defaults to the start, and for an @recur to the
	// last execution. See [Plan.Moved].
	Anchor Anchor
}

// azure returns the recurrence without the common fields of all languages, except its end.
func (r Recurrence) azure() azure.Recurrence {
	return azure.Recurrence{Frequency: r.Frequency, Interval: r.Interval, Schedule: r.Schedule, Anchor: r.Anchor, End: r.End}
}

// Validate returns nil or [document.Problems]: everything wrong in r, with paths seen from the recurrence.
func (r Recurrence) Validate() error {
	reader := document.NewReader()
	if r.Rule == nil {
		r.azure().Check(reader)
	}
	if r.Count < 0 {
		reader.Problem("count", "%d is less than 1", r.Count)
	}
	return reader.Err()
}

// Compile returns the occurrences of r, which has no Rule, from start on. With a zero start, occurrences count from the
// creation time, on the full minute if r has a schedule, and [Plan] adds an immediate first run. The error is a
// [document.Problems].
func (r Recurrence) Compile(start, created time.Time) (*Schedule, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r.azure().Compile(start, created), nil
}

// ShortestInterval returns the smallest possible length of the interval of r, which has no Rule, for comparison with a
// quota: a month can have 28 days, and a day with a clock change 22 hours.
func (r Recurrence) ShortestInterval() time.Duration { return r.azure().ShortestInterval() }

// Timing is all that a job says about when it runs. [ReadTiming] reads one from JSON, [NewPlan] makes a plan of it.
type Timing struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is the job's seed for random positions (dsari's R). Empty: every parse draws new positions.
	Seed string

	// Start is startTime. Zero: none.
	Start time.Time

	// Zone is the field timeZone, for rules that name no zone themselves. nil: UTC. Azure recurrences use UTC.
	Zone *time.Location

	// DST replaces the rule's own policy at changes of the clock.
	DST DST

	// Recurrence says when the job recurs. nil: it runs once.
	Recurrence *Recurrence

	stored bool // the timing was accepted before, possibly by another version
}

// zone returns Zone with its default.
func (t Timing) zone() *time.Location { return Context{Zone: t.Zone}.Location() }

// context returns the setting of a rule for a job created at that time.
func (t Timing) context(created time.Time) Context {
	s := Context{Name: t.Name, Seed: t.Seed, Zone: t.Zone, DST: t.DST, Start: t.Start, Created: created}
	if t.Recurrence != nil {
		s.End, s.Grid = t.Recurrence.End, t.Recurrence.Anchor == AnchorGrid
	}
	return s
}

// ReadTiming reads the fields startTime, timeZone, dst and recurrence of a job's properties. The object's reader
// collects all problems; do not use the result if there are any. The caller reads its own fields, sets the job's name,
// and calls o.Done.
func ReadTiming(o *document.Object) Timing {
	var t Timing
	t.Start, _ = o.Time("startTime")
	if name, ok := o.String("timeZone"); ok {
		loc, err := LoadZone(name)
		if err != nil {
			o.Problem("timeZone", "%s", err)
		}
		t.Zone = loc
	}
	if inner, ok := o.Object("dst"); ok {
		t.DST = instant.ReadDST(inner)
		inner.Done()
	}
	if inner, ok := o.Object("recurrence"); ok {
		r := ReadRecurrence(inner)
		inner.Done()
		t.Recurrence, t.stored = &r, o.Reader().Stored
	}
	return t
}
