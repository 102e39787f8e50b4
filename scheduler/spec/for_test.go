package spec

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestPlanFor compares the plan for a job, made of the plan of another, with one that was compiled for the job, and shows
// which texts are not compiled again.
func TestPlanFor(t *testing.T) {
	start := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, test := range []struct {
		text    string
		dialect Dialect
		start   time.Time
		shared  bool
	}{
		{"*/20 9-17 * * 1-5", Obsidian, time.Time{}, true},
		{"0 8 * * * * Asia/Tokyo; 0 9 L * *", Obsidian, start, true},
		{"@recur 3 weeks", Obsidian, time.Time{}, false},
		{"@recur 3 weeks", Obsidian, start, true},
		{"0 8 * * * 0", Dsari, time.Time{}, true},
		{"0 8 * * *", Dsari, time.Time{}, false}, // a hashed second
		{"H/15 * * * * 0", Dsari, time.Time{}, false},
		{"R 8 * * * 0", Dsari, time.Time{}, false},
		{"RRULE:FREQ=DAILY;BYHOUR=9", RFC5545, start, true},
		{"DTSTART:20270101T000000Z RRULE:FREQ=HOURLY;INTERVAL=7 EXRULE:FREQ=DAILY;BYHOUR=3", RFC5545, time.Time{}, true},
		{"DTSTART:20270101T000000Z RRULE:FREQ=DAILY;INTERVAL=1", AWX, time.Time{}, true},
		{"RRULE:FREQ=DAILY", Dsari, time.Time{}, false},
		{"DTSTART:20270101T000000Z RRULE:FREQ=DAILY", Dsari, time.Time{}, true},
	} {
		parse := ParseCron
		if looksLikeRRule := test.text[0] == 'R' && test.text[1] == 'R' || test.text[0] == 'D'; looksLikeRRule {
			parse = ParseRRule
		}
		rule := must.Get(parse(test.text, test.dialect))(t)
		timing := Timing{Start: test.start, Recurrence: &Recurrence{Rule: rule, Count: 7}}
		read := must.Get(NewPlan(timing, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))(t)
		created := time.Date(2026, 12, 31, 23, 59, 58, 0, time.UTC)
		got := must.Get(read.For("backup", "uid", created))(t)
		timing.Name, timing.Seed = "backup", "uid"
		want := must.Get(NewPlan(timing, created))(t)
		a, _ := got.Upcoming(10)
		b, _ := want.Upcoming(10)
		if !slices.EqualFunc(a, b, time.Time.Equal) || got.Describe() != want.Describe() || got.SmallestGap(0) != want.SmallestGap(0) {
			t.Errorf("%s %q: %s\n got %v\nwant %s\n     %v", test.dialect, test.text, got.Describe(), a, want.Describe(), b)
		}
		if shared := got.rule == read.rule; shared != test.shared {
			t.Errorf("%s %q: compiled once: %t, want %t", test.dialect, test.text, shared, test.shared)
		}
	}
}

// TestPlanForWithoutRule has the plans that have nothing to compile.
func TestPlanForWithoutRule(t *testing.T) {
	created := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, r := range []*Recurrence{nil, {Frequency: Hour, Interval: 2}} {
		read := must.Get(NewPlan(Timing{Recurrence: r}, created.AddDate(-1, 0, 0)))(t)
		p := must.Get(read.For("backup", "", created))(t)
		if first, ok := p.First(); !ok || !first.Equal(created) {
			t.Errorf("first run at %v, want %v", first, created)
		}
	}
}
