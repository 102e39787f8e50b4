package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs/doctable"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/rest/openapi"
)

// TestErrors compares the tables of the page about errors with the errors of the API and the exit codes.
func TestErrors(t *testing.T) {
	const page = "reference/errors.md"
	rows := [][]string{{"code", "status", "retry", "remedy"}}
	for _, f := range openapi.Faults {
		code, status := "`"+f.Code+"`", strconv.Itoa(f.Status)
		if i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == code }); i >= 0 {
			rows[i][1] += ", " + status
			continue
		}
		rows = append(rows, []string{code, status})
	}
	doctable.Check(t, page, "## API errors", rows)

	source := must.Get(os.ReadFile(filepath.Join("..", "terminal", "exit.go")))(t)
	rows = [][]string{{"exit code", "`code`", "meaning"}}
	for _, m := range regexp.MustCompile(`(?m)^\tExit\w+ += (\d+)`).FindAllSubmatch(source, -1) {
		rows = append(rows, []string{string(m[1])})
	}
	doctable.Check(t, page, "## Exit codes", rows)
}
