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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// decision is the effect of a verb.
type decision struct {
	view       *v1.Job // nil after delete, run and resubmit
	created    bool    // put created the job
	occurrence string  // run, resubmit: the ID of the new run
	resubmits  string  // resubmit: the ID of the repeated occurrence
}

// published are the operations that specs can perform; verbs are their verbs, sorted.
var (
	published = api.Published()
	verbs     = slices.Sorted(maps.Keys(published))
)

// carryOut executes a verb. asked is the time of publishing.
func carryOut(ctx context.Context, s *control.Service, verb string, e control.Edit, asked time.Time) (d decision, err error) {
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
		var again *v1.Resubmitted
		if again, err = s.ResubmitAt(ctx, e.Key, e.Body, asked); err == nil {
			d.occurrence, d.resubmits = again.Occurrence, again.Resubmits
		}
	case "pause":
		d.view, err = s.PauseBy(ctx, e.Key, e.Body, asked)
	case "enable":
		d.view, err = s.SetEnabled(ctx, e.Key, scheduler.Enabled, e.SpecSequence)
	case "disable":
		d.view, err = s.SetEnabled(ctx, e.Key, scheduler.Disabled, e.SpecSequence)
	default:
		err = fmt.Errorf("the verb %q of published specs is not implemented", verb)
	}
	return d, err
}

func (it *item) key() scheduler.Key { return keyOf(it.Name) }

// check returns all problems of a spec that need no access to the store.
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

// otherVerb replaces unknown verbs in metrics.
const otherVerb = "other"

// knownVerb returns the verb, or otherVerb.
func (it *item) knownVerb() string {
	if published[it.Verb] != nil {
		return it.Verb
	}
	return otherVerb
}

func (it *item) takesBody() bool {
	op := published[it.Verb]
	return op != nil && op.Body != nil
}

// decide carries a spec out. It returns an error if the spec must be retried or the ingest has stopped. All other
// errors are part of the result.
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
	if r.err != nil && v1.DescribeError(r.err).Code == "InternalError" {
		n.log.ErrorContext(ctx, "spec rejected because of a defect", "job", it.Name, "verb", it.Verb, "err", r.err)
	}
	return r, nil
}

// do executes the spec's verb. It converts a panic to an error: the spec is rejected and does not return.
func (n *Ingest) do(ctx context.Context, it *item) (d decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			n.log.ErrorContext(ctx, "spec panicked", "job", it.Name, "verb", it.Verb, "err", p, "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	ctx = withCaller(ctx, "", func(string) string { return it.claim })
	edit := control.Edit{
		Key: it.key(), Body: it.Body, SpecSequence: it.Sequence, Strict: it.how.strict, DryRun: it.how.dryRun,
	}
	return carryOut(ctx, n.cfg.Service.If(it.how.when), it.Verb, edit, it.Published)
}

var (
	// errNotYet: an earlier spec of the same job is in progress, or this spec is already processed.
	errNotYet = errors.New("an earlier spec is still under way")
	// errOvertakes: an earlier spec waits behind this one in its queue.
	errOvertakes = errors.New("an earlier spec has come later")
	// errLost: another process may have received the spec.
	errLost = errors.New("this process was cut off while it had the spec")
)

// The pauses between checks for earlier specs, and the limit of the wait. After that, the spec is released so that it
// does not block others.
const (
	firstLook    = time.Millisecond
	lastLook     = 25 * time.Millisecond
	turnPatience = 2 * time.Second
)

// isFirst reports whether a spec is the first unprocessed one of its name.
func (n *Ingest) isFirst(ctx context.Context, it *item) (bool, error) {
	known, ask := n.owned.has(it.Sequence, time.Now())
	if ask {
		first, err := n.cfg.Source.FirstSpec(ctx)
		if err != nil {
			return false, err
		}
		n.owned.learn(first)
		known, _ = n.owned.has(it.Sequence, time.Now())
	}
	if known && it.Deliveries == 1 { // a redelivered spec may already be processed
		return true, nil
	}
	return n.cfg.Source.IsFirstSpec(ctx, it.Name, it.Sequence)
}

// awaitTurn waits until the earlier specs of the same job are processed. This process runs its own in order; others may
// be held by another process, or by the server after the death of their process.
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
		if time.Since(begin) > turnPatience || !flow.Pause(n.stopping, wait) { //nolint:contextcheck // a stop ends the wait
			return errNotYet
		}
	}
}
