package docs_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

var update = flag.Bool("update", false, "write the generated parts of the pages")

// TestOperations compares the tables of operations in the page about the REST API with the table that the scheduler is
// served by.
func TestOperations(t *testing.T) {
	const page = "reference/rest.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for _, part := range []struct {
		heading, prefix string
		has             func(path string) bool
	}{
		{"\n## Operations on a collection and its jobs\n", "/jobCollections/{c}", ofCollection},
		{"\n## Other operations\n", "", func(path string) bool { return !ofCollection(path) }},
	} {
		before, after, ok := strings.Cut(got, part.heading)
		start, rows, found := strings.Cut(after, "\n| ")
		_, rest, ended := strings.Cut(rows, "\n\n")
		if !ok || !found || !ended {
			t.Fatalf("%s: a table must follow%s", page, part.heading)
		}
		got = before + part.heading + start + "\n" + operationTable(part.prefix, part.has) + "\n" + rest
	}
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("run go test ./cmd/carillon/docs -run TestOperations -update (-page +table)\n%s", diff)
	}
}

func ofCollection(path string) bool { return strings.HasPrefix(path, "/jobCollections/{c}") }

// roles are the least roles that have a right.
var roles = map[auth.Right]string{
	auth.Open: "–", auth.Known: "any", auth.Read: "reader", auth.ReadAny: "reader",
	auth.Operate: "operator", auth.OperateAny: "operator", auth.Administer: "admin",
}

// operationTable returns a table of the operations of the short paths, which are shown without a prefix.
func operationTable(prefix string, has func(path string) bool) string {
	rows := [][]string{{"request", "NATS subject", "role", "effect"}}
	for i := range api.Operations {
		op := &api.Operations[i]
		if op.Style != api.Short || !has(op.Path) {
			continue
		}
		subject := "–"
		if op.Subject != "" {
			subject = "`" + op.Subject + "`"
		}
		request := strings.TrimSpace(op.Method + " " + strings.TrimPrefix(op.Path, prefix))
		rows = append(rows, []string{"`" + request + "`", subject, roles[op.Right], op.Summary})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
