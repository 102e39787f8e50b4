package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// foresee returns the view of next, an edit of cur, as if it were stored. It writes nothing.
func (e Editor) foresee(ctx context.Context, cur, next *scheduler.Job) (*view.Job, error) {
	v, err := e.foreseen(ctx, cur, next)
	if err != nil {
		return nil, err
	}
	var now *scheduler.Baton
	if cur.State == scheduler.Enabled {
		if now, _, err = e.plans.baton(ctx, cur); err != nil {
			return nil, err
		}
	}
	v.DryRun = v.DryRun.Over(cur, now, v.Job)
	v.Job = e.shared.Collections.Inherit(ctx, v.Job)
	return v, nil
}

// foreseen returns the view without further checks.
func (e Editor) foreseen(ctx context.Context, cur, next *scheduler.Job) (*view.Job, error) {
	if _, err := next.Encode(e.shared.Secrets); err != nil {
		return nil, err
	}
	if next.State == scheduler.Disabled {
		p, err := e.plans.progress(ctx, cur)
		if err != nil {
			return nil, err
		}
		next = next.Stopped(cur, p)
	}
	if next.State != scheduler.Enabled {
		return view.NewJob(next, next.Progress, e.shared.Store.Now()), nil
	}
	edited := *next
	edited.Revision++ // as after the edit: no baton follows it yet
	b, running, err := e.plans.foreseen(ctx, &edited, cur.State)
	if err != nil {
		return nil, err
	}
	if b == nil {
		edited.State = scheduler.Completed
		return view.NewJob(&edited, edited.Progress, e.shared.Store.Now()), nil
	}
	v := view.NewRunning(&edited, b, running, e.shared.Store.Now())
	v.DryRun = view.NewDryRun(&edited, b)
	return v, nil
}

// foreseen returns the baton that an enabled job would have after an edit, or nil if the job would end. was is the
// state before the edit.
func (p *planner) foreseen(ctx context.Context, j *scheduler.Job, was scheduler.State) (b *scheduler.Baton, running bool, err error) {
	found, _, err := p.locate(ctx, j.Key)
	if err != nil && found.Running == nil {
		return nil, false, err
	}
	now := p.shared.Store.Now().UTC()
	what, s := j.Replan(was, found, now)
	if what == scheduler.DeriveAgain {
		search, err := p.shared.steps.Place(ctx, j)
		if err != nil {
			return nil, false, err
		}
		what, s = scheduler.ReplaceIt, search.Next(now)
	}
	if what == scheduler.ReplaceIt {
		s, err = p.rejoined(ctx, j, was, s)
		return s.Next, false, err
	}
	return cmp.Or(found.Waiting, found.Running), found.Running != nil, nil
}

// ForeseeCollection returns the result of PutCollection and changes nothing.
func (c CollectionKeeper) ForeseeCollection(ctx context.Context, name string, body []byte) (*view.ForeseenCollection, error) {
	wish, err := c.readCollection(ctx, name, body)
	if err != nil {
		return nil, err
	}
	cur, err := c.stored(ctx, name)
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		return &view.ForeseenCollection{Would: wish, Result: view.Updated}, c.meets(name, damaged.Collection())
	}
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return nil, err
	}
	would, result, err := replaced(cur, wish)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.meets(name, cur), c.checkPlan(ctx, cur, would)); err != nil {
		return nil, err
	}
	return &view.ForeseenCollection{Is: cur, Would: would, Result: result}, nil
}

// ForeseeCollectionPatch returns the result of PatchCollection and changes nothing.
func (c CollectionKeeper) ForeseeCollectionPatch(ctx context.Context, name string, body []byte) (*view.ForeseenCollection, error) {
	patch, err := readCollectionPatch(ctx, name, body)
	if err != nil {
		return nil, err
	}
	cur, err := c.stored(ctx, name)
	if err != nil {
		return nil, err
	}
	would, err := c.patched(ctx, name, cur, patch)
	if err != nil {
		return nil, err
	}
	result := view.Updated
	if would.Equals(cur) {
		result = view.Unchanged
	}
	return &view.ForeseenCollection{Is: cur, Would: would, Result: result}, nil
}
