package limits

import "time"

// Target is one to which attempts are held back.
type Target struct {
	Name       string
	Collection string // whose rule it is; "": it has none
	State      State
	Until      time.Time // when the circuit is half open, of Open
	InFlight   int       // attempts
	Queued     int       // runs that wait in this process
}

// State is why attempts to a target are held back.
type State uint8

// The states, from the one that holds back least.
const (
	Limited  State = iota + 1 // by a collection's rule, and runs wait
	Slow                      // its attempts take longer than a second, so that it gets fewer slots
	HalfOpen                  // its circuit is: one attempt finds out whether it is back
	Open                      // its circuit is: runs are deferred
)

// Troubled returns the targets to which attempts are held back now.
func (l *Limiter[R]) Troubled(now time.Time) (all []Target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.groups {
		t := Target{
			Name: q.name, State: q.state(len(q.runs), now), Until: q.breaker.until, InFlight: q.slots.inFlight, Queued: len(q.runs),
		}
		if q.rule != nil {
			t.Collection = q.collection
		}
		if t.State != 0 {
			all = append(all, t)
		}
	}
	return all
}

// state says why so many runs wait for the target; 0: for no reason but others.
func (t *target) state(queued int, now time.Time) State {
	circuit := t.rule != nil && t.rule.Breaker != nil && !t.breaker.until.IsZero()
	switch {
	case circuit && t.breaker.open(now):
		return Open
	case circuit:
		return HalfOpen
	case t.slots.slow:
		return Slow
	case t.rule != nil && queued > 0:
		return Limited
	}
	return 0
}
