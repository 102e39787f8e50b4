package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Action is a compiled action of a job. It is immutable and safe for concurrent use: one value serves every attempt of
// a definition.
type Action interface {
	// Target returns the key for limits and queues: for an HTTP action, its host and port. Attempts with equal targets
	// share one limit.
	Target() string

	// Invoke runs one attempt and returns soon after ctx is done. It has no error result, because a failed attempt is a
	// Result. The worker recovers a panic and records a failed attempt.
	Invoke(ctx context.Context, a Attempt) Result
}

// ActionReader compiles the action of a job document into an [Action].
type ActionReader interface {
	// ReadAction reads the fields of action type kind from o and reports every problem to o's reader. The scheduler
	// reads type, retryPolicy and errorAction. ReadAction returns nil after a problem, or if kind is not registered.
	ReadAction(kind string, o *document.Object) Action

	// Types returns the registered action types in canonical spelling, such as "Http", sorted.
	Types() []string
}

// JobHeader is the header that every HTTP request of a job carries.
const JobHeader = "X-Ms-Scheduler-Jobid"

// Attempt describes a run to its action.
type Attempt struct {
	Job        Key
	Occurrence string    // occurrence id: collection/job@nominal; the idempotency key of the main action
	ID         string    // attempt id: occurrence id, "#" and the number of the try
	Nominal    time.Time // time by the schedule
	Due        time.Time // earliest start: nominal plus jitter, or the time of a retry
	Try        int       // number of the attempt in its occurrence, from 1, across retries and errorActions
	Phase      Phase     // main action or errorAction
	Key        string    // idempotency key: the same for all tries of one action in one occurrence
	Timeout    time.Duration
	Previous   time.Time // nominal time of the previous occurrence that ran; zero: none
	Failure    *Failure  // errorAction: how the main action failed; main action: nil

	// Data is the JSON object that a manual run passes to templates; nil: none.
	Data json.RawMessage

	// Events are the events that started the run, as a JSON array of [Event]; nil: none.
	Events json.RawMessage

	// Cause describes the events that started the run; nil: none did.
	Cause *Cause

	// Trace is the trace context that the target continues; zero: not traced.
	Trace TraceContext

	// Shared returns the text of a shared secret by name; nil: none are available.
	Shared func(name string) (string, error)

	// Heard receives headers of the target's response for display; nil: not wanted.
	Heard func(name, value string)

	// Redact removes a text from the attempt's record; nil: no redaction.
	Redact func(text string)

	// Veiled returns the spans from..to of text that Redact covers, in order, and the maximum length in bytes of a
	// redacted text, 0 if nothing is redacted. nil: no redaction.
	Veiled func(text string) (spans [][2]int, reach int)
}

