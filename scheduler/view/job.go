package view

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a job as users see it, in the form of Azure Scheduler.
type Job struct {
	Job        *scheduler.Job
	Status     Status
	Outcome    scheduler.Outcome // how what it did last ended, in answers to a [scheduler.JobQuery] that asks for it
	Superseded bool              // the edit was older than what the job has, and was left out

	// The answer to an edit has these in addition. A document that is put may have
	// them: they are read-only, and ignored.
	Result   Result         // whether the edit changed the job; "" in other answers
	Warnings []spec.Warning // what the writer might not expect
	DryRun   *DryRun        // of what would be; nil: it is

	now time.Time // when it was read
}

// Result is the effect of an edit: a put, a patch, or a change of state or pause.
type Result string

// The results.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged"
)

// DryRun is what is told of a job that would be.
type DryRun struct {
	NextRuns []time.Time       `json:"nextRuns"`                 // the nominal times, a few; none for a job that would not run
	Notes    []string          `json:"notes"`                    // what changes of the clock do to them
	Before   []time.Time       `json:"nextRunsBefore,omitempty"` // those of the job as it is
	Changes  []document.Change `json:"changes,omitempty"`        // what would be different
}

// foreseen is how many runs a [DryRun] tells of.
const foreseen = 10

// NewDryRun tells what would follow from the baton b, nil for a job without one.
func NewDryRun(j *scheduler.Job, b *scheduler.Baton) *DryRun {
	if b == nil || j.State != scheduler.Enabled {
		return nil
	}
	d := &DryRun{NextRuns: j.Upcoming(b, foreseen), Notes: []string{}}
	if n := len(d.NextRuns); n > 0 {
		d.Notes = append(d.Notes, j.Plan.ClockNotes(d.NextRuns[0], d.NextRuns)...)
		if n < foreseen && spec.GaveUp(j.Plan.Next(d.NextRuns[n-1])) {
			d.Notes = append(d.Notes, "the list is cut short: it would take too much work to find more runs of this rule")
		}
	}
	return d
}

// Over adds what there is now to a dry run: the job before, nil for none, and its baton, nil for one that has none.
func (d *DryRun) Over(before *scheduler.Job, b *scheduler.Baton, after *scheduler.Job) *DryRun {
	if d == nil {
		d = &DryRun{NextRuns: []time.Time{}, Notes: []string{}}
	}
	if b != nil && before.State == scheduler.Enabled {
		d.Before = before.Upcoming(b, foreseen)
	}
	d.Changes = document.Difference("properties", wholeOf(before), wholeOf(after))
	return d
}

// wholeOf returns a job's own properties with its state and its pause, nothing for none.
func wholeOf(j *scheduler.Job) document.Value {
	if j == nil {
		return document.ObjectValue()
	}
	members := slices.Clone(j.Def.Document().Members())
	if !j.PausedUntil.IsZero() {
		members = append(members, document.Member{Name: "pausedUntil", Value: document.StringValue(j.PausedUntil.Format(time.RFC3339Nano))})
	}
	return document.ObjectValue(append(members, document.Member{Name: "state", Value: document.StringValue(string(j.State))})...)
}

// Status is what the scheduler reports of a job.
type Status struct {
	Schedule    string    `json:"schedule"`                          // in English; empty for a damaged job
	Occurrences int       `json:"occurrenceCount"`                   // occurrences begun, by schedule or by hand
	Executions  int       `json:"executionCount"`                    // attempts of the main action, as in Azure Scheduler
	Failures    int       `json:"failureCount"`                      // of these, the failed ones
	Errors      int       `json:"errorActionCount,omitempty"`        // attempts of errorActions
	ErrorFails  int       `json:"errorActionFailureCount,omitempty"` // of these, the failed ones
	Faults      int       `json:"faultedCount"`                      // occurrences that failed after all retries
	Last        time.Time `json:"lastExecutionTime,omitzero"`        // start of the last attempt; zero: none
	Next        time.Time `json:"nextExecutionTime,omitzero"`        // when the attempt that comes next, or is under way, is due; zero: none
	Running     bool      `json:"running,omitempty"`                 // the baton is due, and with a worker: running, or about to
	Retry       int       `json:"retryCount,omitempty"`              // of the occurrence under way: retries so far
	WaitsFor    string    `json:"waitsFor,omitempty"`                // what must change before the job runs, in English; there is no Next then
	Over        string    `json:"message,omitempty"`                 // what a job at its end has come to ([scheduler.Job.Over]), or what is damaged
}

// secretPaths returns where the secrets of a definition stand.
func secretPaths(d *scheduler.Definition) []string {
	if !d.HasSecrets() {
		return nil
	}
	open, locked := d.Document().SecretPaths()
	return append(open, locked...)
}

// NewJob returns the view of a job that has no baton, with the progress p at now.
func NewJob(j *scheduler.Job, p scheduler.Progress, now time.Time) *Job {
	return &Job{Job: j, now: now, Status: Status{
		Occurrences: p.Number, Executions: p.Executions, Failures: p.Failures, Faults: p.Faults,
		Errors: p.Errors, ErrorFails: p.ErrorFails, Last: p.Last.UTC(), Over: j.Over(),
	}}
}

// NewDamaged returns what can be shown of a job whose document in the store cannot be read.
func NewDamaged(e *scheduler.DamagedError) *Job {
	return &Job{Job: e.Job(), Status: Status{Over: e.Says()}}
}

// NewRunning returns the view of a job with its baton, which may be with a worker.
// A worker holds those that are due soon: these wait still.
func NewRunning(j *scheduler.Job, b *scheduler.Baton, withWorker bool, now time.Time) *Job {
	v := NewJob(j, b.Progress, now)
	running := withWorker && !b.MayRun().After(now)
	v.Status.Running, v.Status.Retry, v.Status.Next = running, b.Attempt, b.MayRun().UTC()
	return v
}

// ETag is that of the job; "" for one that would be.
func (v *Job) ETag() string {
	if v.DryRun != nil {
		return ""
	}
	return v.Job.ETag()
}

// Closed returns the view of a job whose collection does not let it run, and why. It is neither
// running nor about to, unless it was begun before or is a run by hand.
func (v *Job) Closed(b *scheduler.Baton, why string) *Job {
	if b.NeedsOpen() {
		v.Status.Running, v.Status.Next = false, time.Time{}
		v.Status.WaitsFor = "collection " + v.Job.Key.Collection + ", which " + why
	}
	return v
}

// resource is anything as Azure's resource manager shows it.
type resource struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Name       string `json:"name"`
	Properties any    `json:"properties"`
}

// The types of resources.
const (
	CollectionType = "Microsoft.Scheduler/jobCollections"
	jobType        = CollectionType + "/jobs"
	recordType     = jobType + "/history"
)

func collectionID(name string) string { return "/jobCollections/" + name }

func jobID(k scheduler.Key) string { return collectionID(k.Collection) + "/jobs/" + k.Job }
