package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The first and the longest pause after a conflict: another process merges, or a worker holds the baton. The pause
// doubles each time.
const (
	mergePause    = 10 * time.Millisecond
	mergeMaxPause = 5 * time.Second
)

// merging is an ended detached run whose counters are to be merged.
type merging struct {
	from     From
	progress scheduler.Progress
}

// merge adds the counters of an ended detached run to its job by compare-and-set: on the waiting baton or, without one,
// on the definition. It waits while a worker has the job's baton, or the server may be firing it. from is the location of
// the detached run: if its own baton no longer exists, another worker has merged it. Runs that end at the same time are
// merged with one write: events can start many runs of a job together.
func (e *Executor) merge(ctx context.Context, k scheduler.Key, from From, p scheduler.Progress) error {
	return e.merges.Do(ctx, k, merging{from, p}, func(ctx context.Context, batch []merging, alive func()) error {
		return e.mergeBatch(ctx, k, batch, alive)
	})
}

// mergeBatch merges runs of a job together. It calls alive before each try.
func (e *Executor) mergeBatch(ctx context.Context, k scheduler.Key, batch []merging, alive func()) error {
	tried := false
	once := func(ctx context.Context) error {
		alive()
		left := batch
		if tried {
			left = nil
			for _, m := range batch {
				if _, err := e.cfg.Store.Running(ctx, m.from.BatonKey); !errors.Is(err, scheduler.ErrNotFound) {
					left = append(left, m)
				}
			}
		}
		tried = true
		return e.mergeOnce(ctx, k, left)
	}
	for pause := mergePause; ; pause = min(2*pause, mergeMaxPause) {
		err := e.cfg.Persist(ctx, k, once)
		if !errors.Is(err, scheduler.ErrConflict) || !e.cfg.Pause(ctx, pause) {
			return err
		}
	}
}

// mergeOnce returns ErrConflict if the baton cannot be changed now, or if it is not certain that the change lasts.
func (e *Executor) mergeOnce(ctx context.Context, k scheduler.Key, batch []merging) error {
	slot := scheduler.BatonKey{Key: k}
	st, err := e.cfg.Store.Waiting(ctx, slot)
	if err == nil {
		return e.mergeWaiting(ctx, st, batch)
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
	if err != nil {
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
	counts := false
	for _, m := range batch {
		if !m.from.Baton.BelongsTo(j) {
			continue
		}
		if next, ok := j.MergeStored(*m.from.Baton, m.progress); ok {
			j, counts = next, true
		}
	}
	if !counts {
		return nil
	}
	if err := e.forgetMerged(ctx, k, &j.Progress); err != nil {
		return err
	}
	return e.Save(ctx, j)
}

// mergeWaiting adds the counters to the waiting baton. It returns ErrConflict while the server may be firing the baton
// ([scheduler.Stored.MayFire]), and if the counters were stored in that time: they may be lost.
func (e *Executor) mergeWaiting(ctx context.Context, st scheduler.Stored, batch []merging) error {
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
	counts := false
	for _, m := range batch { // others belong to a deleted job, or were merged by an earlier worker
		if m.from.Baton.BelongsTo(j) && b.Merge(m.progress, m.from.Baton) {
			b.Number += m.from.Baton.Uncounted(m.progress)
			counts = true
		}
	}
	if !counts {
		return nil
	}
	if err := e.forgetMerged(ctx, st.Key, &b.Progress); err != nil {
		return err
	}
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
