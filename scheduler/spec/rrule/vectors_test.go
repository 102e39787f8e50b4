package rrule

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// rruleRow is a row of rrule.jsonl, rrule_dst.jsonl, rrule_ambiguous.jsonl or rrule_errors.jsonl.
type rruleRow struct {
	ID, Text, Recommended, AWX, RFC5545, Expect string

	N        int
	After    time.Time
	Complete bool
	Horizon  string      `json:"horizon_excl"`
	Expected []time.Time `json:"expected_utc"`
	Policies map[string][]time.Time
	Readings map[string][]time.Time
}

// checkRRule compares the first instants of a rule after a given one.
func checkRRule(t *testing.T, row *rruleRow, setting language.Setting, want []time.Time) {
	t.Helper()
	parse := Parse
	if row.ID == "amb-invalid-25" { // COUNT with UNTIL, which is refused as the RFC has it, and stored by earlier versions
		parse = ParseStored
	}
	rule, err := parse(row.Text, language.RFC5545)
	if err != nil {
		t.Errorf("%s: %q: %v", row.ID, row.Text, err)
		return
	}
	s, err := rule.Compile(setting)
	if err != nil {
		t.Errorf("%s: %q: %v", row.ID, row.Text, err)
		return
	}
	var got []time.Time
	at, ok := s.Next(row.After)
	for ; ok && len(got) < len(want); at, ok = s.Next(at) {
		got = append(got, at)
	}
	if row.Horizon != "" {
		horizon, err := time.Parse(time.DateOnly, row.Horizon[:10])
		if err != nil {
			t.Fatal(err)
		}
		late := func(at time.Time) bool { return !at.Before(horizon) }
		got, want = slices.DeleteFunc(got, late), slices.DeleteFunc(slices.Clone(want), late)
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s: %q\n got %v\nwant %v", row.ID, row.Text, got, want)
	}
	if row.Complete && ok {
		t.Errorf("%s: %q goes on with %v", row.ID, row.Text, at)
	}
}

func TestRRuleVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule.jsonl") {
		checkRRule(t, &row, language.Setting{}, row.Expected)
	}
}

func TestRRuleAmbiguousVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_ambiguous.jsonl") {
		checkRRule(t, &row, language.Setting{}, row.Readings[row.Recommended])
	}
}

func TestRRuleDSTVectors(t *testing.T) {
	policies := map[string]instant.DST{
		"skip_gap_first_overlap":  {Gap: instant.GapSkip, Overlap: instant.OverlapFirst},
		"skip_gap_both_overlap":   {Gap: instant.GapSkip, Overlap: instant.OverlapBoth},
		"shift_gap_first_overlap": {Gap: instant.GapShift, Overlap: instant.OverlapFirst},
	}
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_dst.jsonl") {
		known := 0
		for name, want := range row.Policies {
			if dst, ok := policies[name]; ok {
				known++
				checkRRule(t, &row, language.Setting{DST: dst}, want)
			}
		}
		if known == 0 {
			t.Errorf("%s: no known policy", row.ID)
		}
		checkRRule(t, &row, language.Setting{}, row.Policies[row.RFC5545])
	}
}

func TestRRuleErrorVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_errors.jsonl") {
		rule, err := Parse(row.Text, language.RFC5545)
		var s instant.Schedule
		if err == nil {
			s, err = rule.Compile(language.Setting{})
		}
		if refused := err != nil; refused != (row.Expect == "error") {
			t.Errorf("%s: %q: error %v, expected %s", row.ID, row.Text, err, row.Expect)
			continue
		}
		if err == nil {
			if at, ok := s.Next(time.Time{}); ok {
				t.Errorf("%s: %q: runs at %v", row.ID, row.Text, at)
			}
		}
	}
}

func TestAWXPreviews(t *testing.T) {
	for _, row := range spectest.Rows[awxRow](t, "../testdata/awx.jsonl") {
		if row.Expected != "accept" {
			continue
		}
		set, err := parseRuleSet(row.RRule, language.AWX)
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		s, err := set.Compile(language.Setting{})
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		var local, utc []string
		at, ok := s.Next(row.Now)
		for ; ok && len(utc) < 10; at, ok = s.Next(at) {
			local = append(local, at.In(set.zone).Format(time.RFC3339))
			utc = append(utc, at.UTC().Format(time.RFC3339))
		}
		if !slices.Equal(local, row.Preview.Local) || !slices.Equal(utc, row.Preview.UTC) {
			t.Errorf("%s: %q\n got %v\nwant %v", row.ID, row.RRule, local, row.Preview.Local)
		}
	}
}
