package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// The range of intervals between checks of a baton that is with a worker, which may take long. The interval doubles
// each time.
const (
	mergePause    = 200 * time.Millisecond
	mergeMaxPause = 5 * time.Second
)

// merge adds the counters of an ended detached run to its job by compare-and-set: on the waiting baton or, without one,
// on the definition. It waits while a worker has the baton.
func (e *Executor) merge(ctx context.Context, k scheduler.Key, detached scheduler.Baton, p scheduler.Progress) error {
	for pause := mergePause; ; pause = min(2*pause, mergeMaxPause) {
		err := e.cfg.Persist(ctx, k, func(ctx context.Context) error { return e.mergeOnce(ctx, k, detached, p) })
		if !errors.Is(err, scheduler.ErrConflict) || !flow.Pause(ctx, pause) {
			return err
		}
	}
}

// mergeOnce returns ErrConflict if the baton cannot be changed now.
func (e *Executor) mergeOnce(ctx context.Context, k scheduler.Key, detached scheduler.Baton, p scheduler.Progress) error {
	slot := scheduler.BatonKey{Key: k}
	st, err := e.cfg.Store.Waiting(ctx, slot)
	if err == nil {
		return e.mergeWaiting(ctx, st, detached, p)
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return err
	}
	if _, err = e.cfg.Store.Running(ctx, slot); err == nil {
		return scheduler.ErrConflict
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return err
	}
	j, err := e.cfg.Load(ctx, k)
	if err != nil || !detached.BelongsTo(j) {
		return err
	}
	if j.State == scheduler.Enabled {
		if j, err = e.Settled(ctx, j); err != nil {
			return err
		}
		if j.State == scheduler.Enabled {
			return scheduler.ErrConflict // its baton is in transit, or lost: the consistency check restores it
		}
	}
	if next, counts := j.MergeStored(detached, p); counts {
		return e.save(ctx, next)
	}
	return nil
}

// mergeWaiting adds the counters to the waiting baton.
func (e *Executor) mergeWaiting(ctx context.Context, st scheduler.Stored, detached scheduler.Baton, p scheduler.Progress) error {
	b, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		return err
	}
	j, err := e.cfg.Current(ctx, st.Key, b.Revision)
	if err != nil {
		return err
	}
	if !detached.BelongsTo(j) || !b.Merge(p, detached.Nominal) {
		return nil // deleted, or merged by an earlier worker
	}
	b.Number += detached.Uncounted(p)
	from := From{BatonKey: scheduler.BatonKey{Key: st.Key}, Waiting: st.Revision}
	return e.publish(ctx, b.Encode(), e.ArmAt(j, &b), from)
}
