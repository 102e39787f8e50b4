package docs_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs/doctable"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// TestOperations compares the tables of operations in the page about the REST API with the table that the scheduler
// serves.
func TestOperations(t *testing.T) {
	const page = "reference/rest.md"
	doctable.Check(t, page, "## Operations on a collection and its jobs", operations("/jobCollections/{c}", ofCollection))
	doctable.Check(t, page, "## Other operations", operations("", func(path string) bool { return !ofCollection(path) }))
}

func ofCollection(path string) bool { return strings.HasPrefix(path, "/jobCollections/{c}") }

// roles are the least roles that have a right.
var roles = map[auth.Right]string{
	auth.Open: "–", auth.Known: "any", auth.Read: "reader", auth.ReadAny: "reader",
	auth.Operate: "operator", auth.OperateAny: "operator", auth.Administer: "admin",
}

// operations returns a table of the operations of the short paths, which are shown without a prefix.
func operations(prefix string, has func(path string) bool) [][]string {
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
	return rows
}