// Failure informs an errorAction about the failure of the main action.
type Failure struct {
	Status   int    `json:"status,omitempty"`  // status code of the last attempt; 0 if it had none
	Attempts int    `json:"attempts"`          // number of attempts of the main action
	Message  string `json:"message"`           // of the last attempt, cut at 2,048 bytes
	Summary  string `json:"summary,omitempty"` // of the last attempt, see [Result]; cut at 2,048 bytes

	// Times of the last attempt, for the faulted record. Zero in batons of versions that did not store them.
	Due     time.Time `json:"due,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Phase distinguishes the main action from the errorActions.
type Phase string

// The phases of an occurrence. MainPhase is the zero value.
const (
	MainPhase  Phase = ""
	ErrorPhase Phase = "error"
)

// Result is the outcome of an attempt.
type Result struct {
	Failed   bool          // false: completed
	Final    bool          // failed, and the action knows that a retry cannot help; see [FinalStatus]
	Status   int           // status code of the target, or the nearest HTTP equivalent; 0 if it returned none
	Message  string        // full text in Azure Scheduler's form: Http Action - Response from host 'x': 'OK' …
	Summary  string        // short form of Message, such as OK; "": Message is short
	Headers  string        // response headers, one per line
	Response string        // excerpt of the response, at most MaxResponse bytes
	Duration time.Duration // of the attempt

	// RetryAfter is the delay that the target requests; 0: none.
	RetryAfter time.Duration

	// SkipCircuit excludes a failure from the target's circuit breaker. The attempt did not reach the target (a secret, a
	// template, a token server or a refused address failed), or only a part of the target failed, such as a full queue.
	SkipCircuit bool
}

// By returns r with a default message: the action type and the summary.
func (r Result) By(kind string) Result {
	if r.Message == "" {
		r.Message = kind + " Action - " + r.Summary
	}
	return r
}

// MaxResponse is the maximum length in bytes of a recorded response (Azure Scheduler's limit).
const MaxResponse = 2048

// Reveal returns the text of a secret, "" for none, and redacts it in the attempt's record. The error text is suitable
// for the attempt's message.
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

// Hide redacts a text in the attempt's record: message, summary, headers and response show *** instead, also for its
// JSON, HTML, URL, base64 and hexadecimal encodings. Actions hide values derived from secrets, such as an access token.
func (a Attempt) Hide(text string) {
	if a.Redact != nil {
		a.Redact(text)
	}
}

// ActionSpec is an action with its retry policy and errorActions.
type ActionSpec struct {
	Type  string // canonical, such as "Http"
	Run   Action
	Retry RetryPolicy

	// OnError runs in order after the action has failed after all retries; each runs regardless of the results before
	// it. An errorAction can have its own errorActions, which run immediately after it, and only if it fails.
	OnError []ActionSpec

	at string // path in the job: "action.errorAction[1]"
}

// MaxErrorActions is the maximum number of errorActions of a job, including nested ones.
const MaxErrorActions = 5

// Position identifies an action of a job: the main action, or an errorAction by its index, from 0, in document order.
// errorActions run in document order.
type Position struct {
	Phase       Phase
	ErrorAction int
}

// all returns an action and its errorActions in document order.
func (s *ActionSpec) all() []*ActionSpec {
	list := []*ActionSpec{s}
	for i := range s.OnError {
		list = append(list, s.OnError[i].all()...)
	}
	return list
}

// In returns the action at a position, or the last action if the definition has fewer. That happens if the definition
// that the position was derived from is no longer stored.
func (s *ActionSpec) In(p Position) *ActionSpec {
	if p.Phase == MainPhase {
		return s
	}
	list := s.all()
	return list[min(1+p.ErrorAction, len(list)-1)]
}

// After returns the position that follows p; false at the end. failed: the action at p failed after all retries.
func (s *ActionSpec) After(p Position, failed bool) (Position, bool) {
	if p.Phase == MainPhase {
		return Position{Phase: ErrorPhase}, failed && len(s.OnError) > 0
	}
	list, next := s.all()[1:], p.ErrorAction+1
	if p.ErrorAction < len(list) && !failed {
		next += len(list[p.ErrorAction].all()) - 1 // skip its nested errorActions
	}
	return Position{ErrorPhase, next}, next < len(list)
}

// action reads an action or errorAction. inherited is its default retry policy.
func (r *DefinitionDecoder) action(o *document.Object, inherited RetryPolicy, at string) ActionSpec {
	kinds := r.Actions.Types()
	if o.EachKind(func(o *document.Object) { r.action(o, inherited, at) }, kinds...) {
		return ActionSpec{}
	}
	s := ActionSpec{at: at}
	kind, ok := o.Enum("type", kinds...)
	if !ok {
		o.Require("type")
		kind = r.likelyType(o)
	}
	if kind == "" {
		defer o.IgnoreRest() // the other fields depend on the type
	} else if run := r.Actions.ReadAction(kind, o); ok {
		s.Type, s.Run = kind, run
	}
	s.Retry = r.retryPolicy(o, inherited, at)
	s.OnError = r.errorActions(o, s.Retry, at)
	return s
}

// errorAction is the field that holds the errorActions of an action.
const errorAction = "errorAction"

// errorActions reads the errorAction field: an object, or an array of objects.
func (r *DefinitionDecoder) errorActions(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
	if o.Describes() {
		_, _ = o.Object(errorAction)
		_, _ = o.Objects(errorAction)
	}
	v, ok := o.Value(errorAction)
	if !ok {
		return nil
	}
	at += "." + errorAction
	switch v.Kind() { //nolint:exhaustive // all others are wrong
	case document.KindObject:
		return r.oneErrorAction(o, inherited, at)
	case document.KindArray:
		return r.listOfErrorActions(o, len(v.Items()), inherited, at)
	}
	o.Problem(errorAction, "must be an object, or an array of objects, not %s", v.Kind())
	return nil
}

func (r *DefinitionDecoder) oneErrorAction(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
	eo, ok := o.Object(errorAction)
	if !ok || r.tooMany(o, 1) {
		return nil
	}
	defer eo.Done()
	return []ActionSpec{r.action(eo, inherited, at)}
}

func (r *DefinitionDecoder) listOfErrorActions(o *document.Object, n int, inherited RetryPolicy, at string) []ActionSpec {
	if r.tooMany(o, n) {
		return nil
	}
	list, ok := o.Objects(errorAction)
	if ok && len(list) == 0 {
		o.Problem(errorAction, "must not be empty: leave it out, or name what is to be done")
	}
	var all []ActionSpec
	for i, eo := range list {
		all = append(all, r.action(eo, inherited, fmt.Sprintf("%s[%d]", at, i)))
		eo.Done()
	}
	return all
}

// tooMany adds n errorActions and reports whether the job exceeds the limit.
func (r *DefinitionDecoder) tooMany(o *document.Object, n int) bool {
	r.errorActionsRead += n
	if r.errorActionsRead <= MaxErrorActions {
		return false
	}
	o.Problem(errorAction, "the job has more than %d errorActions in all", MaxErrorActions)
	return true
}
