package rrule

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// dsariRRuleRow is a row of hash.jsonl of the kind rrule_hash_doc.
type dsariRRuleRow struct {
	Kind, Name, Schedule string

	After    time.Time
	Expected []time.Time `json:"expected_utc"`
}

func TestDsariRRuleVectors(t *testing.T) {
	n := 0
	for _, row := range spectest.Rows[dsariRRuleRow](t, "../testdata/hash.jsonl") {
		if row.Kind != "rrule_hash_doc" {
			continue
		}
		n++
		got := dsariRuns(t, row.Schedule, language.Context{Name: row.Name, Created: row.After}, row.After, len(row.Expected))
		if !slices.EqualFunc(got, row.Expected, time.Time.Equal) {
			t.Errorf("%s of %s: %v, want %v", row.Schedule, row.Name, got, row.Expected)
		}
	}
	if n == 0 {
		t.Error("no rows")
	}
}

// dsariRuns returns the first n instants of a rule after a given one.
func dsariRuns(t *testing.T, text string, setting language.Context, after time.Time, n int) []time.Time {
	t.Helper()
	rule, err := Parse(text, language.Dsari)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s, err := rule.Compile(setting)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var list []time.Time
	for at, ok := s.Next(after); ok && len(list) < n; at, ok = s.Next(at) {
		list = append(list, at)
	}
	return list
}

// TestDsariIntervals shows the grids of intervals: they depend on the name alone, not on when the scheduler started, and
// an EXRULE has its own.
func TestDsariIntervals(t *testing.T) {
	for _, rule := range []string{
		"DAILY;INTERVAL=3", "WEEKLY;INTERVAL=2", "MONTHLY;INTERVAL=5", "YEARLY;INTERVAL=2", "HOURLY;INTERVAL=7",
		"MINUTELY;INTERVAL=90", "SECONDLY;INTERVAL=7",
	} {
		now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
		first := dsariRuns(t, "RRULE:FREQ="+rule, language.Context{Name: "hello", Created: now}, now, 5)
		later := dsariRuns(t, "RRULE:FREQ="+rule, language.Context{Name: "hello", Created: first[1], Start: first[1]}, first[1], 3)
		if !slices.Equal(first[2:], later) {
			t.Errorf("%s: %v, but created later %v", rule, first[2:], later)
		}
	}
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	got := dsariRuns(t, "RRULE:FREQ=MINUTELY;INTERVAL=5 EXRULE:FREQ=MINUTELY;INTERVAL=10", language.Context{Name: "hello"}, now, 3)
	for i, minute := range []int{35, 45, 55} { // 907060870 is 0 modulo 5 and 0 modulo 10
		if got[i].Minute() != minute {
			t.Errorf("run %d at %v, want minute %d", i, got[i], minute)
		}
	}
}

// TestDsariIntervalsMeetNamedPositions checks that a grid is not hashed past the positions that the rule names.
func TestDsariIntervalsMeetNamedPositions(t *testing.T) {
	for _, rule := range []string{
		"FREQ=HOURLY;INTERVAL=4;BYHOUR=1,5,9", "FREQ=MINUTELY;INTERVAL=15;BYMINUTE=7", "FREQ=MINUTELY;INTERVAL=120;BYHOUR=9",
		"FREQ=SECONDLY;INTERVAL=3600;BYMINUTE=30", "FREQ=SECONDLY;INTERVAL=30;BYSECOND=10", "FREQ=DAILY;INTERVAL=14;BYDAY=MO",
		"FREQ=MONTHLY;INTERVAL=6;BYMONTH=1,7;BYMONTHDAY=1", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
	} {
		for _, name := range []string{"hello", "job1", "job2", "different id", "backup-db", "nightly/report", "a", "b"} {
			if got := dsariRuns(t, rule, language.Context{Name: name}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1); len(got) == 0 {
				t.Errorf("%s of %s never runs", rule, name)
			}
		}
	}
}

// TestDsariNeverOnImpossibleDates looks for a name whose hash is a date that does not exist.
func TestDsariNeverOnImpossibleDates(t *testing.T) {
	found := 0
	for i := range 2000 {
		name := "job" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		h := language.HashOf(name)
		month, day := h.Pick(language.HashMonth, 1, 12), h.Pick(language.HashDay, 1, 31)
		if int64(day) <= calendar.MonthLength(2024*12+int64(month)-1) {
			continue
		}
		found++
		got := dsariRuns(t, "RRULE:FREQ=YEARLY", language.Context{Name: name}, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 1)
		if len(got) != 1 || int64(got[0].Day()) != calendar.MonthLength(2024*12+int64(month)-1) {
			t.Errorf("%s, %02d-%02d: %v", name, month, day, got)
		}
	}
	if found == 0 {
		t.Error("no such name")
	}
}

func TestDsariRRuleTakesDTSTART(t *testing.T) {
	start := time.Date(2024, 1, 15, 8, 30, 0, 0, time.UTC)
	got := dsariRuns(t, "DTSTART:20240115T083000Z RRULE:FREQ=DAILY;INTERVAL=2", language.Context{Name: "hello"}, start, 1)
	if want := start.AddDate(0, 0, 2); !got[0].Equal(want) {
		t.Errorf("%v, want %v", got[0], want)
	}
}
