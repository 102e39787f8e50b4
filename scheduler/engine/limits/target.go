package limits

import (
	"slices"
	"sort"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// target holds the limits of one host: for all attempts, or for those of a collection with a rule for it.
type target struct {
	collection, name string                // owner and target of the rule
	rule             *scheduler.TargetRule // nil: none
	slots            slots
	pacer            pacer
	breaker          breaker
}

// defers reports whether the circuit breaker defers a run.
func (t *target) defers(c *Call, now time.Time) (d Deferral, open bool) {
	if t.rule == nil || t.rule.Breaker == nil || !t.breaker.open(now) || c.forced(t.rule.Breaker, now) {
		return d, false
	}
	return Deferral{Until: t.breaker.until, Why: DelayCircuit, Rule: t.rule}, true
}

// overtakes reports whether a run goes before the others because it ignores the circuit breaker.
func (t *target) overtakes(c *Call, now time.Time) bool {
	return t.rule != nil && t.rule.Breaker != nil && c.forced(t.rule.Breaker, now)
}

// admits reports whether a run may start. If it waits for its rate only, at is when it may start.
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

// begin counts a run that starts.
func (t *target) begin(c *Call, now time.Time) {
	t.slots.begin(now)
	if c.probe = false; t.rule != nil {
		c.probe = t.breaker.begin(now)
		if t.rule.Rate > 0 {
			t.pacer.begin(interval(t.rule), now)
		}
	}
}

// end records the result of an attempt that has left its slot. opened reports whether the circuit breaker opened; moved
// is the result of [slots.classify].
func (t *target) end(c *Call, res scheduler.Result, most int, now time.Time) (moved int, opened bool) {
	moved = t.slots.answered(res, most, now)
	return moved, t.rule != nil && t.breaker.end(t.rule.Breaker, res, now, c.probe)
}

// forgo reverts begin.
func (t *target) forgo(c *Call) {
	t.breaker.forgo(c.probe)
	if t.rule != nil && t.rule.Rate > 0 {
		t.pacer.forgo(interval(t.rule))
	}
}

// idle reports whether the target, without waiting runs, holds no state worth keeping.
func (t *target) idle(now time.Time) bool {
	return t.slots.inFlight == 0 && t.breaker.quiet(now) && t.pacer.quiet(now)
}

// quick reports whether runs that wait get the next slot soon: when an attempt
// ends, and not by a rate or a circuit breaker.
func (t *target) quick() bool {
	return !t.slots.slow && (t.rule == nil || t.slots.inFlight > 0 && t.rule.Rate == 0)
}

// slots holds how many concurrent attempts a target has earned, and how long its attempts take.
type slots struct {
	inFlight int
	allowed  int
	latency  time.Duration // moving average
	progress time.Time     // when an attempt last ended, or the first one started
	slow     bool
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is the number of slots of a target that has not responded yet.
	firstSlots = 8
)

// admits reports whether one more attempt may start. slowRoom states whether slow targets have a free slot.
func (s *slots) admits(slowRoom bool) bool { return s.inFlight < s.allowed && (!s.slow || slowRoom) }

// begin counts an attempt that starts.
func (s *slots) begin(now time.Time) {
	if s.inFlight == 0 {
		s.progress = now
	}
	s.inFlight++
}

// answered records the result of an attempt that has left its slot. most is the maximum number of slots.
func (s *slots) answered(res scheduler.Result, most int, now time.Time) (moved int) {
	s.progress = now
	s.latency += (res.Duration - s.latency) / 4
	if res.Duration < slowAfter || !res.Failed {
		s.allowed = min(s.allowed+1, most)
	}
	return s.classify()
}

// review detects an unresponsive target, whose attempts have not ended and so have not changed its latency.
func (s *slots) review(now time.Time) (moved int) {
	if waited := now.Sub(s.progress); s.inFlight > 0 && waited > max(slowAfter, s.latency) {
		s.latency = waited
		return s.classify()
	}
	return 0
}

// classify decides whether the target is slow. moved is the change in the number of running attempts to slow targets.
func (s *slots) classify() (moved int) {
	slow := s.latency >= slowAfter
	if slow == s.slow {
		return 0
	}
	if s.slow = slow; slow {
		return s.inFlight
	}
	return -s.inFlight
}

// queue holds the waiting runs of a target.
type queue[R Caller] struct {
	target

	group  string
	runs   []R
	listed bool // in the round-robin
}

// deferred is a run that leaves its queue to wait outside the process.
type deferred[R Caller] struct {
	Deferral

	run R
}

// push adds r after the runs of its priority or, if it overtakes, at the front.
func (q *queue[R]) push(r R, now time.Time) {
	c, at := r.call(), len(q.runs)
	switch {
	case q.overtakes(c, now):
		at = 0
	case at > 0 && q.runs[at-1].call().Priority < c.Priority:
		at = sort.Search(at, func(i int) bool { return q.runs[i].call().Priority < c.Priority })
	}
	q.runs = slices.Insert(q.runs, at, r)
}

// pop removes and counts the first run.
func (q *queue[R]) pop(now time.Time) R {
	var none R
	r := q.runs[0]
	q.runs[0] = none
	q.runs = q.runs[1:]
	q.begin(r.call(), now)
	return r
}

// retreat removes the runs that the circuit breaker defers.
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

// shed removes the runs that s selects.
func (q *queue[R]) shed(s shedding, now time.Time) []deferred[R] {
	if len(q.runs) <= s.keep {
		return nil
	}
	out := make([]deferred[R], 0, len(q.runs)-s.keep)
	for i, r := range q.runs[s.keep:] {
		out = append(out, deferred[R]{Deferral{now.Add(s.delayOf(s.keep + i)), s.why, q.rule}, r})
	}
	clear(q.runs[s.keep:])
	q.runs = q.runs[:s.keep]
	return out
}

// pacer spaces attempts evenly at a rate (generic cell rate algorithm). The parameter each is the interval between
// two attempts.
type pacer struct {
	next time.Time // when the rate admits the next attempt
}

// slack is how early an attempt may start, so that high rates do not need a timer per attempt.
const slack = 20 * time.Millisecond

// interval returns the interval between two attempts at the rate of a rule, which must have one.
func interval(rule *scheduler.TargetRule) time.Duration {
	return max(1, rule.Per/time.Duration(rule.Rate))
}

// ready returns when an attempt may start; it may be in the past.
func (p *pacer) ready(each time.Duration) time.Time { return p.next.Add(-max(0, slack-each)) }

// begin counts an attempt that starts.
func (p *pacer) begin(each time.Duration, now time.Time) {
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(each)
}

// forgo reverts begin.
func (p *pacer) forgo(each time.Duration) { p.next = p.next.Add(-each) }

// quiet reports whether the pacer holds no state worth keeping: the rate admits the next attempt.
func (p *pacer) quiet(now time.Time) bool { return !p.next.After(now) }

// shedding selects the waiting runs of a target to defer: all except the first few, with delays that follow their order
// in the queue.
type shedding struct {
	keep        int
	why         Delay
	first       time.Duration // delay of the first run
	each        float64       // nanoseconds between two runs
	least, most time.Duration // limits of the delay
}

const (
	// paceAhead is how long before their turn runs for a target with a rate remain in memory. Others wait outside the
	// process.
	paceAhead = 3 * time.Second

	// The limits of a delay.
	minDelay     = time.Second
	maxDelay     = time.Minute
	maxPaceDelay = 5 * time.Minute // the rule may change and admit the run earlier
)

// delayOf returns the delay of the i-th run of the queue, from 0.
func (s shedding) delayOf(i int) time.Duration {
	return min(max(s.first+time.Duration(float64(i)*s.each), s.least), s.most)
}

// ahead selects the runs that the target's rate will not admit soon. It returns false without a rate.
func (t *target) ahead(now time.Time) (s shedding, ok bool) {
	if t.rule == nil || t.rule.Rate == 0 {
		return s, false
	}
	each := interval(t.rule)
	s = shedding{why: DelayPace, first: max(0, t.pacer.ready(each).Sub(now)), each: float64(each), most: maxPaceDelay}
	if s.first <= paceAhead {
		s.keep = int((paceAhead-s.first)/each) + 1
	}
	return s, true
}

// surplus selects all except the first few runs of a target that is slow or whose rule has a low concurrency. It
// returns false for other targets.
func (t *target) surplus(few int) (s shedding, ok bool) {
	s = shedding{keep: few, why: DelaySlow, least: minDelay, most: maxDelay}
	n := t.slots.allowed
	switch {
	case t.rule != nil && t.rule.Concurrency > 0:
		s.why, n = DelayPace, min(n, t.rule.Concurrency)
	case !t.slots.slow:
		return s, false
	}
	s.each = float64(t.slots.latency) / float64(n)
	return s, true
}
