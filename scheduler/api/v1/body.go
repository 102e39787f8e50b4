package v1

import "github.com/carillon-sched/carillon/scheduler/document"

// RunRequest is the body of the operation runJob.
type RunRequest struct {
	Data document.Value `json:"data,omitzero"` // values for the job's templates, over the job's data; the history shows them
}

// StartedRun is the answer of the operation runJob.
type StartedRun struct {
	Occurrence string `json:"occurrence"` // its id
}

// ResubmitRequest is the body of the operation resubmitJob.
type ResubmitRequest struct {
	Occurrence string `json:"occurrence"`      // its nominal time, its id, the id of one of its attempts, or of one of its records
	Force      bool   `json:"force,omitempty"` // also when it succeeded
}

// CancelRequest is the body of the operation cancelJob.
type CancelRequest struct {
	Occurrence string `json:"occurrence,omitempty"` // its nominal time, its id, or the id of one of its attempts; default: all
	Reason     string `json:"reason,omitempty"`     // for the history and the audit log, at most 256 bytes
	DryRun     bool   `json:"dryRun,omitempty"`     // only name what would be canceled
}

// CancelCollectionRequest is the body of the operation cancelCollection.
type CancelCollectionRequest struct {
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
}

// PauseRequest is the body of the operation pauseJob.
type PauseRequest struct {
	Until string `json:"until"` // an instant, or, on the job's clock, 2h, 9:00, tomorrow 9:00 and the like
}

// OperationRequest is the body of the operation createOperation.
type OperationRequest struct {
	Verb       string   `json:"verb"`                 // one of [OperationVerbs]
	Jobs       []string `json:"jobs,omitzero"`        // names, as collection/job; or the jobs of a search:
	Collection string   `json:"collection,omitempty"` // only its jobs

	JobSearch //nolint:embeddedstructfieldcheck // the verb is the first field

	All         bool    `json:"all,omitempty"`           // required to name all jobs
	Until       string  `json:"until,omitempty"`         // of pause
	StopRetries bool    `json:"stopRetries,omitempty"`   // of disable: also cancels the occurrences that have begun
	Label       string  `json:"label,omitempty"`         // of label, name=value, and of unlabel, name
	FailedSince string  `json:"failedSince,omitempty"`   // of resubmit: an instant, or a length of time from now on, such as -1h
	FailedUntil string  `json:"failedUntil,omitempty"`   // in the same forms; default: now
	Rate        float64 `json:"ratePerSecond,omitempty"` // at most this many jobs per second; default: no limit
	DryRun      bool    `json:"dryRun,omitempty"`        // only count; of resubmit, failures has the occurrences
}

// AcknowledgeRequest is the body of the operation acknowledgeFailure.
type AcknowledgeRequest struct {
	Note string `json:"note,omitempty"` // for others, at most 256 bytes
}

// MuteRequest is the body of the operation muteFailure.
type MuteRequest struct {
	Until string `json:"until"` // an instant, or a length of time from now on, such as 2h; at most 7 days from now
}

// SharedSecretRequest is the body of the operation putSecret.
type SharedSecretRequest struct {
	Value       string `json:"value"` // no answer shows it
	Description string `json:"description,omitempty"`
}
