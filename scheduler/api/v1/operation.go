package v1

import "time"

// Operation is a bulk operation, which applies one verb to many jobs: its request and its progress.
type Operation struct {
	ID   string          `json:"id"`
	Verb string          `json:"verb"` // one of [OperationVerbs]
	By   OperationCaller `json:"by"`

	// The selected jobs: a list of names, possibly empty, or a search in one collection or in all. The target of resubmit selects
	// occurrences: those that called it.
	Jobs       []string `json:"jobs,omitzero"` // collection/job
	Collection string   `json:"collection,omitempty"`

	JobSearch //nolint:embeddedstructfieldcheck // the id and the verb are the first members

	Until       string    `json:"until,omitempty"`         // pause: the end, relative to Created; the clock of each job applies
	StopRetries bool      `json:"stopRetries,omitempty"`   // disable: also cancels attempts in flight and waiting retries
	Label       string    `json:"label,omitempty"`         // label: name=value; unlabel: name
	FailedSince time.Time `json:"failedSince,omitzero"`    // resubmit: the earliest end of the occurrences
	FailedUntil time.Time `json:"failedUntil,omitzero"`    // resubmit: the latest end of the occurrences. Default: Created
	Rate        float64   `json:"ratePerSecond,omitempty"` // jobs or occurrences per second; 0: no limit

	State    OperationState `json:"state"`
	Created  time.Time      `json:"created"`
	Ended    time.Time      `json:"ended,omitzero"`
	Expected int            `json:"expected"` // jobs or occurrences at its creation
	Done     int            `json:"done"`
	// disable: active occurrences, which continue or, with StopRetries, were canceled
	Begun    int               `json:"begun,omitempty"`
	Counts   map[string]int    `json:"counts,omitempty"`   // by result: one of [OperationResults]
	Failures []OperationResult `json:"failures,omitempty"` // the first [MaxFailures]
}

// OperationCaller is the caller who requested an operation.
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

// OperationVerbs lists the verbs.
var OperationVerbs = []string{VerbEnable, VerbDisable, VerbPause, VerbRun, VerbDelete, VerbLabel, VerbUnlabel, VerbResubmit}

// OperationState is the stage of an operation.
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
	ResultUnchanged = "unchanged" // the job already had the requested state
	ResultMissing   = "missing"   // the job was deleted in the meantime
	ResultFailed    = "failed"
)

// OperationResults lists the results.
var OperationResults = []string{ResultChanged, ResultUnchanged, ResultMissing, ResultFailed}

// MaxFailures limits the failures that an operation keeps.
const MaxFailures = 1000

// OperationResult is a job or an occurrence for which an operation failed.
type OperationResult struct {
	Job        string `json:"job"` // collection/job
	Occurrence string `json:"occurrence,omitempty"`
	Message    string `json:"message"`
}

// HasEnded reports whether the operation has ended.
func (o *Operation) HasEnded() bool { return o.State == Completed || o.State == Canceled }
