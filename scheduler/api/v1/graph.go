package v1

import "github.com/carillon-sched/carillon/scheduler"

// Graph has the events and jobs that start jobs.
type Graph struct {
	Jobs  []GraphJob  `json:"jobs"`  // by name
	Edges []GraphEdge `json:"edges"` // by source and job
}

// GraphJob is a job that starts others, or that events or other jobs start.
type GraphJob struct {
	Name  string `json:"name"`            // collection/job
	State string `json:"state,omitempty"` // missing for a job that does not exist; absent if you may not see it
}

// GraphEdge says that the end of a job, or an event, starts a job.
type GraphEdge struct {
	Event    string              `json:"event,omitempty"`    // collection.event
	Job      string              `json:"job,omitempty"`      // instead of it: the job that ends
	Outcomes []scheduler.Outcome `json:"outcomes,omitempty"` // of that job: any of these
	Starts   string              `json:"starts"`             // the job that starts
}

// Source returns the event or job that starts the job.
func (e *GraphEdge) Source() string { return e.Event + e.Job }
