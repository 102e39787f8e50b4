package cron

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// recurRow is a line of testdata/obsidian_recur.jsonl.
type recurRow struct {
	ID, Group, Expr, Effective, TZ, Recommended string
	End                                         *string
	Last                                        *string `json:"last_execution"`
	N                                           int
	Complete                                    bool
	Expected                                    []time.Time `json:"expected_utc"`
	Readings                                    map[string][]time.Time
}

func TestRecurVectors(t *testing.T) {
	for _, row := range spectest.Rows[recurRow](t, "../testdata/obsidian_recur.jsonl") {
		rule, err := Parse(row.Expr, language.Obsidian)
		if row.Group == "error" {
			if err == nil {
				t.Errorf("%s %q is accepted", row.ID, row.Expr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %q: %v", row.ID, row.Expr, err)
			continue
		}
		row.check(t, rule.(*Recur))
	}
}

func (r recurRow) check(t *testing.T, rule *Recur) {
	t.Helper()
	zone := time.UTC
	if r.TZ != "" {
		zone = zoneNamed(t, r.TZ)
	}
	s := language.Context{Zone: zone, Start: localTime(t, r.Effective, zone)}
	if r.End != nil {
		s.End = localTime(t, *r.End, zone)
	}
	if r.Recommended != "" {
		r.Expected, r.N = r.Readings[r.Recommended], len(r.Readings[r.Recommended])
	}
	schedule, after := compiled(t, rule, s), s.Start.Add(-1)
	if r.Last != nil {
		after = localTime(t, *r.Last, zone)
		schedule = rule.AnchoredAt(after, s)
		if first, ok := rule.AnchoredAt(after, s).Next(after); !ok || !first.Equal(r.Expected[0]) {
			t.Errorf("%s %q: after(%v) = %v", r.ID, r.Expr, after, first)
		}
	}
	n := r.N
	if !r.Complete {
		n = len(r.Expected)
	}
	got := nexts(schedule, after, n)
	if !slices.EqualFunc(got, r.Expected, time.Time.Equal) {
		t.Errorf("%s %q from %s to %v:\ngot      %v\nexpected %v", r.ID, r.Expr, r.Effective, r.End, got, r.Expected)
	}
	consistent(t, schedule, after, got)
}

func localTime(t *testing.T, text string, zone *time.Location) time.Time {
	t.Helper()
	return must.Get(time.ParseInLocation(recurLayout, text, zone))(t)
}

// TestRecurOracle compares recurrences in all zones with what the calendar of package time makes of them, one after the
// other.
func TestRecurOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	names := tz.Names()
	for range 400 {
		unit := recurMinutes + recurUnit(r.IntN(5))
		rule := &Recur{n: 1 + r.IntN(40), unit: unit}
		zone := zoneNamed(t, names[r.IntN(len(names))])
		anchor := time.Unix(1_000_000_000+60*r.Int64N(20_000_000), 0).In(zone)
		var want []time.Time
		for k := range 40 {
			want = append(want, recurOracle(rule, anchor, k, zone))
		}
		s := language.Context{Zone: zone, Start: anchor, End: want[len(want)-1]}
		schedule := compiled(t, rule, s)
		got := nexts(schedule, anchor.Add(-time.Hour), len(want)+1)
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("every %d %ss from %v:\ngot      %v\nexpected %v", rule.n, unit.name(), anchor, got, want)
		}
		consistent(t, schedule, anchor.Add(-time.Hour), got)
		if next, ok := rule.AnchoredAt(anchor, s).Next(anchor); !ok || !next.Equal(want[1]) {
			t.Fatalf("every %d %ss after %v: %v %v, not %v", rule.n, unit.name(), anchor, next, ok, want[1])
		}
	}
}

