package limits

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// target is one host and what it is doing, for all its attempts, or for those
// of a collection that has a rule for it.
type target struct {
	collection, name string                // whose rule it is, and for what
	rule             *scheduler.TargetRule // nil: none
	slots            slots
	pacer            pacer
	breaker          breaker
}

// defers reports whether the circuit is open for a run.
func (t *target) defers(c *Call, now time.Time) (d Deferral, open bool) {
	if t.rule == nil || t.rule.Breaker == nil || !t.breaker.open(now) || c.forced(t.rule.Breaker, now) {
		return d, false
	}
	return Deferral{Until: t.breaker.until, Why: DelayCircuit, Rule: t.rule}, true
}

// overtakes reports whether a run goes before the others: one that the circuit
// does not defer any longer need not wait with them until the target is back.
func (t *target) overtakes(c *Call, now time.Time) bool {
	return t.rule != nil && t.rule.Breaker != nil && c.forced(t.rule.Breaker, now)
}

// admits reports whether a run may begin. at is set when it only waits for its
// rate: it may then.
func (t *target) admits(c *Call, slowRoom bool, now time.Time) (at time.Time, ok bool) {
	switch r := t.rule; {
	case !t.slots.admits(slowRoom):
		return at, false
	case r == nil:
		return at, true
	case r.Concurrency > 0 && t.slots.inFlight >= r.Concurrency:
		return at, false
	case r.Breaker != nil && !t.breaker.admits(now) && !c.forced(r.Breaker, now):
		return at, false
	case r.Rate == 0:
		return at, true
	}
	if ready := t.pacer.ready(interval(t.rule)); now.Before(ready) {
		return ready, false
	}
	return at, true
}

// begin counts a run that begins.
func (t *target) begin(c *Call, now time.Time) {
	t.slots.begin(now)
	if c.probe = false; t.rule != nil {
		c.probe = t.breaker.begin(now)
		if t.rule.Rate > 0 {
			t.pacer.begin(interval(t.rule), now)
		}
	}
}

// end learns from the attempt of a run that is counted no more. opened tells
// whether that opened the circuit; moved is that of [slots.judge].
func (t *target) end(c *Call, res scheduler.Result, most int, now time.Time) (moved int, opened bool) {
	moved = t.slots.answered(res, most, now)
	return moved, t.rule != nil && t.breaker.end(t.rule.Breaker, res, now, c.probe)
}

// forgo takes a run back that did not begin its attempt after all.
func (t *target) forgo(c *Call) {
	t.breaker.forgo(c.probe)
	if t.rule != nil && t.rule.Rate > 0 {
		t.pacer.forgo(interval(t.rule))
	}
}

// idle reports whether there is nothing to be remembered of the target, once
// no run waits for it.
func (t *target) idle(now time.Time) bool {
	return t.slots.inFlight == 0 && t.breaker.quiet(now) && t.pacer.quiet(now)
}

// quick reports whether runs that wait get the next slot soon: when an attempt
// ends, and not by a rate or a circuit.
func (t *target) quick() bool {
	return !t.slots.slow && (t.rule == nil || t.slots.inFlight > 0 && t.rule.Rate == 0)
}

// slots is how many attempts a target may have in flight, which it earns, and
// how long they take.
type slots struct {
	inFlight int
	allowed  int
	latency  time.Duration // moving average of its attempts
	progress time.Time     // when an attempt last ended, or the first one began
	slow     bool
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is what a target may have before it has answered.
	firstSlots = 8
)

// admits reports whether one more attempt may begin. slowRoom tells whether
// one may to any slow target.
func (s *slots) admits(slowRoom bool) bool { return s.inFlight < s.allowed && (!s.slow || slowRoom) }

// begin counts an attempt that begins.
func (s *slots) begin(now time.Time) {
	if s.inFlight == 0 {
		s.progress = now
	}
	s.inFlight++
}

// answered learns from an attempt that ended, and is counted no more. most is
// how many slots a target may earn.
func (s *slots) answered(res scheduler.Result, most int, now time.Time) (moved int) {
	s.progress = now
	s.latency += (res.Duration - s.latency) / 4
	if res.Duration < slowAfter || !res.Failed {
		s.allowed = min(s.allowed+1, most)
	}
	return s.judge()
}

// review judges a target whose attempts have not ended yet: one that answers
// nothing at all would never be found slow by what it answers.
func (s *slots) review(now time.Time) (moved int) {
	if waited := now.Sub(s.progress); s.inFlight > 0 && waited > max(slowAfter, s.latency) {
		s.latency = waited
		return s.judge()
	}
	return 0
}

// judge decides whether the target is slow. moved is by how many there are
// more attempts in flight to slow targets, or fewer.
func (s *slots) judge() (moved int) {
	slow := s.latency >= slowAfter
	if slow == s.slow {
		return 0
	}
	if s.slow = slow; slow {
		return s.inFlight
	}
	return -s.inFlight
}

// queue is the runs that wait for one target.
type queue[R Caller] struct {
	target

	group  string
	runs   []R
	listed bool // among those that wait for a slot
}

// deferred is a run that leaves its queue for outside the process.
type deferred[R Caller] struct {
	Deferral

	run R
}

// push puts r behind the others, or before them.
func (q *queue[R]) push(r R, now time.Time) {
	if q.overtakes(r.call(), now) {
		q.runs = slices.Insert(q.runs, 0, r)
		return
	}
	q.runs = append(q.runs, r)
}

// pop takes the first run out and counts it.
func (q *queue[R]) pop(now time.Time) R {
	var none R
	r := q.runs[0]
	q.runs[0] = none
	q.runs = q.runs[1:]
	q.begin(r.call(), now)
	return r
}

// retreat takes the runs out for which the circuit is open.
func (q *queue[R]) retreat(now time.Time) []deferred[R] {
	var out []deferred[R]
	kept := q.runs[:0]
	for _, r := range q.runs {
		if d, open := q.defers(r.call(), now); open {
			out = append(out, deferred[R]{d, r})
		} else {
			kept = append(kept, r)
		}
	}
	clear(q.runs[len(kept):])
	q.runs = kept
	return out
}

// shed takes out what s sheds.
func (q *queue[R]) shed(s shedding, now time.Time) []deferred[R] {
	if len(q.runs) <= s.keep {
		return nil
	}
	out := make([]deferred[R], 0, len(q.runs)-s.keep)
	for i, r := range q.runs[s.keep:] {
		out = append(out, deferred[R]{Deferral{now.Add(s.turn(s.keep + i)), s.why, q.rule}, r})
	}
	clear(q.runs[s.keep:])
	q.runs = q.runs[:s.keep]
	return out
}
