package service

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

const (
	// outlinesKept is of how many jobs at most outlines are kept, which take 200 to 600 bytes each.
	outlinesKept = 200_000

	// outlinesAge is for how long they are. A job that was deleted is told of by a marker, which stays for an hour.
	outlinesAge = 10 * time.Minute

	// rewritten is how many revisions are followed at most: beyond, to read all jobs is quicker.
	rewritten = 20_000

	// outlinedMost is how often a job is outlined at most until outlines are made anew: what was outlined before leaves
	// a bit behind.
	outlinedMost = 2 * outlinesKept
)

// outlines are what forecasts need of all jobs, so that the next one reads only what was written since.
type outlines struct {
	made        time.Time
	asOf        uint64            // all that was written up to this revision is taken in
	definitions cache.Definitions // those that several have in common

	mu       sync.Mutex            // while they are made
	outlined int                   // how often a job was
	idle     []*scheduler.Outliner // as many as were at work at once
	all      []scheduler.Outline   // the zero one stands for a job that is gone
	places   map[scheduler.Key]int // in all
	damaged  map[scheduler.Key]bool
}

// takeOutliner returns an outliner that is for nobody else until it is given back. There are few, so that outlines share
// what they have in common.
func (o *outlines) takeOutliner() *scheduler.Outliner {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.idle) == 0 {
		return &scheduler.Outliner{}
	}
	last := len(o.idle) - 1
	outliner := o.idle[last]
	o.idle = o.idle[:last]
	return outliner
}

func (o *outlines) giveOutliner(outliner *scheduler.Outliner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, outliner)
}

// put puts what is known of a job in the place of what was: nil for none, or none that plans anything.
func (o *outlines) put(k scheduler.Key, one *scheduler.Outline, damaged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, known := o.places[k]
	delete(o.damaged, k)
	switch {
	case damaged:
		o.damaged[k] = true
	case one != nil && !known:
		at = len(o.all)
		o.all = append(o.all, scheduler.Outline{})
		o.places[k], known = at, true
	}
	switch {
	case known && one != nil:
		o.all[at] = *one
		o.outlined++
	case known:
		o.all[at] = scheduler.Outline{}
		delete(o.places, k)
	}
}

// fresh reports whether the outlines may still be followed.
func (o *outlines) fresh() bool {
	return time.Since(o.made) < outlinesAge && o.outlined <= outlinedMost
}

// keep keeps outlines for the next forecast, unless they are too old.
func (h *shared) keep(o *outlines) {
	h.outlines.Store(o)
	if !o.fresh() { // who was to drop them may have come while nobody had them
		h.outlines.CompareAndSwap(o, nil)
	}
}

// written returns the jobs that were written since the outlines were made, up to a revision; false when they cannot be followed.
func (h *shared) written(ctx context.Context, o *outlines, last uint64) (keys []scheduler.Key, ok bool, err error) {
	if o == nil || !o.fresh() || h.Trail == nil || last < o.asOf || last-o.asOf > rewritten {
		return nil, false, nil
	}
	seen := map[scheduler.Key]bool{}
	err = h.Trail.WrittenJobs(ctx, o.asOf, func(w trail.Written) bool {
		if !seen[w.Key] {
			seen[w.Key] = true
			keys = append(keys, w.Key)
		}
		return true
	})
	return keys, err == nil, err
}

// eachForeseen is [shared.eachPlanned] for who needs no more of jobs than their outlines, which are kept for the next one
// that asks. It is for who has the turn of those that read all jobs.
func (h *shared) eachForeseen(ctx context.Context, collection string, sees func(string) bool, to planned) error {
	last, err := h.Store.LastRevision(ctx)
	if err != nil {
		return err
	}
	o := h.outlines.Swap(nil) // comes back when all is well
	keys, follows, err := h.written(ctx, o, last)
	switch {
	case err != nil:
		return err
	case !follows && (collection != "" || h.crowded()):
		return h.eachPlanned(ctx, collection, sees, to)
	case !follows:
		fresh := &outlines{made: time.Now(), places: map[scheduler.Key]int{}, damaged: map[scheduler.Key]bool{}}
		time.AfterFunc(outlinesAge, func() { h.outlines.CompareAndSwap(fresh, nil) })
		o, err = fresh, h.outlineAll(ctx, fresh)
	default:
		err = h.outline(ctx, keys, o)
	}
	if errors.Is(err, errTooMany) {
		now := time.Now()
		h.tooMany.Store(&now)
		return h.eachPlanned(ctx, collection, sees, to)
	}
	if err != nil {
		return err
	}
	o.asOf = last
	h.keep(o)
	return h.newPlanReader(to).addOutlined(ctx, o, func(k scheduler.Key) bool {
		return (collection == "" || k.Collection == collection) && (sees == nil || sees(k.Collection))
	})
}

