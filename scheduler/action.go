package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Status   int    `json:"status,omitempty"`  // the target's status code at the last attempt; 0 when it gave none
	Attempts int    `json:"attempts"`          // how often the action was tried
	Message  string `json:"message"`           // of the last attempt, cut at 2,048 bytes
	Summary  string `json:"summary,omitempty"` // of the last attempt, see [Result]; cut likewise

	// The times of the last attempt, which the record of the fault has. Zero in
	// what a version wrote that did not keep them.
	Due     time.Time `json:"due,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
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
	Message  string        // Azure Scheduler's form of all that follows: Http Action - Response from host 'x': 'OK' …
	Summary  string        // what became of it, in short: OK; "": Message is short
	Headers  string        // of the target's answer, each with a line end
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

// By returns r with the message of an action of a type, unless it has one: the type and the summary.
func (r Result) By(kind string) Result {
	if r.Message == "" {
		r.Message = kind + " Action - " + r.Summary
	}
	return r
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

// Hide keeps a text out of the attempt's record: its message, summary, headers and response show
// *** in its place, also where it is escaped as in JSON, HTML or a URL, or
// encoded in base64 or hexadecimal. An action hides what it makes of secrets,
// such as a token it was given for one.
func (a Attempt) Hide(text string) {
	if a.Redact != nil {
		a.Redact(text)
	}
}

// ActionSpec is an action with its retry policy and its errorActions.
type ActionSpec struct {
	Type  string // canonical, such as "Http"
	Run   Action
	Retry RetryPolicy

	// OnError are run one after the other when the action has failed for good,
	// whatever becomes of the ones before. Each may have errorActions of its own,
	// which come right after it, and only if it has failed.
	OnError []ActionSpec

	at string // where it stands in the job: "action.errorAction[1]"
}

// MaxErrorActions is how many errorActions a job may have, those of errorActions
// included.
const MaxErrorActions = 5

// Position is a place in a job's actions: the main action, or the n-th of its
// errorActions, from 0 on. They are counted in the order in which they stand in
// the document, which is the one in which they run.
type Position struct {
	Phase       Phase
	ErrorAction int
}

// all returns an action and all its errorActions, in the order in which they
// stand in the document.
func (s *ActionSpec) all() []*ActionSpec {
	list := []*ActionSpec{s}
	for i := range s.OnError {
		list = append(list, s.OnError[i].all()...)
	}
	return list
}

// In returns the action at a position. A definition that has not as many, because
// the one that the position is of is no longer kept, has its last one there.
func (s *ActionSpec) In(p Position) *ActionSpec {
	if p.Phase == MainPhase {
		return s
	}
	list := s.all()
	return list[min(1+p.ErrorAction, len(list)-1)]
}

// After returns the position that follows p, where the action has failed for good
// or not; false when there is none.
func (s *ActionSpec) After(p Position, failed bool) (Position, bool) {
	if p.Phase == MainPhase {
		return Position{Phase: ErrorPhase}, failed && len(s.OnError) > 0
	}
	list, next := s.all()[1:], p.ErrorAction+1
	if p.ErrorAction < len(list) && !failed {
		next += len(list[p.ErrorAction].all()) - 1 // its own are left out
	}
	return Position{ErrorPhase, next}, next < len(list)
}

// action reads an action or errorAction; inherited is the retry policy of one
// that has none.
func (r *Reading) action(o *document.Object, inherited RetryPolicy, at string) ActionSpec {
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
		defer o.IgnoreRest() // what else belongs there depends on the type
	} else if run := r.Actions.ReadAction(kind, o); ok {
		s.Type, s.Run = kind, run
	}
	s.Retry = r.retryPolicy(o, inherited, at)
	s.OnError = r.errorActions(o, s.Retry, at)
	return s
}

// errorAction is the member of an action that has its errorActions.
const errorAction = "errorAction"

// errorActions reads what is done when an action has failed: an action, or
// several in order.
func (r *Reading) errorActions(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
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

func (r *Reading) oneErrorAction(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
	eo, ok := o.Object(errorAction)
	if !ok || r.tooMany(o, 1) {
		return nil
	}
	defer eo.Done()
	return []ActionSpec{r.action(eo, inherited, at)}
}

func (r *Reading) listOfErrorActions(o *document.Object, n int, inherited RetryPolicy, at string) []ActionSpec {
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

// tooMany reports whether n more errorActions are more than a job may have.
func (r *Reading) tooMany(o *document.Object, n int) bool {
	r.errorActionsRead += n
	if r.errorActionsRead <= MaxErrorActions {
		return false
	}
	o.Problem(errorAction, "the job has more than %d errorActions in all", MaxErrorActions)
	return true
}
