package index

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// build reads all definitions and batons, one after the other as they lie in the store, which is much less work for it
// than to look them up.
func (x *Index) build(ctx context.Context) error {
	began := time.Now()
	last, err := x.cfg.Store.LastRevision(ctx)
	if err != nil {
		return err
	}
	pace := newPace(ctx, func() int { return hurryShare })
	var first uint64
	err = x.cfg.Store.EachStoredJob(ctx, func(st scheduler.Stored) error {
		if first == 0 {
			first = st.Revision
		}
		x.built.Store(int32(50 * (st.Revision - first) / max(last-min(first, last), st.Revision-first, 1))) // they come in their order
		summary := scheduler.Summarize(st)
		x.mu.Lock()
		x.take(st, &summary)
		x.mu.Unlock()
		return pace.rest()
	})
	if err != nil {
		return fmt.Errorf("reading all definitions: %w", err)
	}
	if err := x.readThrough(ctx, pace); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.advance(last)
	x.ready = true
	x.rouse()
	x.cfg.Logger.Debug("the index of jobs is ready", "jobs", x.count(), "took", time.Since(began))
	return nil
}

// take takes in a definition, unless a later one was told of.
func (x *Index) take(st scheduler.Stored, summary *scheduler.Summary) {
	s, r := x.record(st.Key)
	if r == nil || st.Revision < r.told {
		return
	}
	x.define(s, st.Key.Job, r, st.Revision, summary)
	if r.state != enabled {
		return
	}
	if time.Since(summary.Updated) < edited {
		r.flags = moved
	}
	r.at = x.clock()
}

// after compares two times of [Index.clock].
func after(a, b uint32) bool { return int32(a-b) > 0 }

// readThrough takes in all batons, but those of jobs that are touched meanwhile: what was read of these may be older than
// what is known.
func (x *Index) readThrough(ctx context.Context, pace *pace) error {
	for lane := range x.cfg.Store.Lanes() {
		began := x.clock()
		x.built.Store(int32(50 + 50*lane/x.cfg.Store.Lanes()))
		err := x.cfg.Store.EachStoredBaton(ctx, lane, func(st scheduler.Stored, _ bool) error {
			b := batonOf(st)
			x.mu.Lock()
			if s := x.shelves[st.Key.Collection]; s != nil {
				if r := s.find(st.Key.Job); r != nil && r.state == enabled && r.flags&changed == 0 && !after(r.at, began) {
					x.place(r, b, r.flags&moved == 0 || x.since(r.at) >= edited)
				}
			}
			x.mu.Unlock()
			return pace.rest()
		})
		if err != nil {
			return fmt.Errorf("reading all batons: %w", err)
		}
	}
	return nil
}

// count counts the jobs.
func (x *Index) count() (n int) {
	for _, s := range x.shelves {
		for _, of := range s.counts {
			n += of
		}
	}
	return n
}

// pace has who reads many jobs in a row rest between them, so that others get on.
type pace struct {
	ctx   context.Context //nolint:containedctx // of the reading
	share func() int      // how many times as long as it works it rests
	began time.Time
	n     int
}

func newPace(ctx context.Context, share func() int) *pace {
	return &pace{ctx: ctx, share: share, began: time.Now()}
}

// paceEvery is how many jobs are read without a rest: some milliseconds.
const paceEvery = 1024

// rest is called after each job. The error says that the reading was called off.
func (p *pace) rest() error {
	p.n++
	if p.n%paceEvery != 0 {
		return nil
	}
	return p.pause()
}

// pause rests at once.
func (p *pace) pause() error {
	intake.Pause(p.ctx, time.Duration(p.share())*time.Since(p.began))
	p.began = time.Now()
	return context.Cause(p.ctx)
}
