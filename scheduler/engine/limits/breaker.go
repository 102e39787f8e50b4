package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// breaker is the circuit breaker of a target. It is closed while attempts succeed and opens after several consecutive
// failures. When the open period has ended, it is half open: one attempt, the probe, checks whether the target has
// recovered.
type breaker struct {
	failures int       // consecutive
	until    time.Time // open until then, half open afterward; zero: closed
	probing  bool      // half open, and the probe is running
	last     time.Time // time of the last failure
}

// forgetAfter is how long the failures of an idle target are remembered.
const forgetAfter = 10 * time.Minute

// quiet reports whether the breaker holds no state worth keeping: no failure, or none recently.
func (b *breaker) quiet(now time.Time) bool {
	return b.failures == 0 || now.Sub(b.last) > forgetAfter && now.Sub(b.until) > forgetAfter
}

// open reports whether to defer runs.
func (b *breaker) open(now time.Time) bool { return now.Before(b.until) }

// admits reports whether an attempt may start.
func (b *breaker) admits(now time.Time) bool {
	return b.until.IsZero() || !b.probing && !now.Before(b.until)
}

// begin records the start of an attempt, and reports whether it is the probe.
func (b *breaker) begin(now time.Time) (probe bool) {
	if b.until.IsZero() || b.open(now) || b.probing {
		return false
	}
	b.probing = true
	return true
}

// forgo reverts begin.
func (b *breaker) forgo(probe bool) {
	if probe {
		b.probing = false
	}
}

// end records the result of an attempt, and reports whether the breaker opened. probe states whether the attempt was
// the probe.
func (b *breaker) end(rule *scheduler.BreakerRule, res scheduler.Result, now time.Time, probe bool) (opened bool) {
	if probe {
		b.probing = false
	}
	if res.Failed && res.SkipCircuit {
		return false // it says nothing about the target
	}
	if rule == nil || !trouble(res) {
		*b = breaker{}
		return false
	}
	b.failures++
	b.last = now
	if probe || b.until.IsZero() && b.failures >= rule.Failures {
		b.until = now.Add(rule.OpenFor)
		return true
	}
	return false
}

// trouble reports whether a result indicates a problem of the target, as opposed to a rejected request.
func trouble(res scheduler.Result) bool {
	switch res.Status {
	case 0, 408, 429, 500, 502, 503, 504:
		return res.Failed
	}
	return false
}
