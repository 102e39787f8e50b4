package limits

import (
	"slices"
	"time"
)

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
