package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// create stores a new job and arms its first baton.
func (e Editor) create(
	ctx context.Context, rev uint64, edit Edit, r *scheduler.DefinitionDecoder, def *scheduler.Definition,
) (*v1.Job, error) {
	if edit.DryRun {
		if _, err := e.checkJobCount(ctx, edit.Key.Collection); err != nil {
			return nil, err
		}
	}
	j, err := scheduler.NewJob(edit.Key, r.UID, def, r.Now, edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	warnings, err := e.warningsOf(ctx, nil, def, j, edit)
	if err != nil {
		return nil, err
	}
	first := j.Begin(scheduler.Progress{}, r.Now)
	if first.Next == nil && j.State == scheduler.Enabled {
		j.State = scheduler.Completed // it has no due time left
	}
	v := v1.NewJob(j, scheduler.Progress{}, e.shared.Store.Now())
	if j.State == scheduler.Enabled {
		v = e.shared.running(ctx, j, first.Next, false)
	}
	v.Result, v.Warnings = v1.Created, warnings
	if edit.DryRun {
		v.DryRun = v1.NewDryRun(j, first.Next).WithStored(nil, nil, j)
		_, err = j.Encode(e.shared.Secrets)
	} else {
		err = e.begin(ctx, j, rev, first)
	}
	if errors.Is(err, errAdopted) {
		found, err := e.reads.Get(ctx, j.Key)
		if err != nil {
			return nil, err
		}
		found.Result, found.Warnings = v.Result, v.Warnings
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	v.Job = e.shared.Collections.Inherit(ctx, j)
	return v, nil
}

// begin stores a new job and arms the baton of its first step. If the job already had a baton, begin continues with
// that one and returns errAdopted.
func (e Editor) begin(ctx context.Context, j *scheduler.Job, rev uint64, first scheduler.Step) error {
	if err := e.save(ctx, nil, j, rev); err != nil {
		return err
	}
	if first.Next == nil { // all its due times may fall into DST gaps
		if err := e.shared.steps.Record(ctx, j, first.Records, true); err != nil {
			return err
		}
	}
	switch j.State { //nolint:exhaustive // a final state needs no baton
	case scheduler.Enabled:
		first.Next.Revision = j.Revision
		old, err := e.plans.armFirst(ctx, j, rev, first)
		if old == nil {
			return err // the definition is stored: a consistency check, or a repetition, arms the job
		}
		return e.reattach(ctx, j, old)
	case scheduler.Disabled:
		old, err := e.plans.orphanOf(ctx, j, rev)
		if old == nil {
			return err
		}
		return e.reattach(ctx, j, old)
	}
	return nil
}

// errAdopted reports that a new job continues with an existing baton, because its previous definition was lost.
var errAdopted = errors.New("adopted")

// reattach stores the new job j as the owner of the orphaned baton old, and makes that baton follow it.
func (e Editor) reattach(ctx context.Context, j *scheduler.Job, old *scheduler.Baton) error {
	next, err := j.Reattach(*old)
	if err != nil {
		return err
	}
	if next.State == scheduler.Disabled {
		next.Progress = old.Progress
	}
	if err := e.save(ctx, j, next, j.Revision); err != nil {
		return err
	}
	if next.State == scheduler.Disabled {
		err = e.plans.cancelPlanned(ctx, next)
	} else {
		_, err = e.plans.replan(ctx, next, next, step.From{})
	}
	if err != nil {
		return fmt.Errorf("job %s: stored, but not planned yet: %w", next.Key, err)
	}
	return errAdopted
}

// save writes j over a revision and sets its new revision. cur is the previous form, nil for a new job. It writes an
// audit log entry.
func (e Editor) save(ctx context.Context, cur, j *scheduler.Job, replaces uint64) error {
	edit := !sameEdit(cur, j)
	if edit {
		j.Origin = origin(ctx)
	}
	if edit && cur != nil {
		j.Origin.Replaces = cur.Revision
		if e.known == nil || e.known.Revision != cur.Revision {
			if err := e.shared.ensureRecorded(ctx, lastEdit(cur)); err != nil {
				return fmt.Errorf("job %s: the audit log cannot be read: %w", j.Key, err)
			}
		}
	}
	data, err := j.Encode(e.shared.Secrets)
	if err != nil {
		return err
	}
	rev, err := e.store(ctx, cur, j, data, replaces)
	if err != nil {
		return err
	}
	j.Revision = rev
	if edit {
		e.shared.recordEdit(ctx, cur, j)
	}
	return nil
}

// store writes the definition of j over a revision, and what its trigger listens to. A new job requires room in its
// collection's quota.
func (e Editor) store(ctx context.Context, cur, j *scheduler.Job, data []byte, replaces uint64) (rev uint64, err error) {
	heard, err := registry.Prepare(ctx, e.shared.Store.Listeners(), j.Key, heardBy(cur), heardBy(j))
	if err != nil {
		return 0, err
	}
	defer func() {
		if err == nil {
			e.shared.completeHeard(ctx, j.Key, heard)
		}
	}()
	switch {
	case cur == nil:
		rev, err = e.admit(ctx, j, data, replaces)
	case cur.State.Final() && j.State.Final(): // it expires when it would have without the edit
		rev, err = e.shared.Store.RewriteJob(ctx, j.Key, data, replaces, true)
	default:
		rev, err = e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	}
	if _, full := errors.AsType[*quotaError](err); full {
		return 0, err
	}
	return rev, overtaken(err)
}

// completeHeard completes a change of what the trigger of a job listens to.
func (h *shared) completeHeard(ctx context.Context, k scheduler.Key, c registry.Change) {
	if err := c.Complete(ctx); err != nil {
		h.Logger.Warn("the job still receives events that it does not listen to, and ignores them", "job", k.String(), "err", err)
	}
}
