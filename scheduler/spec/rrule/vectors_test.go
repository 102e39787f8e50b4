package rrule

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// rruleRow is a row of rrule.jsonl, rrule_easter.jsonl, rrule_dst.jsonl, rrule_ambiguous.jsonl or rrule_errors.jsonl.
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
func checkRRule(t *testing.T, row *rruleRow, dialect language.Dialect, setting language.Context, want []time.Time) {
	t.Helper()
	rule, err := Parse(row.Text, dialect)
	if row.ID == "amb-invalid-25" { // COUNT with UNTIL, which is refused as the RFC has it
		if err == nil {
			t.Errorf("%s: %q is accepted", row.ID, row.Text)
		}
		return
	}
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
		checkRRule(t, &row, language.RFC5545, language.Context{}, row.Expected)
	}
}

// TestEasterVectors has BYEASTER, which dsari takes from python-dateutil.
func TestEasterVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_easter.jsonl") {
		checkRRule(t, &row, language.Dsari, language.Context{DST: instant.DST{Gap: instant.GapShift}}, row.Expected)
	}
}

// TestEaster shows what is said of BYEASTER, by itself and with other parts, what is hashed beside it, and where it is
// refused.
func TestEaster(t *testing.T) {
	for text, want := range map[string]string{
		"RRULE:FREQ=YEARLY;BYEASTER=0;BYHOUR=9;BYMINUTE=0;BYSECOND=0":                   "at 09:00 on Easter Sunday of every year, UTC",
		"RRULE:FREQ=YEARLY;BYEASTER=1,-2;BYHOUR=9;BYMINUTE=0;BYSECOND=0":                "at 09:00 on 2 days before Easter Sunday and 1 day after Easter Sunday of every year, UTC",
		"RRULE:FREQ=DAILY;BYMONTH=4;BYEASTER=0;BYHOUR=9;BYMINUTE=0;BYSECOND=0":          "at 09:00 every day in April if that is Easter Sunday, UTC",
		"RRULE:FREQ=YEARLY;BYEASTER=0":                                                  "at 11:10:32 on Easter Sunday of every year, UTC",
		"RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0 EXRULE:FREQ=YEARLY;BYEASTER=0": "at 09:00 every day, except at 11:10:32 on Easter Sunday of every year, UTC",
	} {
		rule, err := Parse(text, language.Dsari)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := rule.Describe(language.Context{Name: "hello"}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	for _, test := range []struct {
		text    string
		dialect language.Dialect
		want    string
	}{
		{"RRULE:FREQ=YEARLY;BYEASTER=0", language.RFC5545, "column 19, RRULE part BYEASTER: there is no such part; hint: BYEASTER is not part of RFC 5545; the dialect dsari has it"},
		{"RRULE:FREQ=YEARLY;BYEASTER=0,251,-81,x", language.Dsari, `column 30, RRULE part BYEASTER: "251" is not a number of days from Easter Sunday, -80 to 250` + "\n" +
			`column 34, RRULE part BYEASTER: "-81" is not a number of days from Easter Sunday, -80 to 250` + "\n" +
			`column 38, RRULE part BYEASTER: "x" is not a number of days from Easter Sunday, -80 to 250`},
		{"RRULE:FREQ=YEARLY;BYEASTER=0,1;BYSETPOS=1", language.Dsari, "column 7, RRULE part BYSETPOS: is not supported with several days of BYEASTER; hint: write a rule for each of them"},
	} {
		if _, err := Parse(test.text, test.dialect); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestEasterIsTakenOut has a rule without Easter, counted and from both ends.
func TestEasterIsTakenOut(t *testing.T) {
	rule, err := Parse("DTSTART:20240101T090000Z RRULE:FREQ=DAILY EXRULE:FREQ=YEARLY;BYEASTER=-2,0,1", language.Dsari)
	if err != nil {
		t.Fatal(err)
	}
	s, err := rule.Compile(language.Context{})
	if err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2025, 4, 18, 9, 0, 0, 0, time.UTC)
	next, _ := s.Next(friday.Add(-1))
	tuesday, _ := s.Next(next)
	last, _ := s.Last(friday)
	if next != friday.AddDate(0, 0, 1) || tuesday != friday.AddDate(0, 0, 4) || last != friday.AddDate(0, 0, -1) {
		t.Errorf("around %s: %s, %s, %s", friday, last, next, tuesday)
	}
	if n := s.Count(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)); n != 366+365-6 {
		t.Errorf("%d in two years", n)
	}
}

func TestRRuleAmbiguousVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_ambiguous.jsonl") {
		checkRRule(t, &row, language.RFC5545, language.Context{}, row.Readings[row.Recommended])
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
				checkRRule(t, &row, language.RFC5545, language.Context{DST: dst}, want)
			}
		}
		if known == 0 {
			t.Errorf("%s: no known policy", row.ID)
		}
		checkRRule(t, &row, language.RFC5545, language.Context{}, row.Policies[row.RFC5545])
	}
}

func TestRRuleErrorVectors(t *testing.T) {
	for _, row := range spectest.Rows[rruleRow](t, "../testdata/rrule_errors.jsonl") {
		rule, err := Parse(row.Text, language.RFC5545)
		var s *instant.Schedule
		if err == nil {
			s, err = rule.Compile(language.Context{})
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
		s, err := set.Compile(language.Context{})
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
