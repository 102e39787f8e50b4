package spec

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestStartFraction shows that a start's fraction of a second is kept where it stands for DTSTART.
func TestStartFraction(t *testing.T) {
	rule := must.Get(ParseRRule("FREQ=DAILY;COUNT=3", RFC5545))(t)
	start := time.Date(2026, 12, 1, 0, 0, 0, 250_000_000, time.UTC)
	p := must.Get(NewPlan(Timing{Start: start, Recurrence: &Recurrence{Rule: rule}}, start.Add(-time.Hour)))(t)
	times, complete := p.Upcoming(5)
	want := []time.Time{start, start.AddDate(0, 0, 1), start.AddDate(0, 0, 2)}
	if !slices.Equal(times, want) || !complete {
		t.Errorf("%v, want %v", times, want)
	}
}

// TestStartFractionKeepsNotes shows that a start's fraction of a second hides neither what a change of the clock does nor
// that the schedule can be counted.
func TestStartFractionKeepsNotes(t *testing.T) {
	zone := must.Get(LoadZone("America/New_York"))(t)
	rule := must.Get(ParseRRule("FREQ=DAILY", RFC5545))(t)
	for _, fraction := range []int{0, 250_000_000} {
		start := time.Date(2026, 3, 6, 2, 30, 0, fraction, zone)
		p := must.Get(NewPlan(Timing{Start: start, Zone: zone, Recurrence: &Recurrence{Rule: rule, Count: 50_000}}, start.Add(-time.Hour)))(t)
		v := p.Preview(time.Time{}, 5)
		if want := []string{"2026-03-08 02:30 does not exist in America/New_York: runs at 03:30"}; !slices.Equal(v.Notes, want) {
			t.Errorf("fraction %d: notes %q, want %q", fraction, v.Notes, want)
		}
		late := p.Preview(start.AddDate(100, 0, 0), 1) // of more runs than are counted one by one
		for _, note := range late.Notes {
			t.Errorf("fraction %d: %s", fraction, note)
		}
	}
}
