package v1

import "time"

// FailureGroup counts failed attempts that have one cause: the target, the class and the type of the action. It counts the
// jobs that the caller may see. A group is kept for a day after its last failure.
type FailureGroup struct {
	ID          string       `json:"id"` // follows from the target, the class and the type
	State       FailureState `json:"state"`
	Target      string       `json:"target"`            // host and port
	Class       string       `json:"class"`             // the status of the response, such as 503, or a kind of error, such as timeout
	ActionType  string       `json:"actionType"`        // such as Http
	Collections []string     `json:"collections"`       // of the jobs
	Attempts    uint64       `json:"attempts"`          // failed ones since First
	Faulted     uint64       `json:"faulted"`           // occurrences that failed after all retries
	Jobs        int          `json:"jobs"`              // affected ones
	AtLeast     bool         `json:"atLeast,omitempty"` // more jobs are affected
	First       time.Time    `json:"first"`             // failure, since the group was last resolved
	Last        time.Time    `json:"last"`              // failure
	Resolved    time.Time    `json:"resolved,omitzero"` // the target answered one of the jobs, and no failure followed for 30 s

	// Minutes are the failed attempts in each minute of the last hour, oldest first.
	Minutes []uint64 `json:"minutes"`

	Example FailureExample `json:"example"`

	Circuit      string    `json:"circuit,omitempty"`     // breaker of the target: open or half; closed if absent
	CircuitUntil time.Time `json:"circuitUntil,omitzero"` // end of the open state

	Acknowledged *Acknowledgment `json:"acknowledged,omitempty"` // until the group is resolved
	MutedUntil   time.Time       `json:"mutedUntil,omitzero"`

	// Selection selects the affected jobs in the body of createOperation. Lists do not have it.
	Selection *FailureSelection `json:"selection,omitempty"`
}

// FailureState is the state of a group.
type FailureState string

// The states, most urgent first.
const (
	FailureOpen         FailureState = "open"
	FailureAcknowledged FailureState = "acknowledged"
	FailureMuted        FailureState = "muted"
	FailureResolved     FailureState = "resolved"
)

// FailureStates lists the states, most urgent first.
var FailureStates = []FailureState{FailureOpen, FailureAcknowledged, FailureMuted, FailureResolved}

// FailureExample is a failed attempt of a group.
type FailureExample struct {
	Job        string    `json:"job"` // collection/job
	Occurrence string    `json:"occurrence"`
	At         time.Time `json:"at"`
	Answer     string    `json:"answer"` // one line: the status and the beginning of the response, or the error
}

// Acknowledgment states who handles a group.
type Acknowledgment struct {
	By   string    `json:"by,omitempty"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// FailureSelection selects jobs: by name or, if not all names are known, by a search for the target.
type FailureSelection struct {
	Jobs   []string `json:"jobs,omitzero"` // collection/job
	Target string   `json:"target,omitempty"`
	Action string   `json:"actionType,omitempty"`
}
