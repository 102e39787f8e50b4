package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guarantees are those of package scheduler, in its order: how each begins, and the tests that show it.
var guarantees = []struct {
	says  string
	tests []string // folder: name
}{
	{"A crash loses nothing.", []string{
		"scheduler/engine: TestCrashPoints", "scheduler/engine: TestKilledAmidHerd", "store: TestVanishedProcess", "store/failover: TestPatiences",
		"store: TestStalledProcessKeepsItsBatons", "integration/suite/chaos: TestKill9",
	}},
	{"A job never forks.", []string{"store: TestMoves", "scheduler/engine: TestCrashPoints", "scheduler/engine: TestTwoWorkersShare"}},
	{"Never early.", []string{"scheduler/engine: TestPunctual", "scheduler/engine: TestLateClockHolds", "scheduler/engine: TestHeldFarAhead"}},
	{"At least once.", []string{
		"scheduler/engine: TestCrashPoints", "scheduler/engine: TestCrashAtEveryErrorAction",
		"scheduler/engine: TestUnrecordedAttemptsAreBounded", "integration/suite/chaos: TestCluster",
	}},
	{"Nothing is silent.", []string{
		"scheduler/engine: TestAuditNamesWhatNeverRan", "scheduler/engine: TestLeftOut", "scheduler/engine: TestSkippedToItsEnd",
		"scheduler/engine: TestDisabledCollectionPostpones", "scheduler/engine: TestCatchUp", "scheduler/engine: TestLostIsNotEnded",
		"scheduler/engine: TestPauseEnds", "scheduler/engine: TestPauseSurvives",
	}},
	{"An occurrence ends under the definition", []string{"scheduler/engine: TestEditWhileRunning", "scheduler/engine: TestEditWhileQueued"}},
	{"A deleted job runs nothing more", []string{
		"scheduler/engine: TestDeletedJobsAreGone", "scheduler/engine: TestDisableWhileRunByHandIsPutOff", "scheduler/engine: TestDisableWhileRunning",
		"scheduler/engine: TestDisableLetsBegunEnd",
	}},
	{"Secrets of jobs are sealed", []string{"scheduler/engine: TestSecretIsSealed", "scheduler/secrets: FuzzRedactor"}},
	{"No baton is removed while its state is uncertain.", []string{"scheduler/engine: TestLostDefinitionsKeepTheirBatons", "scheduler: TestStrayFate"}},
}

// TestGuarantees: each guarantee of package scheduler has tests that show it.
func TestGuarantees(t *testing.T) {
	said := regexp.MustCompile(`(?m)^ +\d+\. +`).Split(packageDoc(t, "../scheduler/doc.go"), -1)[1:]
	if len(said) != len(guarantees) {
		t.Fatalf("package scheduler has %d guarantees, %d are tested", len(said), len(guarantees))
	}
	for i, g := range guarantees {
		if !strings.HasPrefix(said[i], g.says) {
			t.Errorf("guarantee %d is %.40q, want %q", i+1, said[i], g.says)
		}
		for _, test := range g.tests {
			if folder, name, _ := strings.Cut(test, ": "); !declares(t, folder, name) {
				t.Errorf("guarantee %d: there is no %s in %s", i+1, name, folder)
			}
		}
	}
}

// packageDoc returns the comment of a package.
func packageDoc(t *testing.T, file string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Doc.Text()
}

// declares reports whether a folder of the module has a test.
func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}
