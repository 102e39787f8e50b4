package limits

import (
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
