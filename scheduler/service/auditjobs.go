package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// auditJobs looks at definitions without a baton. Most are disabled, finished
// or deleted. An enabled one has ended or is restored, unless its baton has
// turned up: it was on its way while the census was taken.
//
// Thousands may have ended, with a herd whose worker was killed. So with fix, as in
// the background, one batch of those is taken at a time, and others may work as
// long in between.
func (a Auditor) auditJobs(
	ctx context.Context, keys []scheduler.Key, fix bool, present *atomic.Int64, one *sync.Mutex, found chan<- finding,
) error {
	enabled := map[scheduler.Key]scheduler.Stored{}
	err := a.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		present.Add(1)
		switch {
		case scheduler.StoredState(st.Data) == scheduler.Enabled:
			enabled[st.Key] = st
		case scheduler.StoredNeverRan(st.Data):
			found <- finding{Finding: Finding{Job: st.Key}, never: true}
		}
	})
	if err != nil || len(enabled) == 0 {
		return err
	}
	lost, err := a.bare(ctx, enabled, fix, one, found)
	if err != nil {
		return err
	}
	for _, j := range lost {
		f := Finding{Job: j.Key, Problem: "enabled, but has no baton: it would never run"}
		if fix {
			err := a.plans.rederive(ctx, j)
			if err != nil && !errors.Is(err, scheduler.ErrConflict) && !errors.Is(err, step.ErrOvertaken) {
				return fmt.Errorf("job %s: %w", j.Key, err)
			}
			f.Fixed = err == nil
		}
		found <- finding{Finding: f}
	}
	return nil
}

// bare looks for what has become of enabled jobs that have no baton. It tells of
// those that have ended, and returns those that have lost it.
func (a Auditor) bare(
	ctx context.Context, enabled map[scheduler.Key]scheduler.Stored, fix bool, one *sync.Mutex, found chan<- finding,
) (lost []*scheduler.Job, err error) {
	one.Lock()
	defer one.Unlock()
	began, ended := time.Now(), false
	look, err := a.shared.steps.Look(ctx, slices.Collect(maps.Keys(enabled)))
	if err != nil {
		return nil, err
	}
	for _, st := range enabled {
		if look.Occupied(st.Key) {
			continue
		}
		j, err := a.shared.decode(ctx, st)
		if err != nil {
			continue // damaged: there is no telling what its baton would be; see [Auditor.Doctor]
		}
		own, err := look.Own(ctx, j)
		switch {
		case err != nil:
			return nil, fmt.Errorf("job %s: %w", st.Key, err)
		case own.Course == scheduler.AtEnd:
			found <- finding{ending: &own.Ending}
			ended = true
		case own.Course == scheduler.BatonLost:
			lost = append(lost, j)
		}
	}
	if ended && fix {
		intake.Pause(ctx, time.Since(began))
	}
	return lost, nil
}

// Finish writes the final forms of jobs that an audit has found to have ended, at
// leisure. What others have written or changed meanwhile stays as it is. An error
// leaves the rest to the next audit.
func (a Auditor) Finish(ctx context.Context, r *AuditReport) error {
	for batch := range slices.Chunk(r.endings, step.EndBatch) {
		began := time.Now()
		if _, err := a.shared.steps.EndAll(ctx, batch); err != nil {
			return err
		}
		if !step.Rest(ctx, time.Since(began)) {
			return context.Cause(ctx)
		}
	}
	return nil
}
