package limits

import "time"

// Stats is the load of a Limiter.
type Stats struct {
	InFlight int // running attempts
	Queued   int // runs that wait for a slot
	Circuits Circuits // circuit breakers of the known targets
	Opened   uint64 // number of times that a circuit breaker opened since the start
}

// Circuits counts the targets with a circuit breaker by state.
type Circuits struct{ Closed, Open, HalfOpen int }

// Stats returns the current load. It visits every known target.
func (l *Limiter[R]) Stats(now time.Time) Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{InFlight: l.inFlight, Opened: l.opened}
	for _, q := range l.groups {
		s.Queued += len(q.runs)
		switch {
		case q.rule == nil || q.rule.Breaker == nil:
		case q.breaker.until.IsZero():
			s.Circuits.Closed++
		case q.breaker.open(now):
			s.Circuits.Open++
		default:
			s.Circuits.HalfOpen++
		}
	}
	return s
}
