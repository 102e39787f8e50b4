package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// The cancellation causes of an attempt's context.
var (
	errStopping = errors.New("the scheduler is stopping")
	errCanceled = errors.New("the occurrence was canceled")
)

// attempt runs the action of a run that has a slot, and frees the slot.
func (w *Worker) attempt(r *run) stage {
	if !w.unrecorded.begin(w.attempts) {
		w.limiter.Forgo(r)
		return w.nak(r)
	}
	next := w.attemptOnce(r)
	if _, ran := next.(recorded); !ran {
		w.unrecorded.end(r)
	}
	return next
}

// attemptOnce runs the action of a run if it is still eligible.
func (w *Worker) attemptOnce(r *run) stage {
	if !r.delivery.Lease.Stands() {
		w.limiter.Forgo(r)
		return w.drop(r)
	}
	if r.packed != nil && !w.open(r) {
		w.limiter.Forgo(r)
		return admitted{r}
	}
	if r.Waited(w.cfg.Store.Now()) >= patience {
		switch w.standing(r) {
		case scheduler.GoesOn:
		case scheduler.Gone:
			w.limiter.Forgo(r)
			return w.astray(r)
		case scheduler.Foreign:
			w.limiter.Forgo(r)
			return w.dropOrphan(r)
		case scheduler.Over, scheduler.Dropped, scheduler.Closed:
			w.limiter.Forgo(r)
			return admitted{r} // decide again
		}
	}
	ctx, halt := context.WithCancelCause(w.attempts)
	defer halt(nil)
	ctx, cancel := context.WithTimeout(ctx, r.job.Def.Timeout)
	defer cancel()
	r.started, r.halt = w.cfg.Store.Now(), halt
	w.underway.begin(r)
	if w.canceled(r) { // before it was listed
		w.underway.end(r)
		w.limiter.Forgo(r)
		return admitted{r}
	}
	redactor := &secrets.Redactor{}
	attempt := r.baton.AttemptOf(r.key())
	attempt.Timeout, attempt.Redact, attempt.Veiled = r.job.Def.Timeout, redactor.Add, redactor.Veiled
	attempt.Shared = func(name string) (string, error) { return w.cfg.Secrets.Shared(ctx, name) }
	within, spans := w.cfg.Tracer.Begin(ctx, tracing.Fired{
		Job: r.job, Baton: &r.baton, Action: r.action, Attempt: attempt, At: r.delivery.Fired, Wake: r.wake, Now: r.started,
	})
	attempt.Trace = spans.Context()
	began := time.Now()
	r.result = redactor.Clean(w.invoke(within, r.action.Run, attempt))
	w.underway.end(r)
	r.result.Duration = time.Since(began)
	r.result.Final = r.result.Failed && r.action.Retry.Final(r.result)
	spans.End(r.result, ctx.Err())
	if r.result.Failed && errors.Is(context.Cause(ctx), errCanceled) {
		r.result.Message, r.result.Summary = "canceled while it ran", ""
		w.limiter.Forgo(r) // it says nothing about the target
	} else {
		w.limiter.Done(r, r.result)
	}
	if r.result.Failed && errors.Is(context.Cause(ctx), errStopping) {
		return w.nak(r) // interrupted by the shutdown, not by the target: repeated with the same idempotency key
	}
	r.baton.Trace = spans.Trace()
	w.unrecorded.wait(r)
	return recorded{r}
}

// canceled reports whether the occurrence of r was canceled since its job was read. If the job cannot be read now, the
// worker checks again after the attempt.
func (w *Worker) canceled(r *run) bool {
	if w.jobs.Unchanged(r.key(), r.since) {
		return false
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.job.Revision)
	return err == nil && r.baton.BelongsTo(j) && j.Canceling(&r.baton) != nil
}

// invoke calls the action. A panic counts as a failed attempt.
func (w *Worker) invoke(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (res scheduler.Result) {
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(ctx, "action panicked", "job", a.Job.String(), "occurrence", a.Occurrence,
				"attempt", a.ID, "err", p, "stack", string(debug.Stack()))
			res = scheduler.Result{Failed: true, Message: fmt.Sprintf("the action panicked: %v", p)}
		}
	}()
	return action.Invoke(ctx, a)
}
