package index

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// The schedule of the refresh. A search reads the stale jobs on its page itself.
const (
	// quiet is how long no definition must change before the refresh reads: a herd that ends changes thousands of
	// definitions, and the refresh must not slow it down. It waits no longer than overdue, though.
	quiet   = 2 * time.Second
	overdue = time.Minute

	// attended is how long after a search the refresh expects another one, and does not wait for quiet.
	attended = time.Minute

	// lookEvery is the longest time between two refreshes.
	lookEvery = time.Minute

	// passedEvery is how often the refresh reads the new batons of jobs that have run.
	passedEvery = 5 * time.Minute
)

// refresh reads the dirty jobs again until ctx is done.
func (x *Index) refresh(ctx context.Context) error {
	passed, saved := time.Now(), time.Time{}
	for {
		select {
		case <-x.wake:
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for began := time.Now(); x.busy() && time.Since(began) < overdue; {
			if !flow.Pause(ctx, quiet) {
				return context.Cause(ctx)
			}
		}
		if time.Since(passed) >= passedEvery {
			if err := x.readBatons(ctx); err != nil {
				return err
			}
			passed = time.Now()
		}
		if err := x.reread(ctx); err != nil {
			return err
		}
		if time.Since(saved) >= saveEvery {
			x.save(ctx, x.newPace(ctx).rest)
			saved = time.Now()
		}
	}
}

// busy reports whether definitions are changing, without a recent search.
func (x *Index) busy() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return time.Since(x.heard) < quiet && time.Since(x.searched) > attended
}

// mostly is the part of all jobs, one in so many, from which on the refresh reads all batons instead of looking some up: a
// lookup is this much more work for the store.
const mostly = 4

// reread reads the dirty jobs: in bulk while they are many, and looks up the others.
func (x *Index) reread(ctx context.Context) error {
	defer x.shrink()
	to := x.backlog()
	for ; to.changed > x.cfg.Bulk; to = x.backlog() {
		if err := x.readChanged(ctx, to.first); err != nil {
			return err
		}
	}
	if to.moved > max(x.cfg.Bulk, to.jobs/mostly) {
		clear(x.lanes) // labels may have changed, and no batons
		if err := x.readBatons(ctx); err != nil {
			return err
		}
	}
	pace := x.newPace(ctx)
	for keys := range slices.Chunk(x.outdatedKeys(), readMost) {
		if err := x.read(ctx, keys); err != nil {
			return err
		}
		if err := pace.rest(); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// backlog is the work of one refresh.
type backlog struct {
	jobs    int    // all, dirty or not
	changed int    // jobs with a changed definition, not missing
	first   uint64 // the earliest revision of these
	moved   int    // jobs with only a baton to read
}

func (x *Index) backlog() (to backlog) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	to.jobs = x.jobs.count
	for k := range x.dirty {
		switch r := x.jobs.get(k); {
		case !x.outdated(r):
		case r.flags&changed == 0:
			to.moved++
		case r.flags&missing == 0:
			to.changed++
			if to.first == 0 || r.revision < to.first {
				to.first = r.revision
			}
		}
	}
	return to
}

// outdatedKeys returns the dirty jobs to read now.
func (x *Index) outdatedKeys() (keys []scheduler.Key) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for k := range x.dirty {
		if x.outdated(x.jobs.get(k)) {
			keys = append(keys, k.full())
		}
	}
	return keys
}

// shrink replaces the set of dirty jobs if it is empty: a map that was large does not shrink.
func (x *Index) shrink() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.dirty) == 0 {
		x.dirty = map[key]struct{}{}
	}
}

// outdated reports whether to read a dirty job now: immediately after a change of its definition, and again when its baton
// has had time to follow.
func (x *Index) outdated(r *record) bool {
	if r.flags&missing == 0 && r.flags&(changed|unseen) != 0 {
		return true
	}
	return x.since(r.at) >= edited
}
