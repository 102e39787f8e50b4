package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Edit is a request to put or patch a job.
type Edit struct {
	Key          scheduler.Key
	Body         []byte // JSON or YAML
	SpecSequence uint64 // stream sequence if the edit was published as a spec; otherwise 0
	Strict       bool   // treat warnings as errors
	DryRun       bool   // validate everything, write nothing, and return the resulting view

	// KeepInLists are the paths of secrets in lists that a patch omits, but that are retained. Secrets in objects are
	// always retained. A path identifies a list element by its index, so the client asserts that the element has not
	// moved.
	KeepInLists []string
}

// Editor edits jobs.
type Editor struct {
	shared *shared
	plans  *planner
	reads  Reader

	creating *atomic.Bool // the last put created a job

	when scheduler.Condition // of every edit

	known *scheduler.Job // the job of an operation, as [item] has it; nil: read it, and return its view
}

// load returns the stored job. The first try uses known if it is set.
func (e Editor) load(ctx context.Context, k scheduler.Key, try int) (*scheduler.Job, error) {
	if try == 0 && e.known != nil {
		return e.known, nil
	}
	return e.shared.load(ctx, k)
}

// Put creates a job or replaces its definition: omitted fields take their defaults, except the state, which does not
// change. created, like the view's Result, reports which. An equal definition changes nothing. A changed job that has
// ended starts again. A damaged job is repaired.
//
// Omitted secrets are an error if the job has them: no view of a job shows them, so the document may be a view that is
// put back. Null removes a secret or its parent. A dry run treats all secrets in the document as new.
//
// Errors: ErrInvalid with every problem; ErrNotFound if the collection does not exist; ErrConflict if a quota is
// exhausted.
func (e Editor) Put(ctx context.Context, edit Edit) (v *v1.Job, created bool, err error) {
	ctx = asking(ctx, "put")
	r, def, at, err := e.define(ctx, edit)
	if err != nil {
		return nil, false, e.hintSecrets(ctx, edit.Key, err)
	}
	if edit.DryRun {
		def = def.Disguised(rand.Text(), nil)
	}
	linked := len(def.Links(edit.Key)) > 0                               // the check compares them with the stored job
	if e.creating.Load() && !edit.DryRun && e.when.IsZero() && !linked { // jobs come in herds: skip the lookup of this one
		v, err := e.create(ctx, 0, edit, r, def)
		if !errors.Is(err, step.ErrOvertaken) && !errors.Is(err, scheduler.ErrConflict) {
			return v, err == nil, err
		}
	}
	v, err = e.apply(ctx, edit, r, func(cur *scheduler.Job) (*scheduler.Definition, error) {
		if err := e.meets(edit.Key, cur); err != nil {
			return nil, err
		}
		return def, scheduler.CheckOmitted(cur, def, at)
	})
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok && damaged.Key == edit.Key {
		v, err = e.repair(ctx, damaged, edit, r, def)
	}
	created = err == nil && v.Result == v1.Created
	e.creating.Store(created)
	return v, created, err
}

// Patch merges a document into a job's definition (RFC 7396): omitted fields do not change, and null removes a field.
// Errors are those of Put, and ErrNotFound if the job does not exist. A patch that sends an action's secrets to another
// host, or unencrypted to the same one, must provide them; see [scheduler.SecretDestination].
func (e Editor) Patch(ctx context.Context, edit Edit) (*v1.Job, error) {
	ctx = asking(ctx, "patch")
	c, v, err := e.open(ctx, edit)
	if err != nil {
		return nil, err
	}
	patch, err := scheduler.ReadPatch(edit.Key, v)
	if err != nil {
		return nil, err
	}
	r := e.decoder(c, edit.Key)
	view, err := e.apply(ctx, edit, r, func(cur *scheduler.Job) (*scheduler.Definition, error) {
		if cur == nil {
			return nil, fmt.Errorf("job %s: %w", edit.Key, scheduler.ErrNotFound)
		}
		if err := e.meets(edit.Key, cur); err != nil {
			return nil, err
		}
		def, err := e.patched(ctx, edit, r, cur, patch)
		if err != nil {
			return nil, err
		}
		if _, turned := patch.Member("state"); turned {
			settled, err := e.shared.steps.Settled(ctx, cur)
			if err != nil {
				return nil, err
			}
			if settled.State.Final() && settled.Equals(def) {
				return nil, settled.EndedError()
			}
		}
		return def, c.AdmitsPatch(cur, def, r)
	})
	return view, err
}

