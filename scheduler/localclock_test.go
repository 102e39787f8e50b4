package scheduler_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// measures lists the functions that may read the local clock, with the number of reads: to measure durations, or the
// age of values in memory.
var measures = map[string]int{
	"../store/buckets/changes.go read": 2, // patience
	"console/jobs/list.go list":        2,
	"console/load/load.go settled":     1,
	"console/look/look.go at":          2,
	"console/look/look.go fresh":       1,
	"console/look/look.go last":        1,
	"console/load/past.go ran":         2,
	"natsapi/api.go answer":            2,
	"natsapi/eraser.go erase":          3,
	"natsapi/eraser.go newEraser":      1,
	"natsapi/stats.go begin":           1,
	"natsapi/stats.go end":             1,
	"natsapi/verb.go awaitTurn":        2,
	"natsapi/verb.go isFirst":          2,
	"rest/observe.go observe":          3,
	"rest/tail.go write":               1, // a deadline of a connection
	"control/admission.go allows":      1, "control/admission.go admit": 1,
	"control/audit.go Audit":           2,
	"control/audit.go Finish":          2,
	"control/audit.go bare":            2,
	"control/carry.go await":           2, // of a rate
	"control/historykeeper.go ask":     1,
	"control/historykeeper.go refresh": 2,
	"control/historykeeper.go wanted":  1,
	"control/preview.go now":           1, // of a previewer without a store
	"control/trail.go CheckTrail":      2,
	"engine/attempted.go Try":          2,
	"engine/attempted.go attemptOnce":  2,
	"engine/attempted.go full":         1,
	"engine/attempted.go join":         1,
	"engine/attempted.go next":         1,
	"engine/attempted.go wait":         1,
	"engine/finalizer.go keep":         1,
	"engine/finalizer.go leisure":      1,
	"engine/finalizer.go work":         2,
}

// TestDecisionsUseTheStoresClock checks that packages that decide use [scheduler.Store.Now]. The clock of one machine
// may be wrong, and decisions based on it lose or repeat runs.
func TestDecisionsUseTheStoresClock(t *testing.T) {
	got := map[string]int{}
	for _, dir := range []string{
		"console/collections", "console/edit", "console/job", "console/jobform", "console/jobs", "console/load", "console/look",
		"../store/buckets", "auth/tokens", "control", "engine", "engine/limits", "engine/step", "natsapi", "rest",
	} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", dir, err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				countClockReads(t, name, got)
			}
		}
	}
	if !maps.Equal(got, measures) {
		for _, where := range slices.Sorted(maps.Keys(got)) {
			if got[where] != measures[where] {
				t.Errorf("%s: %d uses of the local clock, want %d: use Store.Now", where, got[where], measures[where])
			}
		}
		for where := range measures {
			if got[where] == 0 {
				t.Errorf("%s: it does not use the local clock any more: remove it from the list", where)
			}
		}
	}
}

// countClockReads adds the uses of time.Now, Since and Until in a file to got, by function.
func countClockReads(t *testing.T, name string, got map[string]int) {
	t.Helper()
	source := must.Get(os.ReadFile(name))(t)
	file := must.Get(parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution))(t)
	for _, d := range file.Decls {
		where := filepath.ToSlash(name)
		if f, ok := d.(*ast.FuncDecl); ok {
			where += " " + f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
					got[where]++
				}
			}
			return true
		})
	}
}
