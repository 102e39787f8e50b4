package view

import "time"

// Operation applies one verb to many jobs. It has the request and the progress.
type Operation struct {
	ID   string          `json:"id"`
	Verb string          `json:"verb"` // one of [OperationVerbs]
	By   OperationCaller `json:"by"`

	// The selected jobs: a list of names, or a search in one collection or in all.
	Jobs       []string `json:"jobs,omitempty"` // collection/job
	Collection string   `json:"collection,omitempty"`

	JobSearch //nolint:embeddedstructfieldcheck // the id and the verb are the first members

	Until       string    `json:"until,omitempty"`         // pause: as [Operation] Created is read by each job's clock
	StopRetries bool      `json:"stopRetries,omitempty"`   // disable: also cancels attempts in flight and waiting retries
	Label       string    `json:"label,omitempty"`         // label: name=value; unlabel: name
	FailedSince time.Time `json:"failedSince,omitzero"`    // resubmit: which occurrences, by when they ended
	FailedUntil time.Time `json:"failedUntil,omitzero"`    // Default: Created
	Target      string    `json:"target,omitempty"`        // resubmit: only what called this host, or host and port
	Rate        float64   `json:"ratePerSecond,omitempty"` // jobs, or occurrences, a second; 0: no limit

	State    OperationState    `json:"state"`
	Created  time.Time         `json:"created"`
	Ended    time.Time         `json:"ended,omitzero"`
	Expected int               `json:"expected"` // jobs, or occurrences, when it was created
	Done     int               `json:"done"`
	Begun    int               `json:"begun,omitempty"`    // disable: active occurrences, which continue or, with StopRetries, were canceled
	Counts   map[string]int    `json:"counts,omitempty"`   // by result: one of [OperationResults]
	Failures []OperationResult `json:"failures,omitempty"` // the first [MaxFailures]
}

// OperationCaller is who asked for an operation.
type OperationCaller struct {
	Name string `json:"name,omitempty"`
	Via  string `json:"via,omitempty"`
}

// The verbs of operations.
const (
	VerbEnable   = "enable"
	VerbDisable  = "disable"
	VerbPause    = "pause"
	VerbRun      = "run"
	VerbDelete   = "delete"
	VerbLabel    = "label"
	VerbUnlabel  = "unlabel"
	VerbResubmit = "resubmit"
)

// OperationVerbs are all of them.
var OperationVerbs = []string{VerbEnable, VerbDisable, VerbPause, VerbRun, VerbDelete, VerbLabel, VerbUnlabel, VerbResubmit}

// OperationState is how far an operation is.
type OperationState string

// The states of operations.
const (
	Proposed  OperationState = "proposed" // waits for its confirmation
	Running   OperationState = "running"
	Completed OperationState = "completed"
	Canceled  OperationState = "canceled"
)

// The results of an operation for a job or an occurrence.
const (
	ResultChanged   = "changed"
	ResultUnchanged = "unchanged" // it was so already
	ResultMissing   = "missing"   // deleted since
	ResultFailed    = "failed"
)

// OperationResults are all of them.
var OperationResults = []string{ResultChanged, ResultUnchanged, ResultMissing, ResultFailed}

// MaxFailures is how many failures an operation keeps.
const MaxFailures = 1000

// OperationResult is a job, or an occurrence, for which an operation failed.
type OperationResult struct {
	Job        string `json:"job"` // collection/job
	Occurrence string `json:"occurrence,omitempty"`
	Message    string `json:"message"`
}

// Over reports whether the operation has ended.
func (o *Operation) Over() bool { return o.State == Completed || o.State == Canceled }
