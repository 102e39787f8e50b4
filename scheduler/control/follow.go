package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
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
// The records of a job are those of its current incarnation, unless the query selects others. Follow returns
// ErrNotFound if the job does not exist, or when it is deleted, because no more records can follow.
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
	register := r.shared.roster.enter(ctx)
	defer r.shared.roster.release(register)
	followed, stop := context.WithCancelCause(ctx)
	t := &follower{register: register, query: &q, tail: &tail, stop: stop, touched: make(chan struct{}, 1)}
	untell := register.tell(t)
	defer untell()
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil)
	watch.Go(func() { t.watch(followed) })
	select {
	case <-register.stands:
	case <-followed.Done():
		return t.outcome(ctx, followed)
	}
	t.begin(followed)
	if followed.Err() == nil {
		tail.Ready(begins)
		take := func(rec *scheduler.Record) { t.take(followed, rec) }
		if err := r.shared.Store.Follow(followed, q.Key, begins.After, take); err != nil {
			return err
		}
	}
	return t.outcome(ctx, followed)
}

// follower filters the records of a live tail.
type follower struct {
	register *register
	query    *HistoryQuery
	tail     *Tail
	stop     context.CancelCauseFunc
	touched  chan struct{} // the definition of the query's job changed

	mu  sync.Mutex
	own presence // of the query's job, at the start
}

// rouse makes the follower check whether the query's job still exists.
func (t *follower) rouse() {
	select {
	case t.touched <- struct{}{}:
	default:
	}
}

// watch stops the tail when the watch on definitions ends or the query's job is deleted.
func (t *follower) watch(ctx context.Context) {
	for {
		select {
		case <-t.touched:
			t.mu.Lock()
			own := t.own
			t.mu.Unlock()
			if own.exists {
				t.verify(ctx)
			}
		case <-t.register.ended:
			t.stop(t.register.err)
			return
		case <-ctx.Done():
			return
		}
	}
}

// outcome returns the error of the tail: nil if it was asked to end.
func (t *follower) outcome(asked, followed context.Context) error {
	if asked.Err() == nil {
		return context.Cause(followed)
	}
	return nil
}

// begin checks whether the query's job exists.
func (t *follower) begin(ctx context.Context) {
	k := t.query.Key
	if k.Job == "" || !t.query.NeedsJob() {
		return
	}
	p, err := t.register.present(ctx, k)
	switch {
	case err != nil:
		t.stop(err)
	case !p.exists:
		t.stop(notThere(k))
	default:
		t.mu.Lock()
		t.own = p
		t.mu.Unlock()
		t.verify(ctx) // it may have been deleted meanwhile
	}
}

// verify stops the tail if the followed job has been deleted.
func (t *follower) verify(ctx context.Context) {
	now, err := t.register.present(ctx, t.query.Key)
	t.mu.Lock()
	own := t.own
	t.mu.Unlock()
	switch {
	case err != nil:
		t.stop(err)
	case now != own:
		t.stop(fmt.Errorf("%w: it was deleted", notThere(t.query.Key)))
	}
}

// take handles the next record.
func (t *follower) take(ctx context.Context, r *scheduler.Record) {
	p, err := t.register.present(ctx, r.Job)
	foreign := !p.exists || !r.IsOf(p.incarnation)
	if err == nil && foreign { // or the watch has not reported the new job yet
		t.register.forget(r.Job)
		p, err = t.register.present(ctx, r.Job)
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

// roster knows which jobs exist, for all live tails: it looks up each job once, and shares one watch on changes.
// Without followers, it has neither. It is safe for concurrent use.
type roster struct {
	store scheduler.Store

	mu  sync.Mutex
	now *register // nil: no followers
}

// register holds the knowledge from one watch. It ends when the watch may have missed a change.
type register struct {
	store  scheduler.Store
	stands chan struct{} // closed when subsequent lookups are kept current by the watch
	end    context.CancelFunc
	ended  chan struct{} // closed when the watch has ended; err is the reason
	err    error
	users  int // guarded by the roster

	mu     sync.Mutex
	known  map[scheduler.Key]presence
	asking map[scheduler.Key]*question
	told   map[*follower]struct{} // followers to notify when their job changes
}

// question is a job lookup in progress.
type question struct {
	done    chan struct{}
	changed bool // during the lookup
}

var errUnwatched = errors.Join(scheduler.ErrUnavailable, errors.New("the watch of job definitions ended"))

// enter returns the shared register, and starts its watch for the first follower, with the values of that follower's
// context. The caller must call release.
func (s *roster) enter(ctx context.Context) *register {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		watching, end := context.WithCancel(context.WithoutCancel(ctx))
		s.now = &register{
			store: s.store, stands: make(chan struct{}), end: end, ended: make(chan struct{}),
			known: map[scheduler.Key]presence{}, asking: map[scheduler.Key]*question{}, told: map[*follower]struct{}{},
		}
		go s.watch(watching, s.now)
	}
	s.now.users++
	return s.now
}

// watch watches the definitions for a register until ctx is done or the watch fails. The next follower starts another
// watch.
func (s *roster) watch(ctx context.Context, r *register) {
	err := s.store.WatchJobs(ctx, func() { close(r.stands) }, func(k scheduler.Key, _ uint64) { r.changed(k) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == r {
		s.now = nil
	}
	r.err = cmp.Or(err, errUnwatched)
	close(r.ended)
}

// release ends the watch after its last follower, and waits for its end.
func (s *roster) release(r *register) {
	s.mu.Lock()
	r.users--
	last := r.users == 0
	if last && s.now == r {
		s.now = nil
	}
	s.mu.Unlock()
	if last {
		r.end()
		<-r.ended
	}
}

// tell notifies a follower when the definition of its job is written or deleted, until stop is called.
func (r *register) tell(t *follower) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[t] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.told, t)
	}
}

// changed forgets a job whose definition was written or deleted.
func (r *register) changed(k scheduler.Key) {
	r.forget(k)
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.told {
		if t.query.Key == k {
			t.rouse()
		}
	}
}

func (r *register) forget(k scheduler.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, k)
	if q := r.asking[k]; q != nil {
		q.changed = true
	}
}

// knownMost limits the known jobs.
const knownMost = 1 << 16

// present returns the presence of a job. It shares a lookup in progress.
func (r *register) present(ctx context.Context, k scheduler.Key) (presence, error) {
	for {
		r.mu.Lock()
		if p, ok := r.known[k]; ok {
			r.mu.Unlock()
			return p, nil
		}
		other := r.asking[k]
		if other == nil {
			return r.ask(ctx, k)
		}
		r.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return presence{}, context.Cause(ctx)
		}
	}
}

// ask looks up a job. The caller holds the lock; ask releases it.
func (r *register) ask(ctx context.Context, k scheduler.Key) (presence, error) {
	q := &question{done: make(chan struct{})}
	r.asking[k] = q
	r.mu.Unlock()
	p, err := present(ctx, r.store, k)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asking, k)
	close(q.done)
	if err == nil && !q.changed {
		if len(r.known) >= knownMost {
			clear(r.known)
		}
		r.known[k] = p
	}
	return p, err
}
