package spec

import (
	"time"
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
