package spec

import (
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Timing is all that a job says about when it runs. [ReadTiming] reads one from JSON, [NewPlan] makes a plan of it.
type Timing struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is the job's for random positions (dsari's R). Empty: they are drawn anew by every parse.
	Seed string

	// Start is startTime. Zero: none.
	Start time.Time

	// Zone is timeZone, where a rule's clock hangs that names no zone of its own. nil: UTC. Azure recurrences count UTC.
	Zone *time.Location

	// DST replaces the rule's own policy at changes of the clock.
	DST DST

	// Recurrence says when the job recurs. nil: it runs once.
	Recurrence *Recurrence
}

// zone returns Zone with its default.
func (t Timing) zone() *time.Location { return Setting{Zone: t.Zone}.zone() }

// ReadTiming reads the members startTime, timeZone, dst and recurrence of a job's properties. What is wrong goes to the
// object's reader, all of it; the result is then of no use. The caller calls o.Done, so that it may ask for members of its
// own, and gives the job's name.
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
		t.DST = readDST(inner)
		inner.Done()
	}
	if inner, ok := o.Object("recurrence"); ok {
		r := ReadRecurrence(inner)
		inner.Done()
		t.Recurrence = &r
	}
	return t
}

func readDST(o *document.Object) DST {
	var d DST
	if name, ok := o.Enum("gap", gapNames[1:]...); ok {
		d.Gap = Gap(indexOf(gapNames, name))
	}
	if name, ok := o.Enum("overlap", overlapNames[1:]...); ok {
		d.Overlap = Overlap(indexOf(overlapNames, name))
	}
	return d
}

// indexOf returns the index of a name that is in the list, 0 if it is not.
func indexOf(names []string, name string) uint8 {
	for i := range names {
		if names[i] == name {
			return uint8(i)
		}
	}
	return 0
}

// setting returns what a rule needs to know of a job created at that time.
func (t Timing) setting(created time.Time) Setting {
	s := Setting{Name: t.Name, Seed: t.Seed, Zone: t.Zone, DST: t.DST, Start: t.Start, Created: created}
	if t.Recurrence != nil {
		s.End = t.Recurrence.End
	}
	return s
}

// problemsOf turns what is wrong with the text of a schedule into problems at a path.
func problemsOf(path string, err error) document.Problems {
	var list document.Problems
	for _, one := range flatten(err) {
		list = append(list, document.Problem{Path: path, Message: one.Error()})
	}
	return list
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, flatten(one)...)
	}
	return list
}
