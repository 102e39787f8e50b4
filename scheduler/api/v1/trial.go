package v1

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Trial is the result of a test run: one attempt of a job that leaves no history. It contains none of the secrets that
// were sent.
type Trial struct {
	Job     string            `json:"job"`
	Type    string            `json:"actionType"`
	Target  string            `json:"target"`            // host and port, or another limited resource
	Key     string            `json:"idempotencyKey"`    // unique to this attempt
	Stored  bool              `json:"stored"`            // the stored definition was used
	Kept    []string          `json:"kept,omitempty"`    // paths of secrets that the document omitted, taken from the stored job
	Outcome scheduler.Outcome `json:"outcome"`           // completed or failed
	Status  int               `json:"status,omitempty"`  // the target's status code: HTTP's, or the nearest equivalent
	Message string            `json:"message,omitempty"` // the result on one line
	Summary string            `json:"summary,omitempty"` // short reason, such as Bad Gateway
	Hint    string            `json:"hint,omitempty"`    // possible fix of a failure
	Headers []TrialHeader     `json:"headers,omitempty"` // relevant headers of the answer
	Body    string            `json:"body,omitempty"`    // beginning of the answer

	Started    time.Time         `json:"startTime"`
	Duration   scheduler.Seconds `json:"duration"`
	RetryAfter scheduler.Seconds `json:"retryAfter,omitzero"` // backoff that the target requests

	Warnings []spec.Warning `json:"warnings,omitempty"` // effects of the document that its author may not expect
}

// TrialHeader is a header of the answer.
type TrialHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Failed reports whether the attempt failed.
func (t *Trial) Failed() bool { return t.Outcome == scheduler.OutcomeFailed }
