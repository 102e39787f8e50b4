package index

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// catchUp reads the definitions that have changed, and their batons, until there are none that are to be read now.
func (x *Index) catchUp(ctx context.Context) error {
	began := time.Now()
	for {
		for x.busy() && time.Since(began) < overdue {
			if !intake.Pause(ctx, quiet) {
				return context.Cause(ctx)
			}
		}
		if err := x.catchUpInBulk(ctx); err != nil {
			return err
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

// share is how many times as long as it reads the index rests when much is to be read.
func (x *Index) share() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if time.Since(x.searched) < attended {
		return hurryShare
	}
	return restShare
}

// mostly is the part of all jobs whose batons must have been moved for all batons to be read: one in so many. To look one up
// is this much more work for the store than to read one as it lies there.
const mostly = 4

// catchUpInBulk reads what has changed as it lies in the store, while that is much: this is a fraction of the work of looking it
// up, for the store as well.
func (x *Index) catchUpInBulk(ctx context.Context) error {
	for {
		to := x.backlog()
		if to.changed > x.cfg.Bulk {
			if err := x.readChanged(ctx, to); err != nil {
				return err
			}
			continue
		}
		if to.moved <= x.cfg.Bulk || to.moved <= to.jobs/mostly {
			return nil
		}
		began := x.clock()
		if err := x.readThrough(ctx, newPace(ctx, x.share)); err != nil {
			return err
		}
		x.settle(began)
	}
}

// backlog is what the index has yet to read.
type backlog struct {
	jobs    int
	changed int    // whose definitions were changed, but for those that were not found
	moved   int    // others, whose batons may have been, and are to be looked at by now
	first   uint64 // the first of the revisions that changed is about
	noted   uint64 // the last one that was told of
}

// backlog counts what is to be read.
func (x *Index) backlog() (to backlog) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	to.noted = x.noted
	for r := range x.records() {
		to.jobs++
		switch {
		case r.flags == 0, r.flags&missing != 0:
		case r.flags&changed == 0:
			if x.unread(r) {
				to.moved++
			}
		default:
			to.changed++
			if to.first == 0 || r.told < to.first {
				to.first = r.told
			}
		}
	}
	return to
}

// unread reports whether the baton of a job whose definition has been read is to be looked at: nobody has, or it has had time to
// follow.
func (x *Index) unread(r *record) bool { return r.flags&unseen != 0 || x.since(r.at) >= edited }

// readChanged reads the definitions that have changed, in the order in which they were written, and looks up their batons unless
// all batons are going to be read.
func (x *Index) readChanged(ctx context.Context, to backlog) error {
	p := &passage{x: x, pace: newPace(ctx, x.share), lookUp: to.changed <= to.jobs/mostly}
	p.clear()
	err := x.cfg.Store.EachJobFrom(ctx, to.first, func(st scheduler.Stored, deleted bool) error { return p.take(ctx, st, deleted) })
	if err == nil {
		err = p.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading changed definitions: %w", err)
	}
	if p.seen > 0 {
		to.noted = min(to.noted, p.seen)
	} // else nothing of it is there any more
	x.miss(to.noted)
	return nil
}

// passage is a reading of definitions as they lie in the store.
type passage struct {
	x      *Index
	pace   *pace
	lookUp bool   // the batons, too
	seen   uint64 // the last revision

	keys    []scheduler.Key
	found   map[scheduler.Key]scheduler.Stored
	deleted map[scheduler.Key]uint64
}

func (p *passage) clear() {
	p.keys = p.keys[:0]
	p.found, p.deleted = map[scheduler.Key]scheduler.Stored{}, map[scheduler.Key]uint64{}
}

// take takes a definition or a marker. It keeps those that say what is to be read, until they are as many as are read at once.
func (p *passage) take(ctx context.Context, st scheduler.Stored, deleted bool) error {
	p.seen = st.Revision
	if !p.x.wants(st) {
		return p.pace.rest()
	}
	if _, again := p.found[st.Key]; !again && p.deleted[st.Key] == 0 {
		p.keys = append(p.keys, st.Key)
	}
	if deleted {
		p.deleted[st.Key] = st.Revision
		delete(p.found, st.Key)
	} else {
		p.found[st.Key] = st
		delete(p.deleted, st.Key)
	}
	if len(p.keys) < readMost {
		return nil
	}
	if err := p.flush(ctx); err != nil {
		return err
	}
	return p.pace.pause()
}

// flush takes in what was kept.
func (p *passage) flush(ctx context.Context) error {
	readings := p.x.begin(p.keys)
	read := readings[:0]
	for _, it := range readings {
		revision, deleted := p.deleted[it.key]
		if it.deleted = deleted; !deleted {
			revision = p.found[it.key].Revision
		}
		if it.definition && it.told <= revision {
			read = append(read, it)
		}
	}
	p.x.takeDefinitions(read, p.found)
	p.clear()
	if !p.lookUp {
		return nil
	}
	return p.x.readBatons(ctx, read)
}

// wants reports whether a definition, or a marker, says what is to be read of a job.
func (x *Index) wants(st scheduler.Stored) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.shelves[st.Key.Collection]
	if s == nil {
		return false
	}
	r := s.find(st.Key.Job)
	return r != nil && r.flags&changed != 0 && st.Revision >= r.told
}

// miss notes that jobs were not found whose changes should have been among those that were read, up to a revision.
func (x *Index) miss(until uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.records() {
		if r.flags&changed != 0 && r.told <= until {
			r.flags |= missing
		}
	}
}

// settle notes that jobs have no baton that were to be looked at when the reading of all batons began, and were not touched since.
func (x *Index) settle(began uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.records() {
		if r.flags&changed != 0 || r.flags&moved == 0 || after(r.at, began) {
			continue
		}
		r.flags &^= unseen
		if began-r.at >= uint32(edited.Milliseconds()) {
			x.place(r, baton{}, true)
		}
	}
}
