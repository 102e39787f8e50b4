package docs_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs/doctable"
	"github.com/carillon-sched/carillon/cmd/carillon/explain"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestJobFields compares the table of fields in the page about jobs with the fields that a job accepts, their defaults
// and words.
func TestJobFields(t *testing.T) {
	rows := [][]string{{"field", "default", "values and meaning"}}
	words := map[string][]string{}
	documents := explain.Ours()
	var add func(path string)
	add = func(path string) {
		object := must.Get(documents.Find(path))(t)
		for _, m := range object.Members {
			_, ofAction, isOfAction := strings.Cut(m.Path, "action.")
			switch {
			case strings.HasPrefix(m.Description, "Read-only"), m.Name == "properties":
			case isOfAction && !slices.Contains([]string{"type", "retryPolicy", "errorAction"}, ofAction): // see actions.md
			case slices.Contains([]string{"recurrence", "dst", "catchUp", "action", "trigger", "on"}, m.Name):
				add(m.Path)
			default:
				field := "`" + strings.TrimPrefix(m.Path, "job.") + "`"
				without, _, _ := strings.Cut(m.Default, ":")
				rows, words[field] = append(rows, []string{field, without}), m.Words
			}
		}
	}
	add("job")
	slices.SortStableFunc(rows[1:], func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	delete(words, "`action.type`") // the page about actions has them
	for _, row := range doctable.Check(t, "reference/jobs.md", "# Jobs", rows)[1:] {
		for _, word := range words[row[0]] {
			if !strings.Contains(row[2], "`"+word+"`") {
				t.Errorf("%s: the value %s is missing", row[0], word)
			}
		}
	}
}
