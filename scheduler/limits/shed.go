package limits

import "time"

// shedding selects the waiting runs of a target to defer: all except the first few, with delays that follow their order
// in the queue.
type shedding struct {
	keep        int
	why         Delay
	first       time.Duration // delay of the first run
	each        float64 // nanoseconds between two runs
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

// turn returns the delay of the i-th run of the queue, from 0.
func (s shedding) turn(i int) time.Duration {
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