// recurOracle returns the k-th run after the anchor.
func recurOracle(r *Recur, anchor time.Time, k int, zone *time.Location) time.Time {
	if k == 0 {
		return anchor
	}
	local := localOf(anchor)
	switch n := k * r.n; r.unit {
	case recurMinutes:
		return anchor.Add(time.Duration(n) * time.Minute)
	case recurHours:
		return anchor.Add(time.Duration(n) * time.Hour)
	case recurDays:
		local = local.AddDate(0, 0, n)
	case recurWeeks:
		local = local.AddDate(0, 0, 7*n)
	default:
		first := time.Date(local.Year(), local.Month(), 1, local.Hour(), local.Minute(), local.Second(), 0, time.UTC).AddDate(0, n, 0)
		local = first.AddDate(0, 0, min(local.Day(), first.AddDate(0, 1, -1).Day())-1)
	}
	_, before := local.Add(-26 * time.Hour).In(zone).Zone()
	_, after := local.Add(26 * time.Hour).In(zone).Zone()
	for _, offset := range []int{max(before, after), min(before, after)} {
		if t := local.Add(-time.Duration(offset) * time.Second); localOf(t.In(zone)).Equal(local) {
			return t
		}
	}
	return local.Add(-time.Duration(before) * time.Second) // in a gap: RFC 5545, section 3.3.5
}

// TestRecurAtChangesOfTheClock has the cases that the oracle meets rarely.
func TestRecurAtChangesOfTheClock(t *testing.T) {
	zone := zoneNamed(t, "America/New_York")
	second := time.Date(2025, 11, 2, 6, 30, 0, 0, time.UTC) // the second 01:30 of that night
	for _, c := range []struct {
		text     string
		s        language.Context
		expected string
	}{
		{"@recur 1 d", language.Context{Zone: zone, Start: second}, "2025-11-02 06:30, 2025-11-03 06:30"},
		{"@recur 1 d 2025-03-08 02:30", language.Context{Zone: zone}, "2025-03-08 07:30, 2025-03-09 07:30, 2025-03-10 06:30"},
		{"@recur 1 d 2025-03-08 02:30", language.Context{Zone: zone, DST: instant.DST{Gap: instant.GapNext}}, "2025-03-08 07:30, 2025-03-09 07:00, 2025-03-10 06:30"},
		{"@recur 1 d 2025-03-08 02:30", language.Context{Zone: zone, DST: instant.DST{Gap: instant.GapSkip}}, "2025-03-08 07:30, 2025-03-10 06:30"},
		{"@recur 1 d 2025-03-09 02:30", language.Context{Zone: zone}, "2025-03-09 07:30, 2025-03-10 06:30"},
		{"@recur 12 h 2025-03-09 02:30", language.Context{Zone: zone}, "2025-03-09 07:30, 2025-03-09 19:30, 2025-03-10 07:30"},
		{"@recur 1 d 2025-11-01 01:30", language.Context{Zone: zone, DST: instant.DST{Overlap: instant.OverlapBoth}}, "2025-11-01 05:30, 2025-11-02 05:30, 2025-11-02 06:30"},
	} {
		rule := must.Get(Parse(c.text, language.Obsidian))(t)
		schedule := compiled(t, rule, c.s)
		expectTimes(t, c.text, schedule, "2025-03-01 00:00", c.expected)
		consistent(t, schedule, time.Time{}, nexts(schedule, time.Time{}, 9))
	}
}

// TestRecurKeepsFractions checks that a job that is created at a fraction of a second runs at once, and at the same
// fraction ever after.
func TestRecurKeepsFractions(t *testing.T) {
	created := time.Date(2024, 1, 31, 10, 0, 3, 250_000_000, time.UTC)
	for unit := recurMinutes; unit <= recurMonths; unit++ {
		rule := &Recur{n: 1, unit: unit}
		schedule := compiled(t, rule, language.Context{Created: created})
		got := nexts(schedule, created.Add(-1), 3)
		consistent(t, schedule, created.Add(-1), got)
		if len(got) != 3 || !got[0].Equal(created) || got[2].Nanosecond() != created.Nanosecond() {
			t.Errorf("%s: %v", unit.name(), got)
		}
	}
}