// apply writes the definition that change derives from the current job, and arms or moves the job's baton.
func (e Editor) apply(
	ctx context.Context, edit Edit, r *scheduler.DefinitionDecoder, change func(cur *scheduler.Job) (*scheduler.Definition, error),
) (*v1.Job, error) {
	var release func() // nil: this edit has no turn
	defer func() {
		if release != nil {
			release()
		}
	}()
	for try := range casTries {
		if try == 1 { // there are concurrent edits: take turns
			var err error
			if release, err = e.shared.editing.Acquire(ctx, edit.Key.String()); err != nil {
				return nil, err
			}
		}
		cur, at, err := e.shared.find(ctx, edit.Key)
		if err != nil {
			return nil, err
		}
		if cur == nil && edit.SpecSequence > 0 && at.SpecSequence > edit.SpecSequence {
			return nil, fmt.Errorf("job %s: %w: a later spec deleted it", edit.Key, scheduler.ErrConflict)
		}
		if cur != nil && edit.SpecSequence > 0 && cur.SpecSequence >= edit.SpecSequence {
			return e.done(ctx, cur, edit)
		}
		def, err := change(cur)
		if err != nil {
			return nil, err
		}
		v, err := e.write(ctx, cur, at.Revision, edit, r, def)
		if !errors.Is(err, step.ErrOvertaken) {
			return v, err
		}
	}
	return nil, contended("job " + edit.Key.String())
}

// done returns the result of a spec that was applied before, after which the job may have run and been edited, or that
// a later spec has replaced.
func (e Editor) done(ctx context.Context, cur *scheduler.Job, edit Edit) (*v1.Job, error) {
	if cur.SpecSequence == edit.SpecSequence {
		if err := e.shared.ensureRecorded(ctx, lastEdit(cur)); err != nil {
			return nil, err
		}
	}
	if cur.SpecSequence > edit.SpecSequence {
		return e.superseded(ctx, cur)
	}
	v, err := e.unchanged(ctx, cur, step.From{})
	if v != nil {
		v.Warnings = cur.Def.Warnings(cur.Plan)
	}
	return v, err
}

// superseded returns the result of an edit that a later spec has replaced.
func (e Editor) superseded(ctx context.Context, cur *scheduler.Job) (*v1.Job, error) {
	v, err := e.reads.view(ctx, cur)
	if v != nil {
		v.Superseded, v.Result = true, v1.Unchanged
	}
	return v, err
}

