package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Edit is a request to put or patch a job.
type Edit struct {
	Key          scheduler.Key
	Body         []byte // JSON or YAML
	SpecSequence uint64 // stream sequence when the edit was published as a spec; 0 otherwise
}

// Editor changes jobs.
type Editor struct {
	shared *shared
	plans  *planner
	reads  Reader

	creating *atomic.Bool // the last job that was put was new
}

// Put creates a job, or replaces its definition: everything the document does
// not name takes its default. created tells which. A definition equal to the
// present one changes nothing.
//
// Secrets are the exception: no view of a job shows them, so a document that
// leaves out one that the job has may be such a view that is put back, and is
// refused. Null drops a secret, or what it stands in.
//
// Errors: ErrInvalid with every problem; ErrNotFound when the collection does
// not exist; ErrConflict when a quota is used up, or the job is completed or
// faulted, which is final.
func (e Editor) Put(ctx context.Context, edit Edit) (v *view.Job, created bool, err error) {
	r, def, at, err := e.define(ctx, edit)
	if err != nil {
		return nil, false, e.hintSecrets(ctx, edit.Key, err)
	}
	if e.creating.Load() { // jobs come in herds: do without the look whether this one exists
		v, err := e.create(ctx, 0, edit, r, def)
		if !errors.Is(err, step.ErrOvertaken) && !errors.Is(err, scheduler.ErrConflict) {
			return v, err == nil, err
		}
	}
	v, created, err = e.apply(ctx, edit, r, func(cur *scheduler.Job) (*scheduler.Definition, error) {
		return def, scheduler.CheckOmitted(cur, def, at)
	})
	e.creating.Store(created)
	return v, created, err
}

// Patch merges a document into a job's definition (RFC 7396): what it does not
// name stays, null removes. Errors as for Put, and ErrNotFound when the job
// does not exist. A patch that sends an action's secrets to another host, or to
// the same one unencrypted, must bring them itself; see
// [scheduler.SecretDestination].
func (e Editor) Patch(ctx context.Context, edit Edit) (*view.Job, error) {
	c, v, err := e.open(ctx, edit)
	if err != nil {
		return nil, err
	}
	patch, err := scheduler.ReadPatch(edit.Key, v)
	if err != nil {
		return nil, err
	}
	r := e.reading(c, edit.Key)
	view, _, err := e.apply(ctx, edit, r, func(cur *scheduler.Job) (*scheduler.Definition, error) {
		if cur == nil {
			return nil, fmt.Errorf("job %s: %w", edit.Key, scheduler.ErrNotFound)
		}
		def, err := e.patched(ctx, r, cur, patch)
		if err != nil {
			return nil, err
		}
		again := edit.SpecSequence > 0 && edit.SpecSequence == cur.SpecSequence // done before, and the job has run since
		if _, turned := patch.Member("state"); turned && cur.State.Final() && !again {
			return nil, finalError(cur)
		}
		return def, c.Admits(def, r)
	})
	return view, err
}

func finalError(j *scheduler.Job) error {
	return fmt.Errorf("job %s: %w: it is %s, which is final", j.Key, scheduler.ErrConflict, j.State)
}

// apply writes the definition that change makes of the current job, and arms or
// re-plans the job's baton.
func (e Editor) apply(
	ctx context.Context, edit Edit, r *scheduler.Reading, change func(cur *scheduler.Job) (*scheduler.Definition, error),
) (*view.Job, bool, error) {
	for range casTries {
		cur, at, err := e.shared.find(ctx, edit.Key)
		if err != nil {
			return nil, false, err
		}
		if cur == nil && edit.SpecSequence > 0 && at.SpecSequence > edit.SpecSequence {
			return nil, false, fmt.Errorf("job %s: %w: a later spec deleted it", edit.Key, scheduler.ErrConflict)
		}
		if cur != nil && edit.SpecSequence > 0 && cur.SpecSequence > edit.SpecSequence {
			v, err := e.superseded(ctx, cur)
			return v, false, err
		}
		def, err := change(cur)
		if err != nil {
			return nil, false, err
		}
		v, err := e.write(ctx, cur, at.Revision, edit, r, def)
		if errors.Is(err, step.ErrOvertaken) {
			continue
		}
		return v, cur == nil, err
	}
	return nil, false, contended("job " + edit.Key.String())
}

