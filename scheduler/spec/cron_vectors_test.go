package spec

import (
	"slices"
	"strings"
	"testing"
	"time"
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
func (r cronRow) dialects() []Dialect {
	if r.Dialect == "standard" {
		return []Dialect{Obsidian, Dsari}
	}
	return []Dialect{Dialect(r.Dialect)}
}

// text returns the row's expression in a dialect. The rows have no seconds, where dsari hashes one.
func (r cronRow) text(dialect Dialect) string {
	if dialect == Dsari && len(strings.Fields(r.Expr)) == 5 {
		return r.Expr + " 0"
	}
	return r.Expr
}

func TestCronVectors(t *testing.T) {
	for _, row := range rows[cronRow](t, "testdata/cron.jsonl") {
		for _, dialect := range row.dialects() {
			rule, err := ParseCron(row.text(dialect), dialect)
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

func (r cronRow) check(t *testing.T, rule Rule, dialect Dialect) {
	t.Helper()
	if r.Group != "dom+dow" {
		r.expect(t, rule, r.Expected, dialect)
		return
	}
	r.expect(t, rule, r.Or, dialect)
	both := *rule.(*Cron)
	both.And = true
	r.expect(t, &both, r.And, dialect)
}

func (r cronRow) expect(t *testing.T, rule Rule, expected []time.Time, dialect Dialect) {
	t.Helper()
	schedule := compiled(t, rule, Setting{Zone: zoneNamed(t, r.TZ)})
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
	settings := map[string]DST{
		"debian_vixie": {},
		"literal":      {GapSkip, OverlapBoth},
		"skip_first":   {GapSkip, OverlapFirst},
		"shift_first":  {GapShift, OverlapFirst},
		"gapend_first": {GapNext, OverlapFirst},
	}
	for _, row := range rows[row](t, "testdata/cron_dst.jsonl") {
		for policy, expected := range row.Policies {
			name, _, _ := strings.Cut(policy, " ")
			dst, known := settings[name]
			if !known {
				continue
			}
			for _, dialect := range []Dialect{Obsidian, Dsari} {
				text := cronRow{Expr: row.Expr}.text(dialect)
				rule, err := ParseCron(text, dialect)
				if err != nil {
					t.Fatal(err)
				}
				schedule := compiled(t, rule, Setting{Zone: zoneNamed(t, row.TZ), DST: dst})
				got := nexts(schedule, row.After, row.N)
				if !slices.EqualFunc(got, expected, time.Time.Equal) {
					t.Errorf("%s %q in %s, %s:\ngot      %v\nexpected %v", row.ID, row.Expr, row.TZ, policy, got, expected)
				}
				consistent(t, schedule, row.After, got)
			}
		}
	}
}
