package scheduler

import "time"

// breaker is the circuit of one target: closed while attempts go well, open
// after too many in a row that did not, and half open once its time is over,
// when one attempt finds out whether the target is back.
type breaker struct {
	failures int       // in a row
	until    time.Time // open until then, half open afterwards; zero: closed
	probing  bool      // half open, and the one attempt is under way
	last     time.Time // failure
}

// quiet reports whether nothing has to be remembered: there was no failure, or
// the last is long past.
func (b *breaker) quiet(now time.Time) bool {
	return b.failures == 0 || now.Sub(b.last) > forgetAfter && now.Sub(b.until) > forgetAfter
}

// forgetAfter is how long the failures of a target without attempts are
// remembered.
const forgetAfter = 10 * time.Minute

// admits reports whether an attempt may begin.
func (b *breaker) admits(now time.Time) bool {
	return b.until.IsZero() || !b.probing && !now.Before(b.until)
}

// open reports whether attempts are to be put off.
func (b *breaker) open(now time.Time) bool { return now.Before(b.until) }

// begin notes that an attempt begins, and reports whether it is the one that
// finds out.
func (b *breaker) begin(now time.Time) (probe bool) {
	if b.until.IsZero() || b.open(now) || b.probing {
		return false
	}
	b.probing = true
	return true
}

// end notes how an attempt ended, and reports whether the circuit opened. probe
// tells whether it was the one that finds out.
func (b *breaker) end(rule *BreakerRule, res Result, now time.Time, probe bool) bool {
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
func trouble(res Result) bool {
	switch res.Status {
	case 0, 408, 429, 500, 502, 503, 504:
		return res.Failed
	}
	return false
}

// pacer spreads attempts evenly at a rate (the generic cell rate algorithm).
type pacer struct {
	next time.Time // when the next attempt would begin by the rate
}

// slack is how far ahead of the rate attempts may begin, so that quick rates
// do not need a timer for each.
const slack = 20 * time.Millisecond

// ready returns when an attempt may begin, a time that has passed if at once.
func (p *pacer) ready(rule *TargetRule) time.Time {
	return p.next.Add(-max(0, slack-rule.interval()))
}

// giveBack takes an attempt back that did not begin after all.
func (p *pacer) giveBack(rule *TargetRule) { p.next = p.next.Add(-rule.interval()) }

// take counts an attempt that begins.
func (p *pacer) take(rule *TargetRule, now time.Time) {
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(rule.interval())
}
