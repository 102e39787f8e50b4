package spec

import (
	"slices"
	"testing"
	"time"
)

// TestStartFraction shows that a start's fraction of a second is kept where it stands for DTSTART.
func TestStartFraction(t *testing.T) {
	rule, err := ParseRRule("FREQ=DAILY;COUNT=3", RFC5545)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 12, 1, 0, 0, 0, 250_000_000, time.UTC)
	p, err := NewPlan(Timing{Start: start, Recurrence: &Recurrence{Rule: rule}}, start.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	times, complete := p.Upcoming(5)
	want := []time.Time{start, start.AddDate(0, 0, 1), start.AddDate(0, 0, 2)}
	if !slices.Equal(times, want) || !complete {
		t.Errorf("%v, want %v", times, want)
	}
}
