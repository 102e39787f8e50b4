package limits

import "time"

// shedding says which of the runs that wait for a target are deferred: all but
// the first few, each for its place in the queue.
type shedding struct {
	keep        int
	why         Delay
	first       time.Duration // until the first run's turn
	each        float64       // nanoseconds between two turns
	least, most time.Duration // bounds of how long a run is deferred
}

const (
	// paceAhead is how far ahead of their turn runs for a target with a rate are
	// kept: the others wait outside the process, and take no place from others.
	paceAhead = 3 * time.Second

	// The bounds of how long a run is deferred.
	minDelay     = time.Second
	maxDelay     = time.Minute
	maxPaceDelay = 5 * time.Minute // a rule may change, and the turn come sooner
)

// turn is how long from now the i-th run of the queue is deferred, from 0 on.
func (s shedding) turn(i int) time.Duration {
	return min(max(s.first+time.Duration(float64(i)*s.each), s.least), s.most)
}

// ahead sheds what the target's rate does not let begin soon. False means that
// there is no rate.
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

// surplus sheds all but the first few runs for a target that is slow, or whose
// rule lets few run at once. False means that it is neither.
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
