package natsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// decision is what a verb did.
type decision struct {
	view       *view.Job // nil after delete, run and resubmit
	created    bool      // put made the job
	occurrence string    // run, resubmit: the ID of the new run
	resubmits  string    // resubmit: the ID of the repeated occurrence
}

// published are the operations that specs can perform, and verbs their verbs, sorted.
var (
	published = api.Published()
	verbs     = slices.Sorted(maps.Keys(published))
)

// carryOut does what a verb asks for. asked is when that was.
func carryOut(ctx context.Context, s *service.Service, verb string, e service.Edit, asked time.Time) (d decision, err error) {
	switch verb {
	case "put":
		d.view, d.created, err = s.Put(ctx, e)
	case "patch":
		d.view, err = s.Patch(ctx, e)
	case "delete":
		err = s.Delete(ctx, e.Key, e.SpecSequence)
	case "run":
		d.occurrence, err = s.RunBy(ctx, e.Key, e.Body, asked)
	case "resubmit":
		var again *view.Resubmitted
		if again, err = s.ResubmitAt(ctx, e.Key, e.Body, asked); err == nil {
			d.occurrence, d.resubmits = again.Occurrence, again.Resubmits
		}
	case "pause":
		d.view, err = s.PauseBy(ctx, e.Key, e.Body, asked)
	case "enable":
		d.view, err = s.Turn(ctx, e.Key, scheduler.Enabled, e.SpecSequence)
	case "disable":
		d.view, err = s.Turn(ctx, e.Key, scheduler.Disabled, e.SpecSequence)
	default:
		err = fmt.Errorf("the verb %q of published specs is not implemented", verb)
	}
	return d, err
}

func (it *item) key() scheduler.Key { return keyOf(it.Name) }

// check returns everything wrong with a spec that can be seen from outside.
func (it *item) check() error {
	k := it.key()
	var wrong []error
	if published[it.Verb] == nil {
		wrong = append(wrong, scheduler.Invalid("verb", fmt.Sprintf("%q is not one of %s", clip(it.Verb), strings.Join(verbs, ", "))))
	}
	wrong = append(wrong, scheduler.ValidateCollection(k.Collection), scheduler.ValidateName("job", k.Job))
	if it.answer {
		wrong = append(wrong, scheduler.Invalid("", "is an answer to another request, which had this subject for its reply"))
	}
	if it.takesBody() {
		wrong = append(wrong, scheduler.CheckSize(it.size))
	}
	wrong = append(wrong, it.wrong)
	if it.knownVerb() != otherVerb {
		wrong = append(wrong, it.how.checkFor(published[it.Verb]))
	}
	return errors.Join(wrong...)
}

// otherVerb stands for whatever cannot be asked for.
const otherVerb = "other"

// knownVerb is what is asked for, as one of few words.
func (it *item) knownVerb() string {
	if published[it.Verb] != nil {
		return it.Verb
	}
	return otherVerb
}

func (it *item) takesBody() bool {
	op := published[it.Verb]
	return op != nil && op.Body != ""
}

// decide carries a spec out. The error is one that says to try again, or that
// the ingest has stopped; every other one is part of the result.
func (n *Ingest) decide(ctx context.Context, q *queue, it *item) (result, error) {
	r := result{item: it, err: it.check()}
	if r.err != nil {
		return r, nil //nolint:nilerr // to be wrong is a result
	}
	if err := n.awaitTurn(ctx, q, it); err != nil {
		return r, err
	}
	switch err := n.enter(ctx, it); {
	case errors.Is(err, errSetAside):
		r.err = err
		return r, nil
	case err != nil:
		return r, err
	}
	if it.id != "" {
		first, err := n.cfg.Source.ClaimSpec(ctx, it.subject(), it.id, it.Sequence)
		if err != nil {
			return r, err
		}
		if it.claimed = first == nil; !it.claimed {
			r.first = &event{}
			r.err = json.Unmarshal(first, r.first)
			return r, nil
		}
	}
	if !it.Lease.Stands() {
		return r, errLost
	}
	r.decision, r.err = n.do(ctx, it)
	if errors.Is(r.err, scheduler.ErrUnavailable) || ctx.Err() != nil {
		return r, r.err
	}
	if r.err != nil && view.DescribeError(r.err).Code == "InternalError" {
		n.log.ErrorContext(ctx, "spec rejected because of a defect", "job", it.Name, "verb", it.Verb, "err", r.err)
	}
	return r, nil
}

// do runs the spec's verb. A panic is a defect like any other: the spec is
// rejected, so that it does not come back.
func (n *Ingest) do(ctx context.Context, it *item) (d decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			n.log.ErrorContext(ctx, "spec panicked", "job", it.Name, "verb", it.Verb, "err", p, "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	ctx = withCaller(ctx, "", func(string) string { return it.claim })
	edit := service.Edit{
		Key: it.key(), Body: it.Body, SpecSequence: it.Sequence, Strict: it.how.strict, DryRun: it.how.dryRun,
	}
	return carryOut(ctx, n.cfg.Service.If(it.how.when), it.Verb, edit, it.Published)
}

var (
	// errNotYet says that an earlier spec of the same job is still under
	// way, or that this one is done with.
	errNotYet = errors.New("an earlier spec is still under way")
	// errOvertakes says that it may wait behind this one in its queue.
	errOvertakes = errors.New("an earlier spec has come later")
	// errLost says that another process may have been given the spec.
	errLost = errors.New("this process was cut off while it had the spec")
)

// The pauses between looks for earlier specs, and how long to look before the
// spec is given back, so that it does not keep others waiting.
const (
	firstLook    = time.Millisecond
	lastLook     = 25 * time.Millisecond
	turnPatience = 2 * time.Second
)

// isFirst reports whether a spec is the first of its name that is not done with.
func (n *Ingest) isFirst(ctx context.Context, it *item) (bool, error) {
	known, ask := n.stretch.has(it.Sequence, time.Now())
	if ask {
		first, err := n.cfg.Source.FirstSpec(ctx)
		if err != nil {
			return false, err
		}
		n.stretch.learn(first)
		known, _ = n.stretch.has(it.Sequence, time.Now())
	}
	if known && it.Deliveries == 1 { // one that comes again may be done with
		return true, nil
	}
	return n.cfg.Source.IsFirstSpec(ctx, it.Name, it.Sequence)
}

// awaitTurn waits until the specs of the same job that were published before
// are done with. Those that this process has come first anyway; another
// process may have some, or the server, when their process died.
func (n *Ingest) awaitTurn(ctx context.Context, q *queue, it *item) error {
	begin := time.Now()
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		first, err := n.isFirst(ctx, it)
		if err != nil || first {
			return err
		}
		if q.overtakes(it) {
			return errOvertakes
		}
		if time.Since(begin) > turnPatience || !intake.Pause(n.stopping, wait) { //nolint:contextcheck // a stop ends the wait
			return errNotYet
		}
	}
}
