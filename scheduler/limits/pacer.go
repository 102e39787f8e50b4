package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// pacer spreads attempts evenly at a rate (the generic cell rate algorithm).
// each is the time between two attempts at the rate.
type pacer struct {
	next time.Time // when the next attempt would begin by the rate
}

// slack is how far ahead of the rate attempts may begin, so that quick rates
// do not need a timer for each.
const slack = 20 * time.Millisecond

// interval is the time between two attempts at the rate of a rule that has
// one, more than none.
func interval(rule *scheduler.TargetRule) time.Duration {
	return max(1, rule.Per/time.Duration(rule.Rate))
}

// ready returns when an attempt may begin, a time that has passed if at once.
func (p *pacer) ready(each time.Duration) time.Time { return p.next.Add(-max(0, slack-each)) }

// begin counts an attempt that begins.
func (p *pacer) begin(each time.Duration, now time.Time) {
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(each)
}

// forgo takes an attempt back that did not begin after all.
func (p *pacer) forgo(each time.Duration) { p.next = p.next.Add(-each) }

// quiet reports whether nothing has to be remembered: the next attempt may
// begin by the rate.
func (p *pacer) quiet(now time.Time) bool { return !p.next.After(now) }
