package instant

import "time"

// Schedule is a compiled schedule: a set of instants, in UTC. Implementations are immutable and safe for concurrent
// use.
type Schedule interface {
	// Next returns the first instant strictly after t, false when there is none.
	Next(after time.Time) (time.Time, bool)

	// Last returns the last instant not after t, false when there is none.
	Last(notAfter time.Time) (time.Time, bool)

	// Count returns how many instants lie in from…to, both included. It does not walk them, so that ten years of
	// minutes cost about as much as ten minutes; only what several schedules of a union have in common is found out by
	// walking, and what is excluded step by step.
	Count(from, to time.Time) int
}

// Countable reports whether a schedule counts without walking, in a time that nobody notices.
func Countable(s Schedule) bool {
	c, ok := s.(interface{ Countable() bool })
	return ok && c.Countable()
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
