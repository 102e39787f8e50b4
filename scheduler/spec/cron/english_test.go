package cron

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestCronDescriptions compares every description of testdata/describe_cron.golden. The file is made to be read: titles
// begin with #, expressions stand at the margin, and under each stands what it says. A title may end with settings in
// brackets for what follows it: a dialect, a zone, or "and".
func TestCronDescriptions(t *testing.T) {
	text := must.Get(os.ReadFile("../testdata/describe_cron.golden"))(t)
	lines := strings.Split(string(text), "\n")
	var got []string
	dialect, setting, and := language.Obsidian, language.Context{Name: "hello"}, false
	n := 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
			dialect, setting.Zone, and = language.Obsidian, nil, false
			_, settings, _ := strings.Cut(strings.TrimSuffix(line, "]"), "[")
			for word := range strings.FieldsSeq(settings) {
				switch word {
				case "dsari":
					dialect = language.Dsari
				case "and":
					and = true
				default:
					setting.Zone = zoneNamed(t, word)
				}
			}
		case strings.HasPrefix(line, "    "):
			continue
		case line != "":
			rule, err := Parse(line, dialect)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if cron, ok := rule.(*Expression); ok {
				cron.And = and
			}
			n++
			got = append(got, line, "    "+rule.Describe(setting))
			continue
		}
		got = append(got, line)
	}
	if name := os.Getenv("DESCRIBE_CRON"); name != "" { // where to write the file as it would be now
		must.Do(t, os.WriteFile(name, []byte(strings.Join(got, "\n")), 0o600))
	}
	for i := range min(len(got), len(lines)) {
		if got[i] != lines[i] {
			t.Fatalf("line %d:\ngot  %s\nwant %s", i+1, got[i], lines[i])
		}
	}
	if n < 90 || len(got) != len(lines) {
		t.Errorf("%d expressions, %d lines, not %d", n, len(got), len(lines))
	}
}

// TestCronDescriptionsAreExact checks that expressions that are described alike are alike: the same times, days and
// years. Half of the expressions differ in their days only, half in their times.
func TestCronDescriptionsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	type meaning struct {
		times calendar.Times
		days  string
		years string
	}
	known, texts := map[string]meaning{}, map[string]string{}
	for i := range 6000 {
		dialect := []language.Dialect{language.Obsidian, language.Dsari}[i%2]
		fields := strings.Fields(randomCron(r, dialect))
		if i%4 < 2 {
			copy(fields, []string{"0", "12"})
		} else {
			copy(fields[2:], []string{"*", "*", "*"})
		}
		text := strings.Join(fields, " ")
		rule, err := Parse(text, dialect)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		cron := rule.(*Expression)
		cron.And = r.IntN(3) == 0
		p := cron.patterns[0]
		layer := p.layer(nil, 0, cron.And)
		m := meaning{layer.Times, fmt.Sprint(*layer.Dates.Days), "all"}
		if years := p.fields[cronYear]; !years.free() {
			m.years = fmt.Sprint(years.values(cronYear, 0))
		}
		description := rule.Describe(language.Context{})
		if other, ok := known[description]; ok && other != m {
			t.Fatalf("%q and %q are both described as %q", text, texts[description], description)
		}
		known[description], texts[description] = m, text
	}
	t.Logf("%d descriptions", len(known))
}
