package scheduler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// start runs an attempt that has been given a slot.
func (w *Worker) start(r *run) {
	w.step(func() {
		switch w.stands(w.settles, r) {
		case runs:
			w.attempt(r)
		case again:
			w.targets.forgo(r)
			w.arrive(r)
		case nobody:
			w.targets.forgo(r)
			w.dropStray(r)
		}
	})
}

// attempt runs the action once, frees the slot, and settles the outcome.
func (w *Worker) attempt(r *run) {
	a := r.baton.attempt(r.key())
	a.Timeout = r.job.Def.Timeout
	ctx, cancel := context.WithTimeout(w.actions, a.Timeout)
	a.hidden = &hidden{}
	a.Shared = func(name string) (string, error) { return w.secrets.Shared(ctx, name) }
	started := time.Now()
	res := a.hidden.clean(w.invoke(ctx, r.spec.Run, a))
	res.Duration = time.Since(started)
	res.Final = res.Failed && r.spec.Retry.final(res)
	stopped := res.Failed && errors.Is(context.Cause(ctx), errStopping)
	cancel()
	w.targets.done(r, res)
	if stopped {
		w.giveBack(r) // cut short by the stop, not by the target: repeated under the same key
		return
	}
	w.finish(r, started, res)
}

// invoke calls the action; a panic is a failed attempt.
func (w *Worker) invoke(ctx context.Context, action Action, a Attempt) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("action panicked", "job", a.Job.String(), "occurrence", a.Occurrence,
				"attempt", a.ID, "err", p, "stack", string(debug.Stack()))
			res = Result{Failed: true, Message: fmt.Sprintf("the action panicked: %v", p)}
		}
	}()
	return action.Invoke(ctx, a)
}
