package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// Tail configures a live tail of a history: its start and its callbacks.
type Tail struct {
	After *uint64 // start after this sequence; nil: after the last record

	// Beyond accepts an After beyond the last record and starts after the last record. Such a place belongs to a lost
	// history. Default: it is rejected.
	Beyond bool

	Ready  func(Beginning)         // called once, before the others
	Record func(*scheduler.Record) // called for every matching record
	Passed func(sequence uint64)   // called for every other record; may be nil
}

// Beginning describes the start of a live tail.
type Beginning struct {
	After uint64 // the tail has the records after this sequence
	First uint64 // first stored record
	Last  uint64 // last record so far
}

// Follow calls t's functions for the records after a place, in order and as they arrive, until ctx is done. A last call
// may happen while Follow returns.
//
// The tail of a job has the records of its current incarnation, unless the query selects others. Follow returns
// ErrNotFound if the job does not exist, and when it is deleted, because no more records can follow.
func (r Reader) Follow(ctx context.Context, q HistoryQuery, tail Tail) error {
	if err := r.check(ctx, &q); err != nil {
		return err
	}
	span, err := r.shared.Store.HistorySpan(ctx)
	if err != nil {
		return err
	}
	begins := Beginning{After: span.Last, First: span.First, Last: span.Last}
	switch {
	case tail.After == nil || *tail.After > span.Last && tail.Beyond:
	case *tail.After > span.Last:
		return scheduler.Invalid("after", fmt.Sprintf("%d is not the sequence of a record: the last one is %d", *tail.After, span.Last))
	default:
		begins.After = *tail.After
	}
	jobs := r.shared.jobs.enter(ctx, r.shared.newRegister, watchJobs)
	defer r.shared.jobs.leave(jobs)
	followed, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	unwatched := context.AfterFunc(jobs.ctx, func() { stop(context.Cause(jobs.ctx)) }) //nolint:contextcheck // of all followers
	defer unwatched()
	register := jobs.state
	select {
	case <-register.stands:
	case <-followed.Done():
		return outcome(ctx, followed)
	}
	t := &follower{store: r.shared.Store, register: register, query: &q, tail: &tail, stop: stop, touched: make(chan struct{}, 1)}
	end := t.watchJob(followed)
	defer end()
	if followed.Err() == nil {
		tail.Ready(begins)
		take := func(rec *scheduler.Record) { t.take(followed, rec) }
		if q.Key == (scheduler.Key{}) && begins.Last-begins.After <= feedKept {
			err = r.shared.feed.follow(followed, begins.After, take)
		} else {
			err = r.shared.Store.Follow(followed, q.Key, begins.After, take)
		}
		if err != nil {
			return err
		}
	}
	return outcome(ctx, followed)
}

// outcome returns the error of a tail: nil if it was asked to end.
func outcome(asked, followed context.Context) error {
	if asked.Err() == nil {
		return context.Cause(followed)
	}
	return nil
}

// follower filters the records of a live tail.
type follower struct {
	store    scheduler.Store
	register *register
	query    *HistoryQuery
	tail     *Tail
	stop     context.CancelCauseFunc
	touched  chan struct{} // the definition of the query's job changed
	own      presence      // of the query's job, at the start
}

// watchJob stops the tail if the query's job does not exist, or is deleted before end is called.
func (t *follower) watchJob(ctx context.Context) (end func()) {
	k := t.query.Key
	if k.Job == "" || !t.query.NeedsJob() {
		return func() {}
	}
	var err error
	if t.own, err = present(ctx, t.store, k); err == nil && !t.own.exists {
		err = notThere(k)
	}
	if err != nil {
		t.stop(err)
		return func() {}
	}
	untell := t.register.tell(t)
	t.verify(ctx) // it may have been deleted meanwhile
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-t.touched:
				t.verify(ctx)
			case <-ctx.Done():
			}
		}
	})
	return func() {
		untell()
		t.stop(nil)
		watch.Wait()
	}
}

