package index

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// The rhythm in which the index is brought up to date. What is not up to date is read by whoever searches.
const (
	// quiet is how long nothing must have changed before changes are read: a herd that ends changes thousands of
	// definitions, and is not to be slowed down. Changes do not wait for longer than overdue, though.
	quiet   = 2 * time.Second
	overdue = time.Minute

	// attended is how long after a search another one is expected: until then nobody waits for quiet.
	attended = time.Minute

	// lookEvery is how often it is looked whether something is to be read though nothing has changed.
	lookEvery = time.Minute

	// passedEvery is how often jobs are looked up that have run since, and passedGrace how long after their time: most
	// have their next baton by then.
	passedEvery = 5 * time.Minute
	passedGrace = 10 * time.Second

	// many is how many jobs are looked up one by one: where more have run, all batons are read as they lie in the store.
	many = 1 << 13

	// restShare is how many times as long as it reads the refreshing rests.
	restShare = 4
)

// refresh reads what has changed, and looks up the batons of jobs that have run, until ctx is done.
func (x *Index) refresh(ctx context.Context) error {
	passed := time.Now()
	for {
		select {
		case <-x.wake:
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := x.catchUp(ctx); err != nil {
			return err
		}
		if time.Since(passed) < passedEvery {
			continue
		}
		if err := x.lookUp(ctx); err != nil {
			return err
		}
		passed = time.Now()
	}
}

// catchUp reads the definitions that have changed, and their batons, until there are none that are to be read now.
func (x *Index) catchUp(ctx context.Context) error {
	began := time.Now()
	for {
		for x.busy() && time.Since(began) < overdue {
			if !intake.Pause(ctx, quiet) {
				return context.Cause(ctx)
			}
		}
		keys, left := x.collect(x.outdated)
		if len(keys) == 0 {
			return context.Cause(ctx)
		}
		work := time.Now()
		if err := x.read(ctx, keys); err != nil {
			return err
		}
		if !intake.Pause(ctx, restShare*time.Since(work)) || !left {
			return context.Cause(ctx)
		}
	}
}

// outdated reports whether a record is to be read anew: at once when its definition was changed, and once more when its
// baton has had time to follow.
func (x *Index) outdated(r *record) bool {
	if r.flags&changed != 0 && r.flags&missing == 0 {
		return true
	}
	return r.flags != 0 && x.since(r.at) >= edited
}

// busy reports whether definitions are being changed, and nobody searches.
func (x *Index) busy() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return time.Since(x.heard) < quiet && time.Since(x.searched) > attended
}

// lookUp looks up the batons of jobs that have run since.
func (x *Index) lookUp(ctx context.Context) error {
	before := time.Now().Add(-passedGrace).UnixMilli()
	have := func(r *record) bool {
		return r.state == enabled && r.flags == 0 && r.next < before && x.since(r.at) >= passedEvery
	}
	if x.howMany(have) > many {
		return x.readThrough(ctx, &pace{ctx: ctx, share: restShare, began: time.Now()})
	}
	for {
		keys, left := x.collect(have)
		if len(keys) == 0 {
			return nil
		}
		work := time.Now()
		if err := x.read(ctx, keys); err != nil {
			return err
		}
		if !intake.Pause(ctx, restShare*time.Since(work)) || !left {
			return context.Cause(ctx)
		}
	}
}

// collect returns jobs by their records, as many as are read at once; left says that there are others.
func (x *Index) collect(wanted func(*record) bool) (keys []scheduler.Key, left bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.shelves {
		for _, b := range s.blocks {
			for i := range b.recs {
				if !wanted(&b.recs[i]) {
					continue
				}
				if len(keys) == readMost {
					return keys, true
				}
				keys = append(keys, scheduler.Key{Collection: s.collection, Job: string(b.name(i))})
			}
		}
	}
	return keys, false
}

// howMany counts jobs by their records, up to many and one.
func (x *Index) howMany(are func(*record) bool) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.shelves {
		for _, b := range s.blocks {
			for i := range b.recs {
				if are(&b.recs[i]) {
					n++
				}
			}
			if n > many {
				return n
			}
		}
	}
	return n
}