// crowded reports whether there were too many jobs lately to keep their outlines.
func (h *shared) crowded() bool {
	at := h.tooMany.Load()
	return at != nil && time.Since(*at) < outlinesAge
}

// errTooMany says that there are more jobs than outlines are kept of.
var errTooMany = errors.New("there are too many jobs to keep their outlines")

// outlineAll makes the outlines of all jobs. They are read as they lie in the store, which is much less work for it than to
// look them up. One that is written meanwhile may be as it was: it is read again the next time.
func (h *shared) outlineAll(ctx context.Context, o *outlines) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	read, chunk := 0, []scheduler.Stored(nil)
	pass := func() {
		full := chunk
		g.Go(func() error { return h.outlineStored(gctx, o, full) })
		chunk = make([]scheduler.Stored, 0, batchKeys)
	}
	err := h.Store.EachStoredJob(gctx, func(st scheduler.Stored) error {
		read++
		if read > outlinesKept {
			return errTooMany
		}
		if chunk = append(chunk, st); len(chunk) >= batchKeys {
			pass()
		}
		return nil
	})
	pass()
	return cmp.Or(g.Wait(), err)
}

// outline brings the outlines of jobs up to date.
func (h *shared) outline(ctx context.Context, keys []scheduler.Key, o *outlines) error {
	return inChunks(ctx, keys, func(ctx context.Context, chunk []scheduler.Key) error {
		stored, err := h.stored(ctx, chunk)
		if err != nil {
			return err
		}
		for _, k := range chunk {
			o.put(k, nil, false)
		}
		return h.outlineStored(ctx, o, stored)
	})
}

// outlineStored makes the outlines of stored jobs.
func (h *shared) outlineStored(ctx context.Context, o *outlines, stored []scheduler.Stored) error {
	outliner := o.takeOutliner()
	defer o.giveOutliner(outliner)
	for i, st := range stored {
		if i%yieldAfter == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		one, err := outliner.Read(&o.definitions, st, h.Actions, h.Secrets)
		_, damaged := errors.AsType[*scheduler.DamagedError](err)
		switch {
		case err != nil && !damaged:
			return err
		case damaged || one.State.Final():
			o.put(st.Key, nil, damaged)
		default:
			o.put(st.Key, &one, false)
		}
	}
	return nil
}

// addOutlined counts what the jobs plan that are wanted.
func (r *planReader) addOutlined(ctx context.Context, o *outlines, wanted func(scheduler.Key) bool) error {
	for k := range o.damaged {
		if wanted(k) {
			r.to.Damaged()
		}
	}
	return inChunks(ctx, o.all, func(ctx context.Context, chunk []scheduler.Outline) error {
		jobs := make([]*scheduler.Job, 0, len(chunk))
		for i := range chunk {
			one := &chunk[i]
			if one.Key == (scheduler.Key{}) || !wanted(one.Key) {
				continue
			}
			j, err := one.Job()
			if err != nil {
				return err
			}
			jobs = append(jobs, j)
		}
		return r.add(ctx, jobs, 0)
	})
}

// inChunks does something to all of a list, some at a time, on all processors.
func inChunks[T any](ctx context.Context, all []T, do func(ctx context.Context, chunk []T) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for chunk := range slices.Chunk(all, batchKeys) {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return context.Cause(gctx)
			}
			return do(gctx, chunk)
		})
	}
	return g.Wait()
}
