package control

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
)

// repair replaces a damaged job with a definition.
func (e Editor) repair(
	ctx context.Context, damaged *scheduler.DamagedError, edit Edit, r *scheduler.DefinitionDecoder, def *scheduler.Definition,
) (*v1.Job, error) {
	if edit.SpecSequence > 0 && damaged.SpecSequence() > edit.SpecSequence {
		return nil, fmt.Errorf("job %s: %w: a later spec put it", edit.Key, scheduler.ErrConflict)
	}
	if err := e.meets(edit.Key, damaged.Job()); err != nil {
		return nil, err
	}
	j, err := damaged.Repaired(r.UID, def, r.Now, edit.SpecSequence)
	if err != nil {
		return nil, err
	}
	warnings, err := e.warningsOf(ctx, nil, def, j, edit)
	if err != nil {
		return nil, err
	}
	var v *v1.Job
	if edit.DryRun {
		v = v1.NewJob(j, j.Progress, r.Now)
		v.DryRun = v1.NewDryRun(j, j.Begin(j.Progress, r.Now).Next).WithStored(nil, nil, j)
		_, err = j.Encode(e.shared.Secrets)
	} else {
		v, err = e.putRepaired(ctx, j, damaged)
	}
	if err != nil {
		return nil, err
	}
	v.Result, v.Warnings = v1.Updated, warnings
	return v, nil
}

// putRepaired stores a job over the damaged revision, and arms its baton.
func (e Editor) putRepaired(ctx context.Context, j *scheduler.Job, damaged *scheduler.DamagedError) (*v1.Job, error) {
	err := e.save(ctx, damaged.Job(), j, damaged.Revision)
	if errors.Is(err, step.ErrOvertaken) {
		return nil, contended("job " + j.Key.String())
	}
	if err != nil {
		return nil, err
	}
	if j.UID == damaged.Job().UID {
		err = e.plans.goOn(ctx, j)
	} else if err = e.shared.Store.Clear(ctx, j.Key, scheduler.Left("", damaged.Revision)); err == nil && j.State == scheduler.Enabled {
		err = e.plans.rederive(ctx, j)
	}
	if err != nil && !errors.Is(err, scheduler.ErrConflict) { // on conflict, a consistency check was faster
		return nil, fmt.Errorf("job %s: stored, but not planned yet: %w", j.Key, err)
	}
	return e.reads.Get(ctx, j.Key)
}

// Doctor is [Auditor.Audit], and also reads each job and collection to report damaged ones.
func (a Auditor) Doctor(ctx context.Context, fix bool) (*AuditReport, error) {
	release, err := takeTurn(ctx, a.shared.doctoring)
	if err != nil {
		return nil, err
	}
	defer release()
	rep, err := a.Audit(ctx, fix)
	if err != nil {
		return rep, err
	}
	findings, err := a.damaged(ctx)
	for _, f := range findings {
		rep.add(f)
	}
	rep.sort()
	return rep, err
}

// damaged reads all jobs and collections, and returns a finding for each damaged one.
func (a Auditor) damaged(ctx context.Context) ([]Finding, error) {
	var mu sync.Mutex
	var found []Finding
	note := func(err error) {
		if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, Finding{Job: damaged.Key, Problem: "damaged: " + damaged.Says(), Damaged: true})
		}
	}
	err := a.shared.Store.Collections().Each(ctx, func(st scheduler.Stored) error {
		_, err := scheduler.DecodeCollection(st.Key.Job, st.Revision, st.Data)
		note(err)
		return nil
	})
	if err != nil {
		return found, err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	err = a.shared.eachStored(gctx, nil, func(chunk []scheduler.Stored) {
		g.Go(func() error {
			for _, st := range chunk {
				if err := gctx.Err(); err != nil {
					return err
				}
				_, err := a.shared.decode(ctx, st)
				note(err)
			}
			return nil
		})
	})
	return found, errors.Join(err, g.Wait())
}