// write stores a definition over the revision rev and updates the baton.
func (e Editor) write(
	ctx context.Context, cur *scheduler.Job, rev uint64, edit Edit, r *scheduler.DefinitionDecoder, def *scheduler.Definition,
) (*v1.Job, error) {
	if cur == nil {
		return e.create(ctx, rev, edit, r, def)
	}
	stored, same, at := cur, cur.Equals(def), step.From{}
	if !same || edit.DryRun || edit.SpecSequence > cur.SpecSequence { // an unchanged definition remains unchanged at the job's end
		var err error
		if cur, at, err = e.shared.steps.Find(ctx, stored); err != nil {
			return nil, err
		}
		same = cur.Equals(def)
	}
	next, err := cur.Edited(def, e.shared.Store.Now().UTC(), edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	warnings, err := e.warningsOf(ctx, cur, def, next, edit)
	if err != nil {
		return nil, err
	}
	var v *v1.Job
	switch {
	case edit.DryRun:
		v, err = e.dryRun(ctx, cur, next, at)
	case same && edit.SpecSequence <= cur.SpecSequence:
		v, err = e.unchanged(ctx, stored, at)
	default:
		v, err = e.replace(ctx, cur, next, at)
	}
	if err != nil {
		return nil, err
	}
	v.Result, v.Warnings = v1.Updated, warnings
	if same {
		v.Result = v1.Unchanged
	}
	return v, nil
}

// warningsOf returns the warnings about def, which makes the job next from cur, nil for none. For a strict edit, they are
// an [ErrInvalid], as are a cycle of jobs that start each other, and a link to another collection without the right to it.
func (e Editor) warningsOf(
	ctx context.Context, cur *scheduler.Job, def *scheduler.Definition, next *scheduler.Job, edit Edit,
) ([]spec.Warning, error) {
	if err := mayLink(ctx, next.Key, cur, def); err != nil {
		return nil, err
	}
	followed, err := e.follow(ctx, next.Key, cur, def)
	if err != nil {
		return nil, err
	}
	warnings := append(def.Warnings(next.Plan), followed...)
	if !edit.Strict || len(warnings) == 0 {
		return warnings, nil
	}
	return nil, scheduler.RefuseWarnings(warnings)
}

// unchanged returns the result of an edit that changes nothing. It also checks the baton, because a crash may have
// interrupted an earlier try of the same edit. seen is where the baton waits, zero if unknown.
func (e Editor) unchanged(ctx context.Context, j *scheduler.Job, seen step.From) (v *v1.Job, err error) {
	if j.State == scheduler.Enabled {
		v, err = e.rearmed(ctx, j, j, seen)
	}
	if v == nil && err == nil {
		if j, err = e.shared.steps.Settled(ctx, j); err == nil {
			v, err = e.reads.view(ctx, j)
		}
	}
	if v != nil {
		v.Result = v1.Unchanged
	}
	return v, err
}

// rearmed makes the baton of a job follow its definition. It returns the job's view, or nil if that takes another look:
// a worker has the baton, or the job has ended. was and seen are as for [planner.replan].
func (e Editor) rearmed(ctx context.Context, j, was *scheduler.Job, seen step.From) (*v1.Job, error) {
	b, err := e.plans.replan(ctx, j, was, seen)
	switch {
	case err != nil:
		return nil, err
	case e.known != nil:
		return &v1.Job{Job: j}, nil
	case b == nil:
		return nil, nil //nolint:nilnil // another look is necessary
	}
	return e.shared.running(ctx, e.shared.Collections.Inherit(ctx, j), b, false), nil
}

// replace stores an edited job and moves its baton. seen is where the baton waits, zero if unknown.
func (e Editor) replace(ctx context.Context, cur, next *scheduler.Job, seen step.From) (v *v1.Job, err error) {
	at, err := e.plans.leave(ctx, cur, next, &seen)
	if err != nil {
		return nil, err
	}
	if next.State == scheduler.Disabled {
		next = next.Stopped(cur, at)
	}
	if err := e.save(ctx, cur, next, cur.Revision); err != nil {
		return nil, err
	}
	switch next.State { //nolint:exhaustive // a final state has been written and needs no baton
	case scheduler.Disabled:
		v, err = e.stopped(ctx, cur, next, seen)
	case scheduler.Enabled:
		v, err = e.rearmed(ctx, next, cur, seen)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: stored, but not planned yet: %w", next.Key, err)
	}
	if v == nil {
		v, err = e.reads.Get(ctx, next.Key) // a worker has the baton, or the edit has ended the job
		if v != nil && next.State == scheduler.Enabled && v.Status.Message != "" && v.Status.Occurrences > at.Number {
			v.Status.Message = "" // it has run and ended meanwhile: the advice to enable it again would mislead
		}
	}
	if v != nil {
		v.Result = v1.Updated
	}
	return v, err
}

// stopped removes the baton of next, which was disabled as cur. It returns the job's view, or nil if that takes another
// look. seen is where the baton waited before the edit. It may have moved since, or an earlier edit may have yet to move it.
func (e Editor) stopped(ctx context.Context, cur, next *scheduler.Job, seen step.From) (*v1.Job, error) {
	if seen.Waiting != 0 && seen.Baton.Revision != cur.Revision {
		seen = step.From{}
	}
	err := e.plans.cancelPlannedOnce(ctx, next, seen)
	if errors.Is(err, scheduler.ErrConflict) {
		seen = step.From{}
		err = e.plans.cancelPlanned(ctx, next)
	}
	if err == nil && (e.known != nil || seen.Waiting != 0 && seen.Baton.NeedsOpen()) {
		return v1.NewJob(e.shared.Collections.Inherit(ctx, next), next.Progress, e.shared.Store.Now()), nil
	}
	return nil, err
}
