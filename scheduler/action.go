package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Action is one compiled action of a job, ready to run. It is immutable and
// safe for concurrent use: one value serves every attempt of a definition.
type Action interface {
	// Target names what the action loads, for limits and queues: the host
	// and port of an HTTP action. Attempts with equal targets share one limit.
	Target() string

	// Invoke runs one attempt and reports what happened; it never returns
	// an error of its own, because a failed attempt is a result. It returns
	// soon after ctx is done. A panic is caught by the worker and counts as
	// a failed attempt.
	Invoke(ctx context.Context, a Attempt) Result
}

// ActionReader turns the action part of a job document into an [Action].
type ActionReader interface {
	// ReadAction reads the members that belong to the action type kind from
	// o (all but type, retryPolicy and errorAction, which are read by the
	// scheduler) and reports every problem to o's reader. It returns nil
	// when there was one, or when no such type is registered.
	ReadAction(kind string, o *document.Object) Action

	// Types returns the registered action types in canonical spelling,
	// such as "Http", sorted.
	Types() []string
}

// JobHeader marks the HTTP requests of jobs. All of them have it.
const JobHeader = "X-Ms-Scheduler-Jobid"

// Attempt is what an action is told about the run it serves.
type Attempt struct {
	Job        Key       // the job
	Occurrence string    // occurrence id: collection/job@nominal; the idempotency key of the main action
	ID         string    // attempt id: occurrence id and "#" and the try's number
	Nominal    time.Time // the instant the schedule names
	Due        time.Time // the instant the attempt was planned for: nominal plus jitter, or a retry's time
	Try        int       // 1 for the occurrence's first attempt, counted on through retries and errorActions
	Phase      Phase     // the main action or an errorAction
	Key        string    // idempotency key: equal for every try of one action in one occurrence
	Timeout    time.Duration
	Previous   time.Time // nominal instant of the occurrence that ran before this one; zero: none
	Failure    *Failure  // of an errorAction: how the main action failed; nil for that one

	// Data is the object that a manual run gives to templates, as JSON; nil: none.
	Data json.RawMessage

	// Trace is what its target is to continue; zero when nothing is traced.
	Trace TraceContext

	// Shared finds the text of a shared secret by its name; nil finds none.
	Shared func(name string) (string, error)

	// Heard is told of the headers of the target's answer that people want to see;
	// nil: nobody does.
	Heard func(name, value string)

	// Redact keeps a text out of the attempt's record; nil: nothing is kept out.
	Redact func(text string)

	// Veiled returns where a text shows what Redact was given, as spans from..to
	// in order, and how many bytes the longest of that may take in a text, 0
	// when there is nothing; nil: nowhere.
	Veiled func(text string) (spans [][2]int, reach int)
}

// Failure is what every errorAction is told about the main action, which failed.
type Failure struct {
	Status   int    `json:"status,omitempty"` // the target's status code at the last attempt; 0 when it gave none
	Attempts int    `json:"attempts"`         // how often the action was tried
	Message  string `json:"message"`          // of the last attempt, cut at 2,048 bytes

	// The times of the last attempt, which the record of the fault has. Zero in
	// what a version wrote that did not keep them.
	Due     time.Time `json:"due,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// ResponseHeaders separates the reason in a message from the headers and the body of the response.
const ResponseHeaders = " Response Headers:"

// typed is the beginning of a message: the type of the action.
var typed = regexp.MustCompile(`^[A-Za-z]+ Action - `)

// ReasonIn is the short reason in the message of an attempt, without the type of the action and without the response.
func ReasonIn(message string) string {
	reason, _, _ := strings.Cut(message, ResponseHeaders)
	return typed.ReplaceAllString(strings.TrimSpace(reason), "")
}

// Phase tells the job's action from its errorActions.
type Phase string

// The phases of an occurrence. Main is the zero value.
const (
	MainPhase  Phase = ""
	ErrorPhase Phase = "error"
)

// Result is how an attempt ended.
type Result struct {
	Failed   bool          // false: completed
	Final    bool          // failed, and a retry cannot help, as far as the action knows; see [FinalStatus]
	Status   int           // the target's status code, HTTP's or its nearest equivalent; 0 when it gave none
	Message  string        // one line for people, e.g. Http Action - Response from host 'x': 'OK' …
	Response string        // excerpt of the target's answer, at most MaxResponse bytes
	Duration time.Duration // from the start of the attempt to its end

	// RetryAfter is how long the target asks to be left alone; 0 when it does
	// not say.
	RetryAfter time.Duration

	// Blameless says that the attempt failed without the target being in
	// trouble: it was not reached for, because of a secret, a template, a token
	// server or an address that is refused, or it answered for a part of it
	// only, such as a queue that is full. Its circuit does not count that.
	Blameless bool
}

// MaxResponse is the length in bytes at which a recorded response is cut
// (Azure Scheduler's limit).
const MaxResponse = 2048

// Reveal returns the text of a secret, "" for none. What was revealed is kept
// out of the attempt's record. The error is one for the attempt's message.
func (a Attempt) Reveal(s document.Secret) (string, error) {
	text, literal := s.Literal()
	switch {
	case s.Locked():
		return "", errors.New("a secret of the job cannot be opened: this process does not have the key it was sealed with")
	case literal:
	case a.Shared == nil:
		return "", fmt.Errorf("shared secret %q cannot be read here", s.Ref())
	default:
		var err error
		if text, err = a.Shared(s.Ref()); err != nil {
			return "", fmt.Errorf("shared secret %q: %w", s.Ref(), err)
		}
	}
	a.Hide(text)
	return text, nil
}

// Hide keeps a text out of the attempt's record: its message and response show
// *** in its place, also where it is escaped as in JSON, HTML or a URL, or
// encoded in base64 or hexadecimal. An action hides what it makes of secrets,
// such as a token it was given for one.
func (a Attempt) Hide(text string) {
	if a.Redact != nil {
		a.Redact(text)
	}
}
