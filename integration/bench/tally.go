package main

import (
	"slices"
	"time"
)

// tally accounts for the calls of a calendar's jobs.
type tally struct {
	late                           spread    // sorted
	last                           time.Time // the last arrival of an instant that was due
	lost, early, stray, duplicated int
}

// account compares what arrived with the instants in [from, to).
func (s *sink) account(c calendar, from, to time.Time) tally {
	var t tally
	for key, due := range c.within(from, to) {
		a, ok := s.find(key)
		if !ok {
			t.lost++
			continue
		}
		t.late = append(t.late, a.first.Sub(due))
		if a.first.After(t.last) {
			t.last = a.first
		}
	}
	s.each(func(key string, a arrival) {
		t.duplicated += a.calls - 1
		if !c.holds(key) {
			t.stray += a.calls
		}
		if due, ok := dueOf(key); ok && a.first.Before(due) {
			t.early++
		}
	})
	slices.Sort(t.late)
	return t
}

// lateness is the distribution as figures.
func (t tally) lateness() figures {
	return figures{
		{"late_p50_ms", ms(t.late.percentile(50))},
		{"late_p90_ms", ms(t.late.percentile(90))},
		{"late_p99_ms", ms(t.late.percentile(99))},
		{"late_max_ms", ms(t.late.percentile(100))},
	}
}

// faults are the calls that should not have been, or should have.
func (t tally) faults() figures {
	return figures{
		{"lost", float64(t.lost)},
		{"early", float64(t.early)},
		{"stray", float64(t.stray)},
		{"duplicated", float64(t.duplicated)},
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
