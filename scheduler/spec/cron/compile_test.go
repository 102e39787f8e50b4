package cron

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// TestCronSetting checks what a setting changes: the zone of patterns without one, the edges, the policy.
func TestCronSetting(t *testing.T) {
	newYork := zoneNamed(t, "America/New_York")
	for _, c := range []struct {
		name, text      string
		s               language.Context
		after, expected string
	}{
		{
			"start and end are included", "0 0 * * *",
			language.Context{Start: time.Date(2024, 1, 5, 0, 0, 0, 0, time.UTC), End: time.Date(2024, 1, 7, 0, 0, 0, 0, time.UTC)},
			"2024-01-01 00:00", "2024-01-05 00:00, 2024-01-06 00:00, 2024-01-07 00:00",
		},
		{
			"a pattern's zone goes before the job's", "0 12 * * *; 0 12 * * * * Europe/London",
			language.Context{Zone: newYork},
			"2024-01-01 00:00", "2024-01-01 12:00, 2024-01-01 17:00, 2024-01-02 12:00",
		},
		{
			"equal instants of two zones come once", "0 12 * * * * Europe/London; 0 7 * * * * America/New_York",
			language.Context{},
			"2024-01-01 00:00", "2024-01-01 12:00, 2024-01-02 12:00, 2024-01-03 12:00",
		},
		{
			"a pattern with * follows the clock, and the other does not", "30 * * 11 *; 45 1 * * *",
			language.Context{Zone: newYork, DST: instant.DST{Gap: instant.GapShift}},
			"2025-11-02 05:00", "2025-11-02 05:30, 2025-11-02 05:45, 2025-11-02 06:30, 2025-11-02 07:30",
		},
		{
			"unless the job asks otherwise", "30 * * 11 *",
			language.Context{Zone: newYork, DST: instant.DST{Gap: instant.GapShift, Overlap: instant.OverlapFirst}},
			"2025-11-02 05:00", "2025-11-02 05:30, 2025-11-02 07:30",
		},
		{
			"a fixed time in a gap runs after it", "30 2 * * *",
			language.Context{Zone: newYork},
			"2025-03-08 08:00", "2025-03-09 07:00, 2025-03-10 06:30",
		},
		{
			"or later", "30 2 * * *",
			language.Context{Zone: newYork, DST: instant.DST{Gap: instant.GapShift}},
			"2025-03-08 08:00", "2025-03-09 07:30, 2025-03-10 06:30",
		},
		{
			"or not at all", "30 2 * * *",
			language.Context{Zone: newYork, DST: instant.DST{Gap: instant.GapSkip}},
			"2025-03-08 08:00", "2025-03-10 06:30, 2025-03-11 06:30",
		},
		{
			"a fixed time may run twice if the job asks", "30 1 * * *",
			language.Context{Zone: newYork, DST: instant.DST{Overlap: instant.OverlapBoth}},
			"2025-11-02 00:00", "2025-11-02 05:30, 2025-11-02 06:30, 2025-11-03 06:30",
		},
	} {
		rule := must.Get(Parse(c.text, language.Obsidian))(t)
		expectTimes(t, c.name, compiled(t, rule, c.s), c.after, c.expected)
	}
}

// atOnce is work that nobody notices: a millisecond or two.
const atOnce = 100_000

// TestCronNever checks that what never fires says so at once, whatever it is asked.
func TestCronNever(t *testing.T) {
	for _, text := range []string{"0 0 30 2 *", "* * 31 4,6,9,11 *", "0 0 29 2 * 2100", "0 0 1 1 * 2010", "0 0 30W 2 *;0 0 31 2 *"} {
		rule := must.Get(Parse(text, language.Obsidian))(t)
		schedule := compiled(t, rule, language.Context{Zone: zoneNamed(t, "America/New_York")})
		m, from := work.New(atOnce), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		if at, ok := schedule.NextIn(m, from); ok {
			t.Errorf("%q fires at %v", text, at)
		}
		if n := schedule.CountIn(m, from, calendar.EndOfTime); n != 0 {
			t.Errorf("%q fires %d times", text, n)
		}
		if m.Exhausted() {
			t.Errorf("%q took %d units of work, %d are at once", text, m.Spent(), atOnce)
		}
	}
}

// TestCronAllocatesNothing checks the third guarantee of the package.
func TestCronAllocatesNothing(t *testing.T) {
	for _, text := range []string{
		"*/15 9-17 * * 1-5", "0 0 29 2 *", "0 0 15W * 5#2 2024/3", "0 9 * * *;*/7 3 L * *;0 12 * * * * Asia/Tokyo", "@recur 5 mon",
	} {
		rule := must.Get(Parse(text, language.Obsidian))(t)
		at := time.Date(2025, 3, 9, 6, 59, 0, 0, time.UTC)
		schedule := compiled(t, rule, language.Context{Zone: zoneNamed(t, "America/New_York"), Start: at.AddDate(-10, 0, 0)})
		if n := testing.AllocsPerRun(100, func() { schedule.Next(at) }); n != 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
}

// TestEveryHourSpelledOut shows that every hour loses none when clocks change, however it is written.
func TestEveryHourSpelledOut(t *testing.T) {
	zone := zoneNamed(t, "America/New_York")
	after := time.Date(2025, 11, 2, 4, 0, 0, 0, time.UTC) // an hour before the day of 25 hours has its second 01:30
	for _, text := range []string{"30 * * * *", "30 0-23 * * *", "30 */1 * * *", "30 0/1 * * *"} {
		rule := must.Get(Parse(text, language.Obsidian))(t)
		s := must.Get(rule.Compile(language.Context{Zone: zone}))(t)
		if n := s.Count(after, after.Add(24*time.Hour-1)); n != 24 {
			t.Errorf("%s: %d times in 24 hours", text, n)
		}
	}
}

// TestSeed shows that random positions drawn from a seed are the same for every parse, and differ between seeds.
func TestSeed(t *testing.T) {
	describe := func(seed string) string {
		rule := must.Get(Parse("R R * * *", language.Dsari))(t)
		return rule.Describe(language.Context{Name: "job", Seed: seed})
	}
	first, again, other := describe("a"), describe("a"), describe("b")
	if first != again || first == other {
		t.Errorf("%s, %s, %s", first, again, other)
	}
}
