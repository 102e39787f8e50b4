package limits

import "time"

// Stats is how busy a Limiter is.
type Stats struct {
	InFlight int      // attempts that have a slot
	Queued   int      // runs that wait for one
	Circuits Circuits // of the targets that are known now
	Opened   uint64   // how often a circuit has opened since the start
}

// Circuits counts targets that have a circuit by its state.
type Circuits struct{ Closed, Open, HalfOpen int }

// Stats returns how busy l is. It looks at every target that has anything to be remembered.
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
