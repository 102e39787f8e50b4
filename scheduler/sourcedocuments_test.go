package scheduler_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// sourceRow is a row of testdata/sourcedocuments.txt.
type sourceRow struct {
	name, kind string
	setting    map[string]string // start, end, now
	text       string            // as printed
	wrong      string            // what is said about it; empty if the print has no error
	meant      string            // empty if that is what is printed, or nothing can be meant
	runs       string
}

// sourceRows parses the file.
func sourceRows(tb testing.TB) []*sourceRow {
	tb.Helper()
	data := must.Get(os.ReadFile("testdata/sourcedocuments.txt"))(tb)
	var rows []*sourceRow
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		mark, rest, _ := strings.Cut(line, " ")
		var row *sourceRow
		if len(rows) > 0 {
			row = rows[len(rows)-1]
		}
		switch {
		case mark == "==":
			parts := strings.Split(rest, " | ")
			row = &sourceRow{name: parts[0], kind: parts[1], setting: map[string]string{}}
			for _, part := range parts[2:] {
				name, value, _ := strings.Cut(part, "=")
				row.setting[name] = value
			}
			rows = append(rows, row)
		case mark == "#" || row == nil, line == "" && row.runs != "":
		case mark == "!":
			row.wrong += rest + "\n"
		case mark == "~":
			row.meant += rest + "\n"
		case mark == ">":
			row.runs = rest
		default:
			row.text += line + "\n"
		}
	}
	return rows
}

// TestSourceDocuments parses every example of the source documents, as printed and, if the print has an error, as
// intended.
func TestSourceDocuments(t *testing.T) {
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	for _, row := range sourceRows(t) {
		text := strings.TrimSuffix(row.text, "\n")
		if row.wrong != "" {
			_, err := row.plan(t, registry, text)
			if got := sourceProblems(err) + "\n"; got != row.wrong {
				t.Errorf("%s: %s\n got %swant %s", row.name, text, got, row.wrong)
			}
			text = strings.TrimSuffix(row.meant, "\n")
		}
		if text == "" {
			continue
		}
		plan, err := row.plan(t, registry, text)
		if err != nil {
			t.Errorf("%s: %s: %s", row.name, text, sourceProblems(err))
			continue
		}
		if got := firstRuns(plan, strings.Count(row.runs, ",")+1); got != row.runs {
			t.Errorf("%s: %s\n got %s\nwant %s", row.name, text, got, row.runs)
		}
	}
}

// plan parses a text according to the row's kind.
func (row *sourceRow) plan(t *testing.T, registry scheduler.ActionReader, text string) (*spec.Plan, error) {
	t.Helper()
	v, err := row.job(text)
	if err != nil {
		return nil, err
	}
	now := sourceTime(t, row.setting["now"], "2024-01-01T00:00:00Z")
	key := scheduler.Key{Collection: "default", Job: "hello"}
	def, err := (&scheduler.DefinitionDecoder{Actions: registry, Key: key, Now: now}).Document(v).Definition()
	if err != nil {
		return nil, err
	}
	timing := def.Timing
	timing.Name = key.Job
	return spec.NewPlan(timing, now)
}

// job returns the job of a text, which calls http://example.org/ by default.
func (row *sourceRow) job(text string) (document.Value, error) {
	var v document.Value
	switch language, member, _ := strings.Cut(row.kind, " "); row.kind {
	case "job", "document":
		f, err := document.ParseFile([]byte(text))
		if err != nil {
			return v, err
		}
		v = f.Documents[0]
		if inner, ok := v.Member("properties"); ok {
			v = inner
		}
	case "cron", "awx", "dsari cron", "dsari rrule":
		recurrence := map[string]string{"cron": text}
		if row.kind == "awx" {
			recurrence = map[string]string{"rrule": text, "dialect": "awx"}
		}
		if language == "dsari" {
			recurrence = map[string]string{member: text, "dialect": "dsari"}
		}
		if end := row.setting["end"]; end != "" {
			recurrence["endTime"] = end
		}
		v = sourceObject("recurrence", sourceStrings(recurrence))
		if start := row.setting["start"]; start != "" {
			v = document.Merge(v, sourceObject("startTime", document.StringValue(start)))
		}
	default: // a frequency
		schedule, err := document.Parse([]byte(text))
		if err != nil {
			return v, err
		}
		recurrence := document.Merge(sourceStrings(map[string]string{"frequency": row.kind}), sourceObject("schedule", schedule))
		v = document.Merge(sourceObject("recurrence", recurrence), sourceObject("startTime", document.StringValue("2024-01-10T12:25:00Z")))
	}
	if _, ok := v.Member("action"); !ok && v.Kind() == document.KindObject {
		v = document.Merge(v, sourceObject("action", document.Merge(sourceStrings(map[string]string{"type": "http"}),
			sourceObject("request", sourceStrings(map[string]string{"method": "GET", "uri": "http://example.org/"})))))
	}
	return v, nil
}

func sourceObject(name string, v document.Value) document.Value {
	return document.ObjectValue(document.Member{Name: name, Value: v})
}

func sourceStrings(texts map[string]string) document.Value {
	var members []document.Member
	for name, text := range texts {
		members = append(members, document.Member{Name: name, Value: document.StringValue(text)})
	}
	slices.SortFunc(members, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
	return document.ObjectValue(members...)
}

func sourceTime(t *testing.T, text, otherwise string) time.Time {
	t.Helper()
	if text == "" {
		text = otherwise
	}
	return must.Get(time.Parse(time.RFC3339, text))(t)
}

// sourceProblems returns the problems of an error, one per line.
func sourceProblems(err error) string {
	if err == nil {
		return "nothing"
	}
	problems := scheduler.ProblemsIn(err)
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// firstRuns returns the first n runs of a plan, and a full stop if it has no more.
func firstRuns(p *spec.Plan, n int) string {
	times, complete := p.Upcoming(n)
	if !complete {
		all, _ := p.Upcoming(n + 1)
		complete = len(all) == n
	}
	words := make([]string, len(times))
	for i, at := range times {
		words[i] = strings.TrimSuffix(at.UTC().Format("2006-01-02 15:04:05.999"), ":00")
	}
	end := ""
	if complete {
		end = "."
	}
	return strings.Join(words, ", ") + end
}
