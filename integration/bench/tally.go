package main

import (
	"slices"
	"time"
)

// tally accounts for the calls of a calendar's jobs.
type tally struct {
	late                           []time.Duration // sorted
	last                           time.Time       // the last arrival of an instant that was due
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

// percentile returns the lateness that p of 100 calls did not exceed.
func (t tally) percentile(p int) time.Duration {
	if len(t.late) == 0 {
		return 0
	}
	i := (len(t.late)*p + 99) / 100
	return t.late[min(max(i, 1), len(t.late))-1]
}

// lateness is the distribution as figures.
func (t tally) lateness() figures {
	return figures{
		{"late_p50_ms", ms(t.percentile(50))},
		{"late_p90_ms", ms(t.percentile(90))},
		{"late_p99_ms", ms(t.percentile(99))},
		{"late_max_ms", ms(t.percentile(100))},
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
