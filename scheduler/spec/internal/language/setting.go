package language

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Setting is what a rule needs to know beside its text.
type Setting struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is where random positions (dsari's R) are drawn from, so that they are the same on every host and after
	// every restart. Empty: they were drawn when the text was parsed.
	Seed string

	// Zone is where the rule's clock hangs if the text names no zone. nil: UTC.
	Zone *time.Location

	// DST replaces parts of the rule's own policy at changes of the clock.
	DST instant.DST

	// Start is the job's startTime. Nothing is due before it, and rules that are counted from somewhere are counted
	// from it if they do not say. Zero: none.
	Start time.Time

	// Created is when the job was created.
	Created time.Time

	// End is the last instant at which the job may run. Zero: none.
	End time.Time

	// Grid makes an @recur count from the start alone, and not from the last execution.
	Grid bool

	// Work counts what compiling takes. Who compiles with it asks it whether it is exhausted, before the rule's instants are
	// used. nil: it is not counted.
	Work *work.Meter
}

// Location returns the setting's zone with its default.
func (s Setting) Location() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// Begin returns the instant from which the rule counts: the start or, failing that, the creation.
func (s Setting) Begin() time.Time {
	if s.Start.IsZero() {
		return s.Created
	}
	return s.Start
}
