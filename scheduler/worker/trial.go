package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// How long a test run waits for a slot, and how often it tries.
const (
	trialPatience = 10 * time.Second
	trialLook     = 50 * time.Millisecond
)

// Try runs one attempt of an action now, independently of all jobs, and returns its result. It takes a slot of the
// target like any attempt and waits briefly for one. It records nothing, and a failure does not count against the
// target, because a job under test may itself be wrong. Without a slot it returns ErrConflict.
func (w *Worker) Try(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (scheduler.Result, error) {
	r := &run{Call: limits.Call{Key: a.Job, Target: action.Target()}}
	r.Rule = w.cfg.Collections.Rule(a.Job.Collection, r.Target)
	for deadline := w.cfg.Store.Now().Add(trialPatience); ; {
		refused := w.limiter.Enter(r)
		if refused == nil {
			break
		}
		if refused.Hard || refused.Until.After(deadline) || w.cfg.Store.Now().After(deadline) {
			return scheduler.Result{}, fmt.Errorf("job %s: %w: it was not tried: %s", a.Job, scheduler.ErrConflict, refused.Why)
		}
		select {
		case <-time.After(trialLook):
		case <-ctx.Done():
			return scheduler.Result{}, context.Cause(ctx)
		}
	}
	limited, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	began := time.Now()
	res := w.invoke(limited, action, a)
	res.Duration = time.Since(began)
	counted := res
	counted.Blameless = counted.Failed
	w.limiter.Done(r, counted)
	return res, nil
}
