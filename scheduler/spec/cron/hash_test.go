package cron

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// hashRow is a line of testdata/hash.jsonl.
type hashRow struct {
	Kind, Name, Expr string

	After  time.Time
	Fields []any       `json:"fields_recommended"`
	Next   []time.Time `json:"next_utc_recommended"`
}

// TestHashVectors compares with the values of croniter 6.3.
func TestHashVectors(t *testing.T) {
	parts := []cronPart{cronMinute, cronHour, cronDay, cronMonth, cronWeekday, cronSecond}
	for _, row := range spectest.Rows[hashRow](t, "../testdata/hash.jsonl") {
		if row.Kind != "exact" {
			continue
		}
		text := row.Expr
		if len(row.Fields) == 5 { // the row has no second, where dsari hashes one
			text = cronRow{Expr: text}.text(language.Dsari)
		}
		rule, err := Parse(text, language.Dsari)
		if err != nil {
			t.Errorf("%q: %v", row.Expr, err)
			continue
		}
		for i, field := range row.Fields {
			if field != "*" {
				got := rule.(*Expression).patterns[0].fields[parts[i]].values(parts[i], language.HashOf(row.Name))
				if want := fmt.Sprint(field); fmt.Sprint(got) != want {
					t.Errorf("%q of %q: field %d is %v, not %v", row.Expr, row.Name, i+1, got, want)
				}
			}
		}
		schedule := compiled(t, rule, language.Context{Name: row.Name})
		if got := nexts(schedule, row.After, len(row.Next)); !slices.EqualFunc(got, row.Next, time.Time.Equal) {
			t.Errorf("%q of %q:\ngot      %v\nexpected %v", row.Expr, row.Name, got, row.Next)
		}
	}
}

// TestHashEdges has the rows at the edges of the syntax: what must be accepted, and with which values; what not.
func TestHashEdges(t *testing.T) {
	reject := []string{"H(0-60) * * * *", "H/0 * * * *", "H(1-) * * * *", "X X * * *", "H H * H(0-3) *", "H,30 * * * *", "H-5 * * * *", "H(5-5) * * * *", "H(9-5) * * * *"}
	for _, text := range reject {
		if _, err := Parse(text, language.Dsari); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	for text, want := range map[string]string{
		"H H * * H(0-7)": "at 11:10:32 every Sunday, UTC",
		"h h * * *":      "at 11:10:32 every day, UTC",
	} {
		rule := must.Get(Parse(text, language.Dsari))(t)
		if got := rule.Describe(language.Context{Name: "hello"}); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}

// TestRandomIsDrawnOnce checks that R differs between parses and never within one.
func TestRandomIsDrawnOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 64 {
		rule := must.Get(Parse("R R(1-5) r/7 * * R(10-50)/20", language.Dsari))(t)
		description := rule.Describe(language.Context{Name: "a"})
		a, b := compiled(t, rule, language.Context{Name: "a"}), compiled(t, rule, language.Context{Name: "b"})
		if !slices.Equal(nexts(a, time.Time{}, 9), nexts(b, time.Time{}, 9)) || rule.Describe(language.Context{Name: "b"}) != description {
			t.Fatal("R depends on the name")
		}
		seen[description] = true
	}
	if len(seen) < 32 {
		t.Errorf("64 draws gave %d schedules", len(seen))
	}
}

// TestHashedSecond checks that a line without seconds has the job's own, and the shortcuts too.
func TestHashedSecond(t *testing.T) {
	for text, second := range map[string]int{"* * * * *": 32, "* * * * * 5": 5, "@hourly": 32, "@midnight": 32} {
		rule := must.Get(Parse(text, language.Dsari))(t)
		at, ok := compiled(t, rule, language.Context{Name: "hello"}).Next(time.Unix(0, 0))
		if !ok || at.Second() != second {
			t.Errorf("%q is due at second %d, not %d", text, at.Second(), second)
		}
	}
}

// TestHashedDateThatDoesNotExist checks that each of many jobs runs every year, on the last day of a month that lacks its
// hashed day, and on the hashed one otherwise.
func TestHashedDateThatDoesNotExist(t *testing.T) {
	clamped := 0
	begin := time.Date(2023, 12, 31, 23, 59, 59, 0, time.UTC) // before a leap year
	for i := range 2000 {
		name := fmt.Sprintf("job%d", i)
		h := language.HashOf(name)
		month, day := h.Pick(language.HashMonth, 1, 12), h.Pick(language.HashDay, 1, 31)
		length := time.Date(2024, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if day > length {
			clamped++
		}
		for _, text := range []string{"@yearly", "@annually", fmt.Sprintf("H H H %d *", month), fmt.Sprintf("H H H %d %d", month, h.Pick(language.HashWeekday, 0, 6))} {
			rule := must.Get(Parse(text, language.Dsari))(t)
			schedule := compiled(t, rule, language.Context{Name: name})
			at, ok := schedule.Next(time.Date(2024, time.Month(month), min(day, length), 0, 0, 0, -1, time.UTC))
			if !ok || at.Month() != time.Month(month) || at.Day() != min(day, length) {
				t.Errorf("%s of %s, %d-%d: %v, %v", text, name, month, day, at, ok)
			}
			if first, ok := schedule.Next(begin); !ok || first.Year() != 2024 {
				t.Errorf("%s of %s: %v, %v", text, name, first, ok)
			}
		}
	}
	if clamped == 0 {
		t.Error("no such name")
	}
}

// TestHashedDayInWords checks that a clamped day is described as what it is, and that @monthly leaves short months out.
func TestHashedDayInWords(t *testing.T) {
	for text, want := range map[string]string{
		"@yearly":          "at 17:46:44 on the last day of November, UTC",
		"@monthly":         "at 17:46:44 on day 31 of every month that has it, UTC",
		"H H H 2,4 *":      "at 17:46:44 on the last day of February and April, UTC",
		"H H H 1,2 * H":    "at 17:46:44 on day 31 of January and February, UTC",
		"H H H(29-30) 2 *": "at 17:46:44 on 29 February of leap years, UTC",
	} {
		rule := must.Get(Parse(text, language.Dsari))(t)
		if got := rule.Describe(language.Context{Name: "job159"}); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}
