package service

import (
	"context"
	"crypto/rand"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// create stores a new job and arms its first baton.
func (e Editor) create(ctx context.Context, rev uint64, edit Edit, r *scheduler.Reading, def *scheduler.Definition) (*view.Job, error) {
	if err := e.checkJobCount(ctx, edit.Key.Collection); err != nil {
		return nil, err
	}
	j, err := scheduler.NewJob(edit.Key, r.UID, def, r.Now, edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	warnings, err := warningsOf(def, j, edit)
	if err != nil {
		return nil, err
	}
	first := j.Begin(scheduler.Progress{}, r.Now)
	if first.Next == nil && j.State == scheduler.Enabled {
		j.State = scheduler.Completed // it has no instant left
	}
	v := view.NewJob(j, scheduler.Progress{})
	if j.State == scheduler.Enabled {
		v = e.shared.running(ctx, j, first.Next, false)
	}
	v.Result, v.Warnings = view.Created, warnings
	if edit.DryRun {
		v.DryRun = view.NewDryRun(j, first.Next)
		_, err = j.Encode(e.shared.Secrets)
	} else {
		err = e.begin(ctx, j, rev, first)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// begin stores a new job and arms the baton that its first step has.
func (e Editor) begin(ctx context.Context, j *scheduler.Job, rev uint64, first scheduler.Step) error {
	if err := e.save(ctx, j, rev); err != nil {
		return err
	}
	if first.Next == nil { // all it had may be left out by a clock
		if err := e.shared.steps.Record(ctx, j.Key, first.Records, true); err != nil {
			return err
		}
	}
	if j.State != scheduler.Enabled {
		return nil
	}
	first.Next.Revision = j.Revision
	return e.plans.armFirst(ctx, j, first) // when it fails, the definition stands: the audit, or a repetition, arms it
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

// newUID tells a job from an earlier one of its name.
func newUID() string { return rand.Text() }
