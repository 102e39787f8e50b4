package limits

import "time"

// Target is a target whose attempts are held back.
type Target struct {
	Name       string
	Collection string // owner of the rule; "": no rule
	State      State
	Until      time.Time // end of state Open
	InFlight   int // running attempts
	Queued     int // runs that wait in this process
}

// State is the reason why attempts are held back.
type State uint8

// The states, least restrictive first.
const (
	Limited  State = iota + 1 // runs wait because of a collection's rule
	Slow // attempts take longer than a second, so the target gets fewer slots
	HalfOpen // the circuit breaker is half open: a probe checks whether the target has recovered
	Open // the circuit breaker is open: runs are deferred
)

// Troubled returns the targets whose attempts are currently held back.
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

// state returns why runs wait for the target; 0: not because of the target.
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
