package rrule

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

var updateRRuleGolden = flag.Bool("update-rrule-golden", false, "write the descriptions of testdata/describe_rrule.golden anew")

// TestDescribeRRuleGolden reads pairs of lines: a dialect with a rule, and its description for the job "hello" that
// starts on 15 January 2024 at 08:30 UTC.
func TestDescribeRRuleGolden(t *testing.T) {
	const golden = "../testdata/describe_rrule.golden"
	data := must.Get(os.ReadFile(golden))(t)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	setting := language.Context{Name: "hello", Start: time.Date(2024, 1, 15, 8, 30, 0, 0, time.UTC)}
	for i := 0; i+1 < len(lines); i += 2 {
		dialect, text, _ := strings.Cut(lines[i], " ")
		rule, err := Parse(text, language.Dialect(dialect))
		if err != nil {
			t.Errorf("%s: %v", lines[i], err)
			continue
		}
		got, want := rule.Describe(setting), strings.TrimPrefix(lines[i+1], "\t")
		if got != want && !*updateRRuleGolden {
			t.Errorf("%s\n got %s\nwant %s", lines[i], got, want)
		}
		lines[i+1] = "\t" + got
	}
	if *updateRRuleGolden {
		must.Do(t, os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
}

// TestDescribeRRuleTellsRulesApart compares descriptions of rules that differ in one part: where the descriptions are
// the same, so are the instants.
func TestDescribeRRuleTellsRulesApart(t *testing.T) {
	r := newRandomRule(2)
	for range 1500 {
		start := r.start().Format("20060102T150405Z")
		rule := r.rule()
		parts := strings.Split(rule, ";")
		seen := map[string][]time.Time{}
		texts := map[string]string{}
		for range 8 {
			variant := append([]string{}, parts...)
			i := r.IntN(len(variant))
			for part := range strings.SplitSeq(r.rule(), ";") { // another value of a part that it has, if possible
				if name, _, _ := strings.Cut(part, "="); strings.HasPrefix(variant[i], name+"=") {
					variant[i] = part
				}
			}
			if !strings.HasPrefix(parts[i], "FREQ=") && r.maybe(3) {
				variant = append(variant[:i], variant[i+1:]...)
			}
			text := "DTSTART:" + start + "\nRRULE:" + strings.Join(variant, ";")
			parsed := must.Get(Parse(text, language.RFC5545))(t)
			s := must.Get(parsed.Compile(language.Context{}))(t)
			var runs []time.Time
			for at, ok := s.Next(time.Time{}); ok && len(runs) < 40; at, ok = s.Next(at) {
				runs = append(runs, at)
			}
			words := parsed.Describe(language.Context{})
			if before, ok := seen[words]; ok && !slices.EqualFunc(runs, before, time.Time.Equal) {
				t.Fatalf("%q and\n%q are both\n%s", text, texts[words], words)
			}
			seen[words], texts[words] = runs, text
		}
	}
}
