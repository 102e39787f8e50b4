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

	// restShare is how many times as long as it reads the refreshing rests, and hurryShare likewise while much is to be read
	// and somebody searches.
	restShare  = 4
	hurryShare = 1
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

// outdated reports whether a record is to be read anew: at once when its definition was changed, and once more when its
// baton has had time to follow.
func (x *Index) outdated(r *record) bool {
	switch {
	case r.flags == 0:
		return false
	case r.flags&missing != 0:
		return x.since(r.at) >= edited
	case r.flags&changed != 0:
		return true
	}
	return x.unread(r)
}

// busy reports whether definitions are being changed, and nobody searches.
func (x *Index) busy() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return time.Since(x.heard) < quiet && time.Since(x.searched) > attended
}

// lookUp looks up the batons of jobs that have run since.
func (x *Index) lookUp(ctx context.Context) error {
	before := x.cfg.Now().Add(-passedGrace).UnixMilli()
	have := func(r *record) bool {
		return r.state == enabled && r.flags == 0 && r.next < before && x.since(r.at) >= passedEvery
	}
	if x.howMany(have) > x.cfg.Bulk {
		return x.readThrough(ctx, newPace(ctx, x.share))
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

// howMany counts jobs by their records, until they are more than are looked up.
func (x *Index) howMany(are func(*record) bool) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for r := range x.records() {
		if are(r) {
			n++
		}
		if n > x.cfg.Bulk {
			break
		}
	}
	return n
}
