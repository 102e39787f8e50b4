package natsapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// decision is what a verb did.
type decision struct {
	view       *view.Job // nil after delete and run
	created    bool      // put made the job
	occurrence string    // run: what it started
}

// verb carries out a spec for a job.
type verb func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error)

// verbs are all that a spec can ask for.
var verbs = map[string]verb{
	"put": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		v, created, err := s.Put(ctx, it.edit(k))
		return decision{view: v, created: created}, err
	},
	"patch": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		v, err := s.Patch(ctx, it.edit(k))
		return decision{view: v}, err
	},
	"delete": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		return decision{}, s.Delete(ctx, k, it.Sequence)
	},
	"run": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		occurrence, err := s.TriggerAt(ctx, k, it.Published)
		return decision{occurrence: occurrence}, err
	},
	"enable": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		v, err := s.Turn(ctx, k, scheduler.Enabled, it.Sequence)
		return decision{view: v}, err
	},
	"disable": func(ctx context.Context, s *service.Service, k scheduler.Key, it *item) (decision, error) {
		v, err := s.Turn(ctx, k, scheduler.Disabled, it.Sequence)
		return decision{view: v}, err
	},
}

func (it *item) edit(k scheduler.Key) service.Edit {
	return service.Edit{Key: k, Body: it.Body, SpecSequence: it.Sequence}
}

func (it *item) key() scheduler.Key { return keyOf(it.Name) }

// check returns everything wrong with a spec that can be seen from outside.
func (it *item) check() error {
	k := it.key()
	var wrong []error
	if verbs[it.Verb] == nil {
		wrong = append(wrong, scheduler.Invalid("verb", fmt.Sprintf("%q is not one of %s", clip(it.Verb), verbNames())))
	}
	wrong = append(wrong, scheduler.ValidateName("collection", k.Collection), scheduler.ValidateName("job", k.Job))
	if it.takesBody() {
		wrong = append(wrong, scheduler.CheckSize(it.size))
	}
	return errors.Join(wrong...)
}

func (it *item) takesBody() bool { return it.Verb == "put" || it.Verb == "patch" }

func verbNames() string {
	names := make([]string, 0, len(verbs))
	for name := range verbs {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
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
	r.decision, r.err = n.do(ctx, it)
	if errors.Is(r.err, scheduler.ErrUnavailable) || ctx.Err() != nil {
		return r, r.err
	}
	if r.err != nil && view.DescribeError(r.err).Code == "InternalError" {
		n.log.Error("spec rejected because of a defect", "job", it.Name, "verb", it.Verb, "err", r.err)
	}
	return r, nil
}

// do runs the spec's verb. A panic is a defect like any other: the spec is
// rejected, so that it does not come back.
func (n *Ingest) do(ctx context.Context, it *item) (d decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			n.log.Error("spec panicked", "job", it.Name, "verb", it.Verb, "err", p, "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return verbs[it.Verb](ctx, n.cfg.Service, it.key(), it)
}

var (
	// errNotYet says that an earlier spec of the same job is still under
	// way, or that this one is done with.
	errNotYet = errors.New("an earlier spec is still under way")
	// errOvertakes says that it may wait behind this one in its queue.
	errOvertakes = errors.New("an earlier spec has come later")
)

// The pauses between looks for earlier specs, and how long to look before the
// spec is given back, so that it does not keep others waiting.
const (
	firstLook    = time.Millisecond
	lastLook     = 25 * time.Millisecond
	turnPatience = 2 * time.Second
)

// awaitTurn waits until the specs of the same job that were published before
// are done with. Those that this process has come first anyway; another
// process may have some, or the server, when their process died.
func (n *Ingest) awaitTurn(ctx context.Context, q *queue, it *item) error {
	begin := time.Now()
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		first, err := n.cfg.Source.IsFirstSpec(ctx, it.Name, it.Sequence)
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
