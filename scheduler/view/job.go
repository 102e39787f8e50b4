package view

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Job is a job as users see it, in the form of Azure Scheduler.
type Job struct {
	Job        *scheduler.Job
	Status     Status
	Superseded bool // the edit was older than what the job has, and was left out
}

// Status is what the scheduler reports of a job.
type Status struct {
	Schedule    string    `json:"schedule"`                   // in English
	Occurrences int       `json:"occurrenceCount"`            // occurrences begun, by schedule or by hand
	Executions  int       `json:"executionCount"`             // attempts run, as in Azure Scheduler
	Failures    int       `json:"failureCount"`               // attempts that failed
	Faults      int       `json:"faultedCount"`               // occurrences that failed after all retries
	Last        time.Time `json:"lastExecutionTime,omitzero"` // start of the last attempt; zero: none
	Next        time.Time `json:"nextExecutionTime,omitzero"` // when the attempt that comes next, or is under way, is due; zero: none
	Running     bool      `json:"running,omitempty"`          // the baton is with a worker: running, or about to
	Retry       int       `json:"retryCount,omitempty"`       // of the occurrence under way: retries so far
}

// shownStatus is a status with what it takes the definition to tell.
type shownStatus struct {
	Status

	Secrets []string `json:"secrets,omitempty"` // paths of members that the job has and that no answer shows
}

// secretPaths returns where the secrets of a definition stand.
func secretPaths(d *scheduler.Definition) []string {
	if !d.HasSecrets() {
		return nil
	}
	open, locked := d.Document().SecretPaths()
	return append(open, locked...)
}

// NewJob returns the view of a job that has no baton, with the progress p.
func NewJob(j *scheduler.Job, p scheduler.Progress) *Job {
	return &Job{Job: j, Status: Status{
		Occurrences: p.Number, Executions: p.Executions, Failures: p.Failures, Faults: p.Faults, Last: p.Last.UTC(),
	}}
}

// NewRunning returns the view of a job with its baton, which may be with a worker.
func NewRunning(j *scheduler.Job, b *scheduler.Baton, running bool) *Job {
	v := NewJob(j, b.Progress)
	v.Status.Running, v.Status.Retry, v.Status.Next = running, b.Attempt, b.MayRun().UTC()
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
	collectionType = "Microsoft.Scheduler/jobCollections"
	jobType        = collectionType + "/jobs"
	recordType     = jobType + "/history"
)

func collectionID(name string) string { return "/jobCollections/" + name }

func jobID(k scheduler.Key) string { return collectionID(k.Collection) + "/jobs/" + k.Job }

// MarshalJSON returns the job's document: its own properties, and its state and
// status.
func (v *Job) MarshalJSON() ([]byte, error) {
	k, status := v.Job.Key, v.Status
	status.Schedule = v.Job.Plan.Describe()
	shown, err := document.Parse(JSON(shownStatus{status, secretPaths(v.Job.Def)}))
	if err != nil {
		return nil, err
	}
	properties := append([]document.Member{}, v.Job.Def.Document().Members()...)
	properties = append(properties,
		document.Member{Name: "state", Value: document.StringValue(string(v.Job.State))},
		document.Member{Name: "status", Value: shown})
	return JSON(resource{jobID(k), jobType, k.String(), document.ObjectValue(properties...)}), nil
}
