package v1

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a job in the form of Azure Scheduler.
type Job struct {
	Job        *scheduler.Job
	Status     Status
	Outcome    scheduler.Outcome // of the last run, in answers to a [scheduler.JobQuery] that filters by it
	Superseded bool              // the edit was older than the stored definition and had no effect

	// Fields of the answer to an edit. A put document may have them: they are read-only and ignored.
	Result   Result         // whether the edit changed the job; "" in other answers
	Warnings []spec.Warning // effects of the edit that its author may not expect
	DryRun   *DryRun        // the effect of a dry run; nil otherwise

	now time.Time // when the job was read
}

// Result is the effect of an edit: a put, a patch, or a change of state or pause.
type Result string

// The results.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged"
)

// DryRun is the effect that an edit would have on a job.
type DryRun struct {
	NextRuns []time.Time       `json:"nextRuns"`                 // the next nominal times, at most 10; none for a job that would not run
	Notes    []string          `json:"notes"`                    // effects of daylight saving time on these runs
	Before   []time.Time       `json:"nextRunsBefore,omitempty"` // the next nominal times of the stored job
	Changes  []document.Change `json:"changes,omitempty"`        // differences from the stored job
}

// foreseen limits the runs in a [DryRun].
const foreseen = 10

// NewDryRun returns the next runs of a job with the baton b, nil for a job without one.
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

// WithStored adds the stored job to a dry run: before is nil for a new job; b is its baton, or nil.
func (d *DryRun) WithStored(before *scheduler.Job, b *scheduler.Baton, after *scheduler.Job) *DryRun {
	if d == nil {
		d = &DryRun{NextRuns: []time.Time{}, Notes: []string{}}
	}
	if b != nil && before.State == scheduler.Enabled {
		d.Before = before.Upcoming(b, foreseen)
	}
	d.Changes = document.Difference("properties", wholeOf(before), wholeOf(after))
	return d
}

// wholeOf returns a job's own properties with its state and its pause; nothing for nil.
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

// Status is the read-only status of a job.
type Status struct {
	Schedule    string    `json:"schedule"`                          // in English; empty for a damaged job
	Occurrences int       `json:"occurrenceCount"`                   // started occurrences, scheduled and manual
	Executions  int       `json:"executionCount"`                    // attempts of the main action, as in Azure Scheduler
	Failures    int       `json:"failureCount"`                      // failed attempts of the main action
	Errors      int       `json:"errorActionCount,omitempty"`        // attempts of error actions
	ErrorFails  int       `json:"errorActionFailureCount,omitempty"` // failed attempts of error actions
	Faults      int       `json:"faultedCount"`                      // occurrences that failed after all retries
	Last        time.Time `json:"lastExecutionTime,omitzero"`        // start of the last attempt; zero: none
	Next        time.Time `json:"nextExecutionTime,omitzero"`        // due time of the next or the current attempt; zero: none, or on events
	Running     bool      `json:"running,omitempty"`                 // a worker has the due baton: the job is running, or is about to run
	Retry       int       `json:"retryCount,omitempty"`              // retries of the current occurrence so far
	// in English, what must change before the job runs; Next is then zero
	WaitsFor string `json:"waitsFor,omitempty"`
	// summary of an ended job, or the damage of its definition
	Message string `json:"message,omitempty"`
}

// AlwaysFails reports whether the job has run more than once, and failed after all retries each time.
func (s *Status) AlwaysFails() bool { return s.Occurrences > 1 && s.Faults >= s.Occurrences }

// secretPaths returns the paths of the secrets in a definition.
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
		Errors: p.Errors, ErrorFails: p.ErrorFails, Last: p.Last.UTC(), Message: j.TerminalReason(),
	}}
}

// NewDamaged returns the view of a job whose stored definition is unreadable.
func NewDamaged(e *scheduler.DamagedError) *Job {
	return &Job{Job: e.Job(), Status: Status{Message: e.Says()}}
}

// NewRunning returns the view of a job and its baton. withWorker: a worker has received the baton. Workers also hold
// batons that are not due yet; their jobs are still waiting.
func NewRunning(j *scheduler.Job, b *scheduler.Baton, withWorker bool, now time.Time) *Job {
	v := NewJob(j, b.Progress, now)
	running := withWorker && !b.MayRun().After(now)
	v.Status.Running, v.Status.Retry = running, b.Attempt
	if !j.Never(b.Nominal) {
		v.Status.Next = b.MayRun().UTC()
	}
	return v
}

// ETag returns the ETag of the job, "" in a dry run.
func (v *Job) ETag() string {
	if v.DryRun != nil {
		return ""
	}
	return v.Job.ETag()
}

// Closed returns the view of a job whose collection prevents its runs, with the reason. Only an occurrence that has
// started, or a manual run, can be running.
func (v *Job) Closed(b *scheduler.Baton, why string) *Job {
	if b.NeedsOpen() {
		v.Status.Running, v.Status.Next = false, time.Time{}
		v.Status.WaitsFor = "collection " + v.Job.Key.Collection + ", which " + why
	}
	return v
}

// resource is an object in the form of Azure's resource manager.
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
