package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

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
