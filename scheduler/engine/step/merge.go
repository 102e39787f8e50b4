package step

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// The first and the longest interval between checks of a baton that a worker holds. The interval doubles each time.
const (
	mergePause    = 200 * time.Millisecond
	mergeMaxPause = 5 * time.Second
)

// mergePatience is how long a merge may take before the runs that wait behind it stop waiting: the store may hang for
// it. They then merge concurrently, which costs conflicts.
const mergePatience = 2 * time.Second

// mergeMost is the maximum number of runs that are merged with one write.
const mergeMost = 32

// merging is an ended detached run whose counters are to be merged.
type merging struct {
	from     From
	progress scheduler.Progress
	ended    bool
	err      error
}

// mergeQueue holds the runs of a job that wait to be merged. The holder of turn merges several of them with one write:
// events can start many runs of a job at the same time.
type mergeQueue struct {
	turn chan struct{} // full while a run merges

	// Guarded by the executor's mutex.
	waiting []*merging
	began   time.Time // of the merge of the run that has the turn
	users   int
}

// merge adds the counters of an ended detached run to its job by compare-and-set: on the waiting baton or, without one,
// on the definition. It waits while a worker has the job's baton, or the server may be firing it. from is the location of
// the detached run: if its own baton no longer exists, another worker has merged it.
func (e *Executor) merge(ctx context.Context, k scheduler.Key, from From, p scheduler.Progress) error {
	m := &merging{from: from, progress: p}
	q := e.joinMerges(k, m)
	defer e.leaveMerges(k, q)
	hasTurn, err := e.awaitTurn(ctx, q)
	if err != nil {
		return err
	}
	if hasTurn {
		defer func() { <-q.turn }()
	}
	for {
		batch, ended := e.takeMerges(q, m, hasTurn)
		if ended {
			return m.err
		}
		err := e.mergeBatch(ctx, k, batch)
		e.mu.Lock()
		for _, one := range batch {
			one.ended, one.err = true, err
		}
		e.mu.Unlock()
	}
}

// awaitTurn waits for the turn. It returns false if the run that has it hangs.
func (e *Executor) awaitTurn(ctx context.Context, q *mergeQueue) (hasTurn bool, err error) {
	look := time.NewTicker(mergePause)
	defer look.Stop()
	for {
		select {
		case q.turn <- struct{}{}:
			return true, nil
		default:
		}
		e.mu.Lock()
		hangs := e.cfg.Store.Now().Sub(q.began) > mergePatience
		e.mu.Unlock()
		if hangs {
			return false, nil
		}
		select {
		case q.turn <- struct{}{}:
			return true, nil
		case <-look.C:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// takeMerges returns the runs to merge next, and m alone if another run has taken it and hangs. It reports whether m has
// been merged.
func (e *Executor) takeMerges(q *mergeQueue, m *merging, hasTurn bool) (batch []*merging, ended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if hasTurn {
		q.began = e.cfg.Store.Now()
	}
	switch {
	case m.ended:
		return nil, true
	case !slices.Contains(q.waiting, m):
		return []*merging{m}, false
	}
	batch = slices.Clone(q.waiting[:min(mergeMost, len(q.waiting))])
	q.waiting = q.waiting[len(batch):]
	return batch, false
}

func (e *Executor) joinMerges(k scheduler.Key, m *merging) *mergeQueue {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.merges[k]
	if q == nil {
		q = &mergeQueue{turn: make(chan struct{}, 1), began: e.cfg.Store.Now()}
		e.merges[k] = q
	}
	q.users++
	q.waiting = append(q.waiting, m)
	return q
}

func (e *Executor) leaveMerges(k scheduler.Key, q *mergeQueue) {
	e.mu.Lock()
	defer e.mu.Unlock()
	q.users--
	if q.users == 0 {
		delete(e.merges, k)
	}
}

// mergeBatch merges runs of a job together.
func (e *Executor) mergeBatch(ctx context.Context, k scheduler.Key, batch []*merging) error {
	tried := false
	once := func(ctx context.Context) error {
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
		if !errors.Is(err, scheduler.ErrConflict) || !flow.Pause(ctx, pause) {
			return err
		}
	}
}

// mergeOnce returns ErrConflict if the baton cannot be changed now, or if it is not certain that the change lasts.
func (e *Executor) mergeOnce(ctx context.Context, k scheduler.Key, batch []*merging) error {
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
	return e.save(ctx, j)
}

// mergeWaiting adds the counters to the waiting baton. It returns ErrConflict while the server may be firing the baton
// ([scheduler.Stored.MayFire]), and if the counters were stored in that time: they may be lost.
func (e *Executor) mergeWaiting(ctx context.Context, st scheduler.Stored, batch []*merging) error {
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
