package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Tail says where a live tail of a history begins, and what is called.
type Tail struct {
	After *uint64 // the sequence after which it begins; nil: that of the last record

	// Beyond has a place after the last record taken for the last one, as it is of
	// another history: one that was lost. Default: such a place is refused.
	Beyond bool

	Ready  func(Beginning)         // is called once, before the others
	Record func(*scheduler.Record) // for every record that is wanted
	Passed func(sequence uint64)   // for every one that is not; may be nil
}

// Beginning is where a live tail begins.
type Beginning struct {
	After uint64 // what is recorded after this sequence is told
	First uint64 // of what is kept: what was recorded before it is not told
	Last  uint64 // of what was recorded so far
}

// Follow calls t's functions for the records after a place, in their order and as
// they come, until ctx is done. They may be called a last time while Follow
// returns.
//
// Records of a job are those of the job that has the name now, unless the query
// asks for others. ErrNotFound when there is none, and when it is deleted: then
// nothing more can come.
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

// follower picks the records that are wanted out of those that come.
type follower struct {
	register *register
	query    *HistoryQuery
	tail     *Tail
	stop     context.CancelCauseFunc
	touched  chan struct{} // the definition of the query's job was

	mu  sync.Mutex
	own presence // of the query's job, at the beginning
}

// rouse has it looked whether the query's job is there.
func (t *follower) rouse() {
	select {
	case t.touched <- struct{}{}:
	default:
	}
}

// watch stops following when nobody tells of changes any more, or the query's job is not there any more.
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

// outcome is what following ended with: nil when it was asked to end.
func (t *follower) outcome(asked, followed context.Context) error {
	if asked.Err() == nil {
		return context.Cause(followed)
	}
	return nil
}

// begin makes sure that there is a job to follow.
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

// verify stops following when the job that was followed is not there any more.
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

// take takes the next record.
func (t *follower) take(ctx context.Context, r *scheduler.Record) {
	p, err := t.register.present(ctx, r.Job)
	foreign := !p.exists || !r.IsOf(p.incarnation)
	if err == nil && foreign { // or of a job so new that nobody has told of it
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

// roster knows which jobs there are, for all who follow histories: each job is looked up once for all of them, and one watch
// tells of changes. It has neither while nobody follows. It is safe for concurrent use.
type roster struct {
	store scheduler.Store

	mu  sync.Mutex
	now *register // nil: nobody follows
}

// register is what a roster knows from one watch, which ends when something may have been missed.
type register struct {
	store  scheduler.Store
	stands chan struct{} // closed when what is asked from then on is known to stay
	end    context.CancelFunc
	ended  chan struct{} // closed when the watch has ended; err says why
	err    error
	users  int // guarded by the roster

	mu     sync.Mutex
	known  map[scheduler.Key]presence
	asking map[scheduler.Key]*question
	told   map[*follower]struct{} // of changes of their own jobs
}

// question is a job that is being looked up.
type question struct {
	done    chan struct{}
	changed bool // meanwhile
}

var errUnwatched = errors.Join(scheduler.ErrUnavailable, errors.New("the watch of job definitions ended"))

// enter returns the shared register, and starts its watch for the first follower, with the values of that follower's context.
// The caller must call release.
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

// watch watches the definitions for a register until ctx is done or the watch fails. The next follower starts another one.
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

// release ends the watch after its last follower, and waits for the end.
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

// tell has a follower told when the definition of its job was written or deleted, until the returned function is called.
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

// knownMost is how many jobs are known at once.
const knownMost = 1 << 16

// present looks up a job, unless it is known, or somebody else does.
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

// ask looks up a job. It is called with the lock, and returns without.
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
