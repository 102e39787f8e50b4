package service

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

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
