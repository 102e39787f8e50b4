package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

// Timing is all that a job says about when it runs. [ReadTiming] reads one from JSON, [NewPlan] makes a plan of it.
type Timing struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is the job's for random positions (dsari's R). Empty: they are drawn anew by every parse.
	Seed string

	// Start is startTime. Zero: none.
	Start time.Time

	// Zone is timeZone, where a rule's clock hangs that names no zone of its own. nil: UTC. Azure recurrences count
	// UTC.
	Zone *time.Location

	// DST replaces the rule's own policy at changes of the clock.
	DST DST

	// Recurrence says when the job recurs. nil: it runs once.
	Recurrence *Recurrence

	stored bool // it was accepted once, by whatever version
}

// zone returns Zone with its default.
func (t Timing) zone() *time.Location { return Setting{Zone: t.Zone}.Location() }

// setting returns what a rule needs to know of a job created at that time.
func (t Timing) setting(created time.Time) Setting {
	s := Setting{Name: t.Name, Seed: t.Seed, Zone: t.Zone, DST: t.DST, Start: t.Start, Created: created}
	if t.Recurrence != nil {
		s.End, s.Grid = t.Recurrence.End, t.Recurrence.Anchor == AnchorGrid
	}
	return s
}

// ReadTiming reads the members startTime, timeZone, dst and recurrence of a job's properties. What is wrong goes to the
// object's reader, all of it; the result is then of no use. The caller calls o.Done, so that it may ask for members of
// its own, and gives the job's name.
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
