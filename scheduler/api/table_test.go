package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// TestTable checks the guarantees of the table that no interface checks for itself.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for i := range api.Operations {
		op := &api.Operations[i]
		route := fmt.Sprintf("%d %s %s", op.Style, op.Method, op.Path)
		for _, key := range []string{"ID " + op.ID, route, "subject " + op.Subject, "subject " + op.Follow} {
			if other, twice := seen[key]; twice && !strings.HasSuffix(key, " ") {
				t.Errorf("%s: %s has %s, too", op.ID, other, key)
			}
			seen[key] = op.ID
		}
		if !op.Right.Valid() {
			t.Errorf("%s: %q is not a right", op.ID, op.Right)
		}
		if op.ID == "" || op.Summary == "" || (op.Style == api.Short) != (op.Group != "") || (op.Subject == "") != (op.Returns == "") ||
			(op.Follow == "") != (op.Line == nil) {
			t.Errorf("%s: the row is incomplete: %+v", op.ID, op)
		}
		for _, name := range api.NamesIn(op.Path + op.Pattern()) {
			if api.Names[name] == "" {
				t.Errorf("%s: {%s} has no description", op.ID, name)
			}
		}
		for _, subject := range []string{op.Subject, op.Follow} {
			if subject != "" && !slices.Equal(api.NamesIn(subject), api.NamesIn(op.Path)) {
				t.Errorf("%s: the subject %s has other names than the path %s", op.ID, subject, op.Path)
			}
		}
		if _, ok := op.Param("collection"); op.Scoped && !ok {
			t.Errorf("%s: has no parameter collection, which its subject has", op.ID)
		}
	}
}
