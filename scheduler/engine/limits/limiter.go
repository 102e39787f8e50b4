package limits

import (
	"fmt"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Config configures a Limiter. All fields are required.
type Config[R Caller] struct {
	// Concurrency limits the running attempts.
	Concurrency int

	// Now is the clock of the limiter.
	Now func() time.Time

	// PerTarget limits the running attempts per target.
	PerTarget int

	// Start is called with a run that received a slot, which it keeps until Done or Forgo. Start must not block, and
	// must not call the Limiter before it returns.
	Start func(R)

	// Defer is called with a run that must wait outside the process. It must not block, and must not call the Limiter
	// before it returns.
	Defer func(R, Deferral)
}

// Limiter hands out slots to runs. It is safe for concurrent use.
type Limiter[R Caller] struct {
	cfg Config[R]

	mu       sync.Mutex
	groups   map[string]*queue[R]
	ready    []*queue[R] // queues with runs, in round-robin order
	inFlight int
	slow     int    // running attempts to slow targets
	opened   uint64 // number of times that a circuit breaker opened
	closed   bool
	timer    *time.Timer // wakes targets that wait for their rate; nil: none waits
	wake     time.Time   // when the timer fires
}

// New returns a Limiter with all slots free.
func New[R Caller](cfg Config[R]) *Limiter[R] {
	return &Limiter[R]{cfg: cfg, groups: map[string]*queue[R]{}}
}

// Submit starts r if a slot is free, otherwise queues it. It defers r while its target's circuit breaker is open.
// Submit returns false after Drain.
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

// Done frees the slot of a run whose attempt ended with res. If the circuit breaker opens, Done defers the waiting
// runs.
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

// Forgo frees the slot of a run that did not start its attempt.
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

// Backlog reports whether runs wait for a slot of a target that is not slow.
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

// Review detects unresponsive targets, updates the rules and forgets idle targets. Call it about every second. rule
// returns a collection's current rule for a target and must not call the Limiter.
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

// Pace defers the runs that their targets' rates will not admit soon.
func (l *Limiter[R]) Pace(now time.Time) {
	l.shed(now, func(t *target) (shedding, bool) { return t.ahead(now) })
}

// Shed defers the runs for targets that are slow or have a low concurrency, except the first few of each, to free
// memory.
func (l *Limiter[R]) Shed(now time.Time, few int) {
	l.shed(now, func(t *target) (shedding, bool) { return t.surplus(few) })
}

// Drain empties all queues and returns their runs. Afterwards, no run starts.
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

// shed defers the runs that by selects from each queue.
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

// fill gives free slots to the waiting targets in round-robin order.
func (l *Limiter[R]) fill(now time.Time) []R {
	var started []R
	for n := len(l.ready); n > 0 && l.inFlight < l.cfg.Concurrency; n-- {
		q := l.ready[0]
		l.ready = l.ready[1:]
		q.listed = false
		if len(q.runs) == 0 {
			continue // its runs were deferred
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
			n++ // it may receive another slot
		}
	}
	return started
}

// readyRoom is the initial capacity of the round-robin.
const readyRoom = 64

// list adds q to the round-robin if it has waiting runs.
func (l *Limiter[R]) list(q *queue[R]) {
	if !q.listed && len(q.runs) > 0 {
		q.listed = true
		if cap(l.ready) == 0 {
			l.ready = make([]*queue[R], 0, readyRoom)
		}
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

// leave frees the slot of a run that has ended, and returns its queue.
func (l *Limiter[R]) leave(c *Call) *queue[R] {
	q := l.groups[c.group]
	q.slots.inFlight--
	l.inFlight--
	if q.slots.slow {
		l.slow--
	}
	return q
}

// prune forgets q if it holds no state worth keeping.
func (l *Limiter[R]) prune(q *queue[R], now time.Time) {
	if len(q.runs) == 0 && q.idle(now) {
		delete(l.groups, q.group)
	}
}

// wakeAt schedules a refill.
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

// woken refills slots when the timer fires. After Drain, which waits for the lock, it starts nothing.
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

// Refusal is the reason why a run did not receive a slot. It includes when to try again; zero: when other runs have
// ended.
type Refusal struct {
	Why   string
	Until time.Time
	Hard  bool // do not wait and retry
}

// Enter gives r a slot immediately, which r keeps until [Limiter.Done] or Forgo, or returns the reason for a refusal.
// It never queues r, and queued runs have priority.
func (l *Limiter[R]) Enter(r R) *Refusal {
	c, now := r.call(), l.cfg.Now()
	c.enter(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &Refusal{Why: "this scheduler is stopping", Hard: true}
	}
	q := l.queueOf(c)
	if d, open := q.defers(c, now); open {
		return &Refusal{
			Why:   fmt.Sprintf("the circuit breaker of %s is open until %s", c.Target, d.Until.UTC().Format(time.RFC3339)),
			Until: d.Until, Hard: true,
		}
	}
	if l.inFlight >= l.cfg.Concurrency {
		return &Refusal{Why: "all slots of this scheduler are taken"}
	}
	at, ok := q.admits(c, l.slow < max(1, l.cfg.Concurrency/2), now)
	if !ok || len(q.runs) > 0 {
		l.prune(q, now)
		return &Refusal{Why: "all slots of " + c.Target + " are taken, or other runs wait for them", Until: at}
	}
	q.push(r, now)
	l.take(q, now)
	return nil
}

// queueOf returns the queue of a run.
func (l *Limiter[R]) queueOf(c *Call) *queue[R] {
	q := l.groups[c.group]
	if q == nil {
		q = &queue[R]{group: c.group, target: target{
			collection: c.Key.Collection, name: c.Target, slots: slots{allowed: min(firstSlots, l.cfg.PerTarget)},
		}}
		l.groups[c.group] = q
	}
	q.rule = c.Rule
	return q
}

// Stats is the load of a Limiter.
type Stats struct {
	InFlight int      // running attempts
	Queued   int      // runs that wait for a slot
	Circuits Circuits // circuit breakers of the known targets
	Opened   uint64   // number of times that a circuit breaker opened since the start
}

// Circuits counts the targets with a circuit breaker by state.
type Circuits struct{ Closed, Open, HalfOpen int }

// Stats returns the current load. It visits every known target.
func (l *Limiter[R]) Stats(now time.Time) Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{InFlight: l.inFlight, Opened: l.opened}
	for _, q := range l.groups {
		s.Queued += len(q.runs)
		switch {
		case q.rule == nil || q.rule.Breaker == nil:
		case q.breaker.until.IsZero():
			s.Circuits.Closed++
		case q.breaker.open(now):
			s.Circuits.Open++
		default:
			s.Circuits.HalfOpen++
		}
	}
	return s
}

// Target is a target whose attempts are held back.
type Target struct {
	Name       string
	Collection string // owner of the rule; "": no rule
	State      State
	Until      time.Time // end of state Open
	InFlight   int       // running attempts
	Queued     int       // runs that wait in this process
}

// State is the reason why attempts are held back.
type State uint8

// The states, least restrictive first.
const (
	Limited  State = iota + 1 // runs wait because of a collection's rule
	Slow                      // attempts take longer than a second, so the target gets fewer slots
	HalfOpen                  // the circuit breaker is half open: a probe checks whether the target has recovered
	Open                      // the circuit breaker is open: runs are deferred
)

// Troubled returns the targets whose attempts are currently held back.
func (l *Limiter[R]) Troubled(now time.Time) (all []Target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.groups {
		t := Target{
			Name: q.name, State: q.state(len(q.runs), now), Until: q.breaker.until, InFlight: q.slots.inFlight, Queued: len(q.runs),
		}
		if q.rule != nil {
			t.Collection = q.collection
		}
		if t.State != 0 {
			all = append(all, t)
		}
	}
	return all
}

// state returns why runs wait for the target; 0: not because of the target.
func (t *target) state(queued int, now time.Time) State {
	circuit := t.rule != nil && t.rule.Breaker != nil && !t.breaker.until.IsZero()
	switch {
	case circuit && t.breaker.open(now):
		return Open
	case circuit:
		return HalfOpen
	case t.slots.slow:
		return Slow
	case t.rule != nil && queued > 0:
		return Limited
	}
	return 0
}
