package control

import (
	"cmp"
	"context"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
)

// dryRun returns the view of next, an edit of cur, as if it were stored. It writes nothing. seen is where the baton
// waits, zero if unknown.
func (e Editor) dryRun(ctx context.Context, cur, next *scheduler.Job, seen step.From) (*v1.Job, error) {
	if _, err := next.Encode(e.shared.Secrets); err != nil {
		return nil, err
	}
	found := scheduler.Found{Waiting: seen.Baton}
	if seen.Waiting == 0 {
		var err error
		if found, _, err = e.plans.peek(ctx, cur.Key); err != nil {
			return nil, err
		}
	}
	own := found.Own(cur)
	v, err := e.dryRunEdit(ctx, cur, next, found)
	if err != nil {
		return nil, err
	}
	if cur.State != scheduler.Enabled {
		own = nil
	}
	v.DryRun = v.DryRun.WithStored(cur, own, v.Job)
	v.Job = e.shared.Collections.Inherit(ctx, v.Job)
	return v, nil
}

// dryRunEdit is dryRun without the comparison with the current plan.
func (e Editor) dryRunEdit(ctx context.Context, cur, next *scheduler.Job, found scheduler.Found) (*v1.Job, error) {
	now := e.shared.Store.Now()
	if next.State == scheduler.Disabled {
		p := cur.Progress
		if own := found.Own(cur); own != nil {
			p = own.Progress
		}
		next = next.Stopped(cur, p)
	}
	if next.State != scheduler.Enabled {
		return v1.NewJob(next, next.Progress, now), nil
	}
	edited := *next
	edited.Revision++ // as after the edit: no baton follows it yet
	what, s := edited.Replan(cur.State, found, now.UTC())
	if what == scheduler.DeriveAgain {
		search, err := e.shared.steps.Position(ctx, &edited)
		if err != nil {
			return nil, err
		}
		what, s = scheduler.ReplaceIt, search.Next(now.UTC())
	}
	b, running := cmp.Or(found.Waiting, found.Running), found.Running != nil
	if what == scheduler.ReplaceIt {
		s, err := e.plans.rejoined(ctx, &edited, cur.State, s)
		if err != nil {
			return nil, err
		}
		b, running = s.Next, false
	}
	if b == nil {
		edited.State = scheduler.Completed
		return v1.NewJob(&edited, edited.Progress, now), nil
	}
	v := v1.NewRunning(&edited, b, running, now)
	v.DryRun = v1.NewDryRun(&edited, b)
	return v, nil
}
