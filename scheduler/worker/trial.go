package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// How long somebody who tries a job out waits for a slot, and how often it is looked for.
const (
	trialPatience = 10 * time.Second
	trialLook     = 50 * time.Millisecond
)

// Try runs one attempt of an action now, beside all jobs, and answers with what became of it. It takes a slot of its target
// like any other attempt, and waits a moment for one; nothing is recorded, and nothing follows. That it fails is not counted
// against its target: a job that is tried out may be wrong itself. ErrConflict when there is no slot.
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
