package limits

import (
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Config says how many slots there are, and what becomes of runs. All fields
// are required.
type Config[R Caller] struct {
	// Concurrency is how many attempts may be in flight.
	Concurrency int

	// Now is the clock of all times here.
	Now func() time.Time

	// PerTarget is how many of them may go to one target.
	PerTarget int

	// Start is called with a run that has been given a slot, which is its own
	// until Done or Forgo. It must not block, and must not call the Limiter
	// before it returns.
	Start func(R)

	// Defer is called with a run that is to wait outside the process. It must
	// not block, and must not call the Limiter before it returns.
	Defer func(R, Deferral)
}

// Limiter hands out slots to runs. It is safe for concurrent use.
type Limiter[R Caller] struct {
	cfg Config[R]

	mu       sync.Mutex
	groups   map[string]*queue[R]
	ready    []*queue[R] // those with runs, in turn
	inFlight int
	slow     int    // attempts in flight to slow targets
	opened   uint64 // how often a circuit did
	closed   bool
	timer    *time.Timer // wakes the targets that wait for their rate; nil: none does
	wake     time.Time   // when it does
}

// New returns a Limiter with every slot free.
func New[R Caller](cfg Config[R]) *Limiter[R] {
	return &Limiter[R]{cfg: cfg, groups: map[string]*queue[R]{}}
}

// Submit starts r when a slot is free, queues it behind its target's others
// when none is, and defers it when its target's circuit is open. False means
// that no more attempts are started.
func (l *Limiter[R]) Submit(r R) bool {
	c := r.call()
	c.enter(l.cfg.Now())
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	q, now := l.queueOf(c), l.cfg.Now()
	if d, open := q.defers(c, now); open {
		l.mu.Unlock()
		l.cfg.Defer(r, d)
		return true
	}
	q.push(r, now)
	l.list(q)
	started := l.fill(now)
	l.mu.Unlock()
	l.start(started)
	return true
}

// Done frees the slot of a run whose attempt ended with res. When that opens
// the circuit, runs that wait are deferred.
func (l *Limiter[R]) Done(r R, res scheduler.Result) {
	l.mu.Lock()
	c, now := r.call(), l.cfg.Now()
	q := l.leave(c)
	moved, opened := q.end(c, res, l.cfg.PerTarget, now)
	l.slow += moved
	var late []deferred[R]
	if opened {
		l.opened++
		late = q.retreat(now)
	}
	l.prune(q, now)
	started := l.fill(now)
	l.mu.Unlock()
	l.start(started)
	l.deferAll(late)
}

// Forgo frees the slot of a run that did not begin its attempt after all.
func (l *Limiter[R]) Forgo(r R) {
	l.mu.Lock()
	c, now := r.call(), l.cfg.Now()
	q := l.leave(c)
	q.forgo(c)
	l.prune(q, now)
	started := l.fill(now)
	l.mu.Unlock()
	l.start(started)
}

// Backlog reports whether runs wait for a slot that an attempt to a quick
// target will free.
func (l *Limiter[R]) Backlog() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.ready {
		if q.quick() {
			return true
		}
	}
	return false
}

// Review looks after targets by the clock, about every second: it finds those
// slow that answer nothing, brings the rules up to date, and forgets targets
// that are idle. rule returns what a collection has for a target now; it must
// not call the Limiter.
func (l *Limiter[R]) Review(now time.Time, rule func(collection, target string) *scheduler.TargetRule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.groups {
		l.slow += q.slots.review(now)
		if q.rule != nil {
			q.rule = rule(q.collection, q.name)
		}
		l.prune(q, now)
	}
	l.refill()
}

// Pace defers what the rates of targets do not let begin soon.
func (l *Limiter[R]) Pace(now time.Time) {
	l.shed(now, func(t *target) (shedding, bool) { return t.ahead(now) })
}

// Shed defers the runs for targets that are slow or let few attempts run at
// once, all but the first few of each: others need the place.
func (l *Limiter[R]) Shed(now time.Time, few int) {
	l.shed(now, func(t *target) (shedding, bool) { return t.surplus(few) })
}

// Drain empties every queue, returns what waited, and starts nothing more.
func (l *Limiter[R]) Drain() []R {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	var all []R
	for _, q := range l.groups {
		all = append(all, q.runs...)
		q.runs = nil
	}
	l.ready = nil
	return all
}

// shed defers what by sheds of each queue.
func (l *Limiter[R]) shed(now time.Time, by func(*target) (shedding, bool)) {
	l.mu.Lock() // held to the end, as in woken
	defer l.mu.Unlock()
	for _, q := range l.groups {
		if s, ok := by(&q.target); ok {
			l.deferAll(q.shed(s, now))
		}
	}
}

func (l *Limiter[R]) start(runs []R) {
	for _, r := range runs {
		l.cfg.Start(r)
	}
}

func (l *Limiter[R]) deferAll(runs []deferred[R]) {
	for _, d := range runs {
		l.cfg.Defer(d.run, d.Deferral)
	}
}

// fill gives free slots to the targets that wait, in turn.
func (l *Limiter[R]) fill(now time.Time) []R {
	var started []R
	for n := len(l.ready); n > 0 && l.inFlight < l.cfg.Concurrency; n-- {
		q := l.ready[0]
		l.ready = l.ready[1:]
		q.listed = false
		if len(q.runs) == 0 {
			continue // what waited was deferred
		}
		at, ok := q.admits(q.runs[0].call(), l.slow < max(1, l.cfg.Concurrency/2), now)
		if !ok {
			if !at.IsZero() {
				l.wakeAt(at, now)
			}
			l.list(q)
			continue
		}
		started = append(started, l.take(q, now))
		if len(q.runs) > 0 {
			l.list(q)
			n++ // it may have another turn
		}
	}
	return started
}

// list gives q a turn at the next slots when runs wait in it.
func (l *Limiter[R]) list(q *queue[R]) {
	if !q.listed && len(q.runs) > 0 {
		q.listed = true
		l.ready = append(l.ready, q)
	}
}

// take gives a slot to the first run of q.
func (l *Limiter[R]) take(q *queue[R], now time.Time) R {
	l.inFlight++
	if q.slots.slow {
		l.slow++
	}
	return q.pop(now)
}

// leave takes the slot of a run that is over, and returns where it had waited.
func (l *Limiter[R]) leave(c *Call) *queue[R] {
	q := l.groups[c.group]
	q.slots.inFlight--
	l.inFlight--
	if q.slots.slow {
		l.slow--
	}
	return q
}

// prune forgets q when there is nothing to be remembered of it.
func (l *Limiter[R]) prune(q *queue[R], now time.Time) {
	if len(q.runs) == 0 && q.idle(now) {
		delete(l.groups, q.group)
	}
}

// wakeAt fills slots again at a time.
func (l *Limiter[R]) wakeAt(at, now time.Time) {
	if l.closed || l.timer != nil && !l.wake.After(at) {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.wake = at
	l.timer = time.AfterFunc(at.Sub(now), l.woken)
}

// woken fills slots because time has passed. Nothing starts after Drain:
// that waits for the lock.
func (l *Limiter[R]) woken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	l.refill()
}

// refill fills slots under the lock.
func (l *Limiter[R]) refill() {
	if !l.closed {
		l.start(l.fill(l.cfg.Now()))
	}
}
