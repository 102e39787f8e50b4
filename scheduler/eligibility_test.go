package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// Columns of the table of standings. Each value is a set, and a row covers all combinations.
type (
	states []scheduler.State
	kinds  []scheduler.Kind
	either []bool
)

var (
	anyState = states{scheduler.Enabled, scheduler.Disabled, scheduler.Completed, scheduler.Faulted}
	enabled  = states{scheduler.Enabled}
	disabled = states{scheduler.Disabled}
	final    = states{scheduler.Completed, scheduler.Faulted}

	anyKind        = kinds{scheduler.Planned, scheduler.Manual, scheduler.Detached, scheduler.ManualDetached}
	planned        = kinds{scheduler.Planned}
	manual         = kinds{scheduler.Manual}
	detached       = kinds{scheduler.Detached}
	manualDetached = kinds{scheduler.ManualDetached}

	yes        = either{true}
	no         = either{false}
	whether    = either{true, false}
	openOrShut = either{true, false}
)

// who is the current owner of the baton's job name.
type who string

const (
	itsJob  who = "its job"
	nobody  who = "nobody"
	another who = "another job"
)

// TestStandingOf covers every combination of job state, kind of run, begun or not, and collection state: exactly one
// row matches each.
func TestStandingOf(t *testing.T) {
	rows := []struct {
		name  string
		has   who
		state states
		kind  kinds
		begun either
		open  either
		want  scheduler.Eligibility
	}{
		{"a planned occurrence of an enabled job", itsJob, enabled, planned, no, yes, scheduler.Eligible},
		{"a planned occurrence of an enabled job in a closed collection", itsJob, enabled, planned, no, no, scheduler.Closed},
		{"a planned occurrence of an enabled job that has begun, the collection open or not", itsJob, enabled, planned, yes, openOrShut, scheduler.Eligible},
		{"a planned occurrence of a disabled job", itsJob, disabled, planned, no, openOrShut, scheduler.JobEnded},
		{"a planned occurrence of a disabled job that has begun", itsJob, disabled, planned, yes, openOrShut, scheduler.Eligible},
		{"a planned occurrence of a job that has come to its end", itsJob, final, planned, whether, openOrShut, scheduler.JobEnded},

		{"a run by hand of an enabled job, the collection open or not", itsJob, enabled, manual, whether, openOrShut, scheduler.Eligible},
		{"a run by hand of a job that was disabled then", itsJob, disabled, manual, whether, openOrShut, scheduler.Eligible},
		{"a run by hand of a job that has come to its end", itsJob, final, manual, whether, openOrShut, scheduler.JobEnded},

		{"a detached occurrence of an enabled job, the collection open or not", itsJob, enabled, detached, whether, openOrShut, scheduler.Eligible},
		{"a detached occurrence of a disabled job", itsJob, disabled, detached, no, openOrShut, scheduler.Dropped},
		{"a detached occurrence of a disabled job that has begun", itsJob, disabled, detached, yes, openOrShut, scheduler.Eligible},
		{"a detached occurrence of a job whose schedule has come to its end", itsJob, final, detached, whether, openOrShut, scheduler.Eligible},

		{"a run by hand of a disabled job", itsJob, disabled, manualDetached, whether, openOrShut, scheduler.Eligible},
		{"a run by hand of a job that was enabled then", itsJob, enabled, manualDetached, whether, openOrShut, scheduler.Eligible},
		{"a detached run by hand of a job that has come to its end", itsJob, final, manualDetached, whether, openOrShut, scheduler.Eligible},

		{"whatever it is, its job was deleted", nobody, anyState, anyKind, whether, openOrShut, scheduler.Gone},
		{"whatever it is, another job has the name", another, anyState, anyKind, whether, openOrShut, scheduler.Foreign},
	}
	own := job(t, minutely)
	for c := range combinations {
		name := fmt.Sprintf("%s (%s); kind %d, begun %t, open %t", c.has, c.state, c.kind, c.begun, c.open)
		b := baton(own, "09:00:00", of(c.kind))
		if c.begun {
			begun(&b)
		}
		var j *scheduler.Job
		switch c.has {
		case itsJob:
			j = in(c.state, own)
		case another:
			j = namesake(in(c.state, own))
		case nobody:
		}
		answers := 0
		for _, row := range rows {
			if row.has != c.has || !slices.Contains(row.state, c.state) || !slices.Contains(row.kind, c.kind) ||
				!slices.Contains(row.begun, c.begun) || !slices.Contains(row.open, c.open) {
				continue
			}
			answers++
			if got := b.EligibilityOf(j, c.open); got != row.want {
				t.Errorf("%s: got %d, want %d: %s", name, got, row.want, row.name)
			}
		}
		if answers != 1 {
			t.Errorf("%s: %d rows answer", name, answers)
		}
	}
}

// combination is one case of the product that the rows cover.
type combination struct {
	has         who
	state       scheduler.State
	kind        scheduler.Kind
	begun, open bool
}

// combinations yields every case.
func combinations(yield func(combination) bool) {
	for _, has := range []who{itsJob, nobody, another} {
		for _, state := range anyState {
			for _, kind := range anyKind {
				for _, begun := range whether {
					for _, open := range openOrShut {
						if !yield(combination{has, state, kind, begun, open}) {
							return
						}
					}
				}
			}
		}
	}
}

// TestBelongsTo checks that a baton belongs to the job with its uid, or to a job of its name whose definition is too
// damaged to have one.
func TestBelongsTo(t *testing.T) {
	j := job(t, minutely)
	b, damaged := baton(j, "09:00:00"), (&scheduler.DamagedError{Key: key}).Job()
	for name, test := range map[string]struct {
		b    scheduler.Baton
		j    *scheduler.Job
		want bool
	}{
		"its job":                 {b, j, true},
		"a later job of the name": {b, namesake(j), false},
		"a damaged one":           {b, damaged, true},
	} {
		if got := test.b.BelongsTo(test.j); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