// verify stops the tail if the query's job has been deleted.
func (t *follower) verify(ctx context.Context) {
	now, err := present(ctx, t.store, t.query.Key)
	switch {
	case err != nil:
		t.stop(err)
	case now != t.own:
		t.stop(fmt.Errorf("%w: it was deleted", notThere(t.query.Key)))
	}
}

// take handles the next record.
func (t *follower) take(ctx context.Context, r *scheduler.Record) {
	p, err := t.register.present(ctx, r.Job)
	if err == nil && (!p.exists || !r.IsOf(p.incarnation)) { // or the watch has not reported the new job yet
		p, err = present(ctx, t.store, r.Job)
	}
	if err != nil {
		t.stop(err)
	}
	switch {
	case ctx.Err() != nil:
	case t.query.Admits(r, p.incarnation, p.exists):
		t.tail.Record(r)
	case t.tail.Passed != nil:
		t.tail.Passed(r.Sequence)
	}
}

// register knows the incarnations of jobs during one watch on changes, for all live tails.
type register struct {
	*jobcache.Mirror[scheduler.Key, incarnation]

	stands  chan struct{}      // closed when the watch keeps lookups current
	lookups singleflight.Group // in progress, by job

	mu        sync.Mutex
	followers map[*follower]struct{} // followers to notify when their job changes
}

// incarnation is the incarnation of a job at a revision.
type incarnation struct {
	presence

	revision uint64
}

// The limits of a register.
const (
	knownMost   = 1 << 16 // jobs
	knownShards = 1 << 12 // see [jobcache.Config] Shards
)

var errUnwatched = errors.Join(scheduler.ErrUnavailable, errors.New("the watch of job definitions ended"))

// watchJobs runs a register until its watch is lost.
func watchJobs(t *task[*register]) {
	t.state.Run(t.ctx, func(err error) { t.end(cmp.Or(err, errUnwatched)) })
}

func (h *shared) newRegister() *register {
	r, store := &register{stands: make(chan struct{}), followers: map[*follower]struct{}{}}, h.Store
	r.Mirror = jobcache.New(jobcache.Config[scheduler.Key, incarnation]{
		Watch: func(ctx context.Context, ready func(), changed func(scheduler.Key, uint64, []byte)) error {
			return store.WatchJobs(ctx, func() { ready(); close(r.stands) }, func(k scheduler.Key, revision uint64) {
				changed(k, revision, nil)
				r.changed(k)
			})
		},
		Load: func(ctx context.Context, k scheduler.Key) (incarnation, error) {
			st, err := store.LoadJob(ctx, k)
			if err != nil {
				return incarnation{}, fmt.Errorf("job %s: %w", k, err)
			}
			return incarnation{presenceOf(st), st.Revision}, nil
		},
		Revision: func(of incarnation) uint64 { return of.revision }, Limit: knownMost, Shards: knownShards,
	})
	return r
}

// tell notifies the follower of each change to the definition of its job, until stop is called.
func (r *register) tell(t *follower) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers[t] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.followers, t)
	}
}

// changed notifies the followers of a job whose definition was written or deleted.
func (r *register) changed(k scheduler.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.followers {
		if t.query.Key == k {
			flow.Signal(t.touched)
		}
	}
}

// present returns the presence of a job, which may have changed if the watch has not reported it yet. It shares a
// lookup in progress.
func (r *register) present(ctx context.Context, k scheduler.Key) (presence, error) {
	if known, ok := r.Peek(k); ok {
		return known.presence, nil
	}
	lookup := r.lookups.DoChan(k.String(), func() (any, error) {
		known, err := r.Current(context.WithoutCancel(ctx), k, 0)
		if errors.Is(err, scheduler.ErrNotFound) {
			err = nil
		}
		return known.presence, err
	})
	select {
	case found := <-lookup:
		p, _ := found.Val.(presence)
		return p, found.Err
	case <-ctx.Done():
		return presence{}, context.Cause(ctx)
	}
}
