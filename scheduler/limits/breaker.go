package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// breaker is the circuit of one target: closed while attempts go well, open
// after too many in a row that did not, and half open once its time is over,
// when one attempt, the probe, finds out whether the target is back.
type breaker struct {
	failures int       // in a row
	until    time.Time // open until then, half open afterwards; zero: closed
	probing  bool      // half open, and the probe is under way
	last     time.Time // failure
}

// forgetAfter is how long the failures of a target without attempts are
// remembered.
const forgetAfter = 10 * time.Minute

// quiet reports whether nothing has to be remembered: there was no failure, or
// the last is long past.
func (b *breaker) quiet(now time.Time) bool {
	return b.failures == 0 || now.Sub(b.last) > forgetAfter && now.Sub(b.until) > forgetAfter
}

// open reports whether runs are to be deferred.
func (b *breaker) open(now time.Time) bool { return now.Before(b.until) }

// admits reports whether an attempt may begin.
func (b *breaker) admits(now time.Time) bool {
	return b.until.IsZero() || !b.probing && !now.Before(b.until)
}

// begin notes that an attempt begins, and reports whether it is the probe.
func (b *breaker) begin(now time.Time) (probe bool) {
	if b.until.IsZero() || b.open(now) || b.probing {
		return false
	}
	b.probing = true
	return true
}

// forgo takes back that an attempt began.
func (b *breaker) forgo(probe bool) {
	if probe {
		b.probing = false
	}
}

// end notes how an attempt ended, and reports whether the circuit opened.
// probe tells whether it was the probe.
func (b *breaker) end(rule *scheduler.BreakerRule, res scheduler.Result, now time.Time, probe bool) (opened bool) {
	if probe {
		b.probing = false
	}
	if res.Failed && res.Blameless {
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

// trouble reports whether a result shows that the target is in trouble, and
// not only that it does not like the request.
func trouble(res scheduler.Result) bool {
	switch res.Status {
	case 0, 408, 429, 500, 502, 503, 504:
		return res.Failed
	}
	return false
}
