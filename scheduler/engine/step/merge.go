package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// The first and the longest interval between checks of a baton that a worker holds. The interval doubles each time.
const (
	mergePause    = 200 * time.Millisecond
	mergeMaxPause = 5 * time.Second
)

// merge adds the counters of an ended detached run to its job by compare-and-set: on the waiting baton or, without one,
// on the definition. It waits while a worker has the job's baton, or the server may be firing it. from is the location of
// the detached run: if its own baton no longer exists, another worker has merged it.
func (e *Executor) merge(ctx context.Context, k scheduler.Key, from From, p scheduler.Progress) error {
	tried := false
	once := func(ctx context.Context) error {
		if tried {
			if _, err := e.cfg.Store.Running(ctx, from.BatonKey); errors.Is(err, scheduler.ErrNotFound) {
				return nil
			}
		}
		tried = true
		return e.mergeOnce(ctx, k, *from.Baton, p)
	}
	for pause := mergePause; ; pause = min(2*pause, mergeMaxPause) {
		err := e.cfg.Persist(ctx, k, once)
		if !errors.Is(err, scheduler.ErrConflict) || !flow.Pause(ctx, pause) {
			return err
		}
	}
}

// mergeOnce returns ErrConflict if the baton cannot be changed now, or if it is not certain that the change lasts.
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
	next, counts := j.MergeStored(detached, p)
	if !counts {
		return nil
	}
	if err := e.forgetMerged(ctx, k, &next.Progress); err != nil {
		return err
	}
	return e.save(ctx, next)
}

// mergeWaiting adds the counters to the waiting baton. It returns ErrConflict while the server may be firing the baton
// ([scheduler.Stored.MayFire]), and if the counters were stored in that time: they may be lost.
func (e *Executor) mergeWaiting(ctx context.Context, st scheduler.Stored, detached scheduler.Baton, p scheduler.Progress) error {
	if st.MayFire(e.cfg.Store.Now()) {
		return scheduler.ErrConflict
	}
	b, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		return err
	}
	j, err := e.cfg.Current(ctx, st.Key, b.Revision)
	if err != nil {
		return err
	}
	if !detached.BelongsTo(j) || !b.Merge(p, &detached) {
		return nil // deleted, or merged by an earlier worker
	}
	if err := e.forgetMerged(ctx, st.Key, &b.Progress); err != nil {
		return err
	}
	b.Number += detached.Uncounted(p)
	from := From{BatonKey: scheduler.BatonKey{Key: st.Key}, Waiting: st.Revision}
	if err := e.publish(ctx, b.Encode(), e.ArmAt(j, &b), from); err != nil {
		return err
	}
	if st.MayFire(e.cfg.Store.Now()) {
		return scheduler.ErrConflict
	}
	return nil
}

// mergedMost is the length at which the list of merged detached runs is shortened.
const mergedMost = 64

// forgetMerged shortens the list of merged detached runs. A run stays in it while its baton is stored, because a worker
// may be about to merge it again. It asks only for the slots of these runs: a job may have very many others, which wait
// for their keys.
func (e *Executor) forgetMerged(ctx context.Context, k scheduler.Key, p *scheduler.Progress) error {
	if len(p.Merged) < mergedMost {
		return nil
	}
	var stored []scheduler.Baton
	err := e.cfg.Store.FindSlots(ctx, p.MergedSlots(k), func(_ scheduler.BatonKey, st scheduler.Stored, _ bool) {
		if b, err := scheduler.DecodeBaton(st.Data); err == nil {
			stored = append(stored, b)
		}
	})
	if err == nil {
		p.ForgetMerged(stored)
	}
	return err
}