// superseded answers an edit that a later one has overtaken.
func (e Editor) superseded(ctx context.Context, cur *scheduler.Job) (*view.Job, error) {
	v, err := e.reads.view(ctx, cur)
	if v != nil {
		v.Superseded = true
	}
	return v, err
}

// write stores a definition over the revision rev and sees to the baton.
func (e Editor) write(
	ctx context.Context, cur *scheduler.Job, rev uint64, edit Edit, r *scheduler.Reading, def *scheduler.Definition,
) (*view.Job, error) {
	if cur == nil {
		return e.create(ctx, rev, edit, r, def)
	}
	if cur.Equals(def) && edit.SpecSequence <= cur.SpecSequence {
		return e.unchanged(ctx, cur)
	}
	if cur.State.Final() && !cur.Equals(def) {
		return nil, fmt.Errorf("job %s: %w: it is %s, which is final; delete it to use the name again",
			cur.Key, scheduler.ErrConflict, cur.State)
	}
	next, err := cur.Edited(def, time.Now().UTC(), edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	return e.replace(ctx, cur, next)
}

// unchanged answers an edit that changes nothing. It makes sure of the baton,
// as the edit may be the repetition of one that was cut short.
func (e Editor) unchanged(ctx context.Context, j *scheduler.Job) (*view.Job, error) {
	if j.State == scheduler.Enabled {
		if err := e.plans.replan(ctx, j, scheduler.Enabled); err != nil {
			return nil, err
		}
	}
	return e.reads.view(ctx, j)
}

// create stores a new job and arms its first baton.
func (e Editor) create(ctx context.Context, rev uint64, edit Edit, r *scheduler.Reading, def *scheduler.Definition) (*view.Job, error) {
	if err := e.checkJobCount(ctx, edit.Key.Collection); err != nil {
		return nil, err
	}
	j, err := scheduler.NewJob(edit.Key, r.UID, def, r.Now, edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	first := j.Begin(scheduler.Progress{}, r.Now)
	if first.Next == nil && j.State == scheduler.Enabled {
		j.State = scheduler.Completed // it has no instant left
	}
	if err := e.save(ctx, j, rev); err != nil {
		return nil, err
	}
	if first.Next == nil { // all it had may be left out by a clock
		if err := e.shared.steps.Record(ctx, j.Key, first.Records, true); err != nil {
			return nil, err
		}
	}
	v := view.NewJob(j, scheduler.Progress{})
	if j.State != scheduler.Enabled {
		return v, nil
	}
	first.Next.Revision = j.Revision
	if err := e.plans.armFirst(ctx, j, first); err != nil {
		return nil, err // the definition stands: the audit, or a repetition, arms it
	}
	return e.shared.running(ctx, j, first.Next, false), nil
}

// save writes j over a revision and sets its new one.
func (e Editor) save(ctx context.Context, j *scheduler.Job, replaces uint64) error {
	data, err := j.Encode(e.shared.Secrets)
	if err != nil {
		return err
	}
	rev, err := e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	if err != nil {
		return overtaken(err)
	}
	j.Revision = rev
	return nil
}

// replace stores an edited job and re-plans it.
func (e Editor) replace(ctx context.Context, cur, next *scheduler.Job) (*view.Job, error) {
	if next.State == scheduler.Disabled || next.ScheduleGen != cur.ScheduleGen {
		if err := e.plans.settle(ctx, cur); err != nil {
			return nil, err
		}
	}
	if next.State == scheduler.Disabled && cur.State == scheduler.Enabled {
		p, err := e.plans.progress(ctx, cur)
		if err != nil {
			return nil, err
		}
		next = next.Stopped(cur, p)
	}
	if err := e.save(ctx, next, cur.Revision); err != nil {
		return nil, err
	}
	var err error
	switch next.State { //nolint:exhaustive // a final state has been written, and needs no baton
	case scheduler.Disabled:
		err = e.plans.cancelPlanned(ctx, next)
	case scheduler.Enabled:
		err = e.plans.replan(ctx, next, cur.State)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: stored, but not planned yet: %w", next.Key, err)
	}
	return e.reads.Get(ctx, next.Key)
}

// newUID tells a job from an earlier one of its name.
func newUID() string { return rand.Text() }
