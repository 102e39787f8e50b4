package view

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Trial is what became of an attempt with which a job was tried out. No secret that was sent is in it.
type Trial struct {
	Job     string            `json:"job"`
	Type    string            `json:"actionType"`
	Target  string            `json:"target"`            // host and port, or what else it loads
	Key     string            `json:"idempotencyKey"`    // that was sent: no other attempt has it
	Stored  bool              `json:"stored"`            // it was the job as it is stored
	Kept    []string          `json:"kept,omitempty"`    // paths of secrets that the document left out: those of the stored job were used
	Outcome scheduler.Outcome `json:"outcome"`           // completed or failed
	Status  int               `json:"status,omitempty"`  // the target's status code, HTTP's or its nearest equivalent
	Message string            `json:"message,omitempty"` // all of it in a line
	Summary string            `json:"summary,omitempty"` // what became of it, in short, such as Bad Gateway
	Hint    string            `json:"hint,omitempty"`    // what may be done about a failure
	Headers []TrialHeader     `json:"headers,omitempty"` // of the answer: those that matter
	Body    string            `json:"body,omitempty"`    // of the answer, its beginning

	Started    time.Time         `json:"startTime"`
	Duration   scheduler.Seconds `json:"duration"`
	RetryAfter scheduler.Seconds `json:"retryAfter,omitzero"` // for how long the target asks to be left alone

	Warnings []spec.Warning `json:"warnings,omitempty"` // what its writer might not expect of the document
}

// TrialHeader is a header of the answer.
type TrialHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Failed reports whether the attempt did.
func (t *Trial) Failed() bool { return t.Outcome == scheduler.OutcomeFailed }
