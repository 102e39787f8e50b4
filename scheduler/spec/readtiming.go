package spec

import (
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

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
