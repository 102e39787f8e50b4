package cron

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// cronRow is a line of testdata/cron.jsonl.
type cronRow struct {
	ID, Group, Dialect, Expr, TZ, Expect string
	After                                time.Time
	N                                    int
	Complete                             bool
	Expected                             []time.Time `json:"expected_utc"`
	Or                                   []time.Time `json:"expected_or_utc"`
	And                                  []time.Time `json:"expected_and_utc"`
}

// dialects returns the dialects a row is valid in.
func (r cronRow) dialects() []language.Dialect {
	if r.Dialect == "standard" {
		return []language.Dialect{language.Obsidian, language.Dsari}
	}
	return []language.Dialect{language.Dialect(r.Dialect)}
}

// text returns the row's expression in a dialect. The rows have no seconds, where dsari hashes one.
func (r cronRow) text(dialect language.Dialect) string {
	if dialect == language.Dsari && len(strings.Fields(r.Expr)) == 5 {
		return r.Expr + " 0"
	}
	return r.Expr
}

func TestCronVectors(t *testing.T) {
	for _, row := range spectest.Rows[cronRow](t, "../testdata/cron.jsonl") {
		for _, dialect := range row.dialects() {
			rule, err := Parse(row.text(dialect), dialect)
			if row.Group == "error" {
				if accept := strings.HasPrefix(row.Expect, "accept"); accept != (err == nil) {
					t.Errorf("%s %s %q: error %v, expected %s", row.ID, dialect, row.Expr, err, row.Expect)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s %q: %v", row.ID, dialect, row.Expr, err)
				continue
			}
			row.check(t, rule, dialect)
		}
	}
}

func (r cronRow) check(t *testing.T, rule language.Rule, dialect language.Dialect) {
	t.Helper()
	if r.Group != "dom+dow" {
		r.expect(t, rule, r.Expected, dialect)
		return
	}
	r.expect(t, rule, r.Or, dialect)
	both := *rule.(*Expression)
	both.And = true
	r.expect(t, &both, r.And, dialect)
}

func (r cronRow) expect(t *testing.T, rule language.Rule, expected []time.Time, dialect language.Dialect) {
	t.Helper()
	schedule := compiled(t, rule, language.Context{Zone: zoneNamed(t, r.TZ)})
	n := r.N
	if !r.Complete {
		n = min(n, len(expected)) // the row was cut short
	}
	got := nexts(schedule, r.After, n)
	if !slices.EqualFunc(got, expected, time.Time.Equal) {
		t.Errorf("%s %s %q in %s after %v:\ngot      %v\nexpected %v", r.ID, dialect, r.Expr, r.TZ, r.After, got, expected)
	}
	consistent(t, schedule, r.After, got)
}

func TestCronDSTVectors(t *testing.T) {
	type row struct {
		ID, Expr, TZ string
		After        time.Time
		N            int
		Policies     map[string][]time.Time
	}
	settings := map[string]instant.DST{
		"debian_vixie": {},
		"literal":      {Gap: instant.GapSkip, Overlap: instant.OverlapBoth},
		"skip_first":   {Gap: instant.GapSkip, Overlap: instant.OverlapFirst},
		"shift_first":  {Gap: instant.GapShift, Overlap: instant.OverlapFirst},
		"gapend_first": {Gap: instant.GapNext, Overlap: instant.OverlapFirst},
	}
	for _, row := range spectest.Rows[row](t, "../testdata/cron_dst.jsonl") {
		for policy, expected := range row.Policies {
			name, _, _ := strings.Cut(policy, " ")
			dst, known := settings[name]
			if !known {
				continue
			}
			for _, dialect := range []language.Dialect{language.Obsidian, language.Dsari} {
				text := cronRow{Expr: row.Expr}.text(dialect)
				rule, err := Parse(text, dialect)
				if err != nil {
					t.Fatal(err)
				}
				schedule := compiled(t, rule, language.Context{Zone: zoneNamed(t, row.TZ), DST: dst})
				got := nexts(schedule, row.After, row.N)
				if !slices.EqualFunc(got, expected, time.Time.Equal) {
					t.Errorf("%s %q in %s, %s:\ngot      %v\nexpected %v", row.ID, row.Expr, row.TZ, policy, got, expected)
				}
				consistent(t, schedule, row.After, got)
			}
		}
	}
}
