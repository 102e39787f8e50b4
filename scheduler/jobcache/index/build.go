package index

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// build reads the snapshot and all later changes. Without a valid snapshot, it reads all definitions and batons in the order in
// which they are stored, which is much less work for the store than lookups.
func (x *Index) build(ctx context.Context) error {
	began := time.Now()
	last, err := x.cfg.Store.LastRevision(ctx)
	if err != nil {
		return err
	}
	after, loaded := x.load(ctx)
	if loaded {
		err = x.readSince(ctx, after)
	} else {
		err = x.readAll(ctx, last)
	}
	if err == nil {
		err = x.readBatons(ctx)
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.advance(last)
	x.ready = true
	x.rouse()
	x.cfg.Logger.Debug("the index of jobs is ready", "jobs", x.jobs.count, "took", time.Since(began))
	x.mu.Unlock()
	if loaded {
		return x.confirm(ctx)
	}
	return nil
}

// readAll reads all definitions.
func (x *Index) readAll(ctx context.Context, last uint64) error {
	pace := x.newPace(ctx)
	var first uint64
	err := x.cfg.Store.EachStoredJob(ctx, func(st scheduler.Stored) error {
		if first == 0 {
			first = st.Revision
		}
		x.built.Store(int32(50 * (st.Revision - first) / max(last-min(first, last), st.Revision-first, 1)))
		x.take(st, false, true)
		return pace.next()
	})
	if err != nil {
		return fmt.Errorf("reading all definitions: %w", err)
	}
	x.lanes = make([]uint64, x.cfg.Store.Lanes())
	return nil
}

// readSince reads the definitions and deletion markers that are newer than a snapshot.
func (x *Index) readSince(ctx context.Context, after uint64) error {
	pace := x.newPace(ctx)
	err := x.cfg.Store.EachJobFrom(ctx, after+1, func(st scheduler.Stored, deleted bool) error {
		x.mu.Lock()
		x.hear(st.Key, st.Revision)
		x.mu.Unlock()
		x.take(st, deleted, true)
		return pace.next()
	})
	if err != nil {
		return fmt.Errorf("reading the definitions since the snapshot: %w", err)
	}
	return nil
}

// readChanged reads the definitions and deletion markers from a revision on, in the order in which they are stored.
func (x *Index) readChanged(ctx context.Context, first uint64) error {
	x.mu.RLock()
	until := x.last
	x.mu.RUnlock()
	pace := x.newPace(ctx)
	var read uint64
	err := x.cfg.Store.EachJobFrom(ctx, first, func(st scheduler.Stored, deleted bool) error {
		read = st.Revision
		x.take(st, deleted, false)
		return pace.next()
	})
	if err != nil {
		return fmt.Errorf("reading changed definitions: %w", err)
	}
	if read > 0 { // else none of them is stored any more
		until = min(until, read)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for k := range x.dirty {
		if r := x.jobs.get(k); r.flags&changed != 0 && r.revision <= until {
			x.mark(r, r.flags|missing)
		}
	}
	return nil
}

// take accepts a definition or a deletion marker, unless a later one was announced. Only the build adds unknown jobs: for other
// readers an unknown job was deleted, also if a search began before the index was lost.
func (x *Index) take(st scheduler.Stored, deleted, add bool) {
	x.mu.RLock()
	wanted := x.wants(x.get(st.Key), st.Revision, add)
	x.mu.RUnlock()
	if !wanted {
		return
	}
	var summary scheduler.Summary
	if !deleted {
		summary = scheduler.Summarize(st, x.cfg.Actions)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.get(st.Key)
	switch {
	case !x.wants(r, st.Revision, add):
	case !deleted:
		if r == nil {
			r = x.add(st.Key)
		}
		x.define(r, st.Revision, &summary)
	case r != nil:
		x.remove(r)
	}
}

// wants reports whether a definition of a job is news, and whether to add an unknown job.
func (x *Index) wants(r *record, revision uint64, add bool) bool {
	if r == nil {
		return add
	}
	return revision >= r.revision && (!x.ready || r.flags&changed != 0)
}

// readBatons reads the batons that were stored since it was called last, in the order in which they are stored. It ignores the
// batons of jobs that change meanwhile, because these batons may be outdated.
func (x *Index) readBatons(ctx context.Context) error {
	pace := x.newPace(ctx)
	for lane, after := range x.lanes {
		began := x.clock()
		x.built.Store(int32(50 + 50*lane/len(x.lanes)))
		err := x.cfg.Store.EachStoredBaton(ctx, lane, after, func(slot scheduler.BatonKey, st scheduler.Stored, _ bool) error {
			x.lanes[lane] = st.Revision
			if slot.Detached != "" {
				return nil
			}
			b := batonOf(st)
			x.mu.Lock()
			switch r := x.get(st.Key); {
			case r == nil || r.state != enabled || r.flags&changed != 0:
			case r.at > began: // the index may have read this one, or a later one
				x.mark(r, r.flags|unseen)
			default:
				x.arm(r, b)
			}
			x.mu.Unlock()
			return pace.next()
		})
		if err != nil {
			return fmt.Errorf("reading batons: %w", err)
		}
	}
	return nil
}

// pace makes a reader of many jobs rest between them, so that it does not slow down the others.
type pace struct {
	ctx   context.Context //nolint:containedctx // of the reading
	x     *Index
	began time.Time
	n     int
}

func (x *Index) newPace(ctx context.Context) *pace { return &pace{ctx: ctx, x: x, began: time.Now()} }

// paceEvery is how many jobs are read without a rest: some milliseconds.
const paceEvery = 1024

// next is called after each job. It returns an error if ctx is done.
func (p *pace) next() error {
	p.n++
	if p.n%paceEvery != 0 {
		return nil
	}
	return p.rest()
}

// restShare is the ratio of rest to reading, hurryShare the ratio while clients search or wait for the index.
const (
	restShare  = 4
	hurryShare = 1
)

// rest is called after some jobs. It returns an error if ctx is done.
func (p *pace) rest() error {
	p.x.mu.RLock()
	share := restShare
	if !p.x.ready || time.Since(p.x.searched) < attended {
		share = hurryShare
	}
	p.x.mu.RUnlock()
	flow.Pause(p.ctx, time.Duration(share)*time.Since(p.began))
	p.began = time.Now()
	return context.Cause(p.ctx)
}
