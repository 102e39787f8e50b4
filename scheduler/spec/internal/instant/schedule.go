package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

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

// metered is a Schedule whose answers may cost much. The methods are those of [Schedule], with the work counted: an answer
// is one if the meter is not exhausted by then.
type metered interface {
	nextIn(m *work.Meter, after time.Time) (time.Time, bool)
	lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool)
	countIn(m *work.Meter, from, to time.Time) int
}

// Next is the method of [Schedule] with its work counted. What is found when the meter is exhausted is no answer.
func Next(m *work.Meter, s Schedule, after time.Time) (time.Time, bool) {
	if s, ok := s.(metered); ok {
		return s.nextIn(m, after)
	}
	m.Spend(plainWork)
	return s.Next(after)
}

// Last is the method of [Schedule] with its work counted.
func Last(m *work.Meter, s Schedule, notAfter time.Time) (time.Time, bool) {
	if s, ok := s.(metered); ok {
		return s.lastIn(m, notAfter)
	}
	m.Spend(plainWork)
	return s.Last(notAfter)
}

// Count is the method of [Schedule] with its work counted.
func Count(m *work.Meter, s Schedule, from, to time.Time) int {
	if s, ok := s.(metered); ok {
		return s.countIn(m, from, to)
	}
	m.Spend(plainWork)
	return s.Count(from, to)
}

// plainWork is the work that a schedule takes for an answer which does not count it.
const plainWork = 10

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
