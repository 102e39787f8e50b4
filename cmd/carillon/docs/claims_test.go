package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// testNames are the tests that a page names.
var testNames = regexp.MustCompile("`([a-z/]+): ((?:Test|Fuzz)\\w+)`")

// TestClaims looks for the tests that the security policy names, and for a claim without one.
func TestClaims(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "..", ".github", "SECURITY.md")))(t)
	claims := regexp.MustCompile(`(?m)^\d+\. `).Split(string(text), -1)[1:]
	if len(claims) < 40 {
		t.Errorf("%d claims", len(claims))
	}
	for i, claim := range claims {
		claim, _, _ = strings.Cut(claim, "\n\n")
		namesTests(t, fmt.Sprintf("claim %d", i+1), claim)
	}
}

// namesTests checks that a text names a test, and that each is there.
func namesTests(t *testing.T, what, text string) {
	t.Helper()
	found := testNames.FindAllStringSubmatch(text, -1)
	if found == nil {
		t.Errorf("%s names no test", what)
	}
	for _, test := range found {
		if !declares(t, test[1], test[2]) {
			t.Errorf("%s: there is no %s in %s", what, test[2], test[1])
		}
	}
}

// TestDisasters looks for the tests of each failure that TESTING lists.
func TestDisasters(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "..", ".github", "TESTING.md")))(t)
	_, lost, _ := strings.Cut(string(text), "\n## Failures\n")
	lost, _, _ = strings.Cut(lost, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| \d+\. `).FindAllString(lost, -1)
	items := regexp.MustCompile(`(?m)^\d+\. `).Split(lost, -1)[1:]
	if len(items) != len(rows) || len(rows) < 10 {
		t.Errorf("%d rows, and %d items that name their tests", len(rows), len(items))
	}
	for i, item := range items {
		namesTests(t, fmt.Sprintf("row %d", i+1), item)
	}
}

// TestAlerts: each alert says what it means, what to look at, and what to do, in this order.
func TestAlerts(t *testing.T) {
	page := must.Get(docs.Find("monitor"))(t)
	sections := strings.Split(page.Text, "\n### ")[1:]
	if len(sections) < 15 {
		t.Errorf("%d alerts", len(sections))
	}
	form := regexp.MustCompile(`(?s)^Carillon\w+\n\n\* It means: .{20,}\n\* Look at: .{15,}\n\* Do: .{10,}$`)
	for _, section := range sections {
		if !form.MatchString(section) {
			t.Errorf("not in its form:\n%s", section)
		}
	}
}

// TestSymptoms looks for the messages that the table of symptoms quotes in the program.
func TestSymptoms(t *testing.T) {
	page := must.Get(docs.Find("recover"))(t)
	_, table, _ := strings.Cut(page.Text, "| what you see")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("(?m)^\\| `([^`]+)` +\\|").FindAllStringSubmatch(table, -1)
	if len(quoted) < 4 {
		t.Errorf("only %d messages are quoted", len(quoted))
	}
	for _, m := range quoted {
		if !says(t, m[1]) {
			t.Errorf("no code says %q", m[1])
		}
	}
}

// says reports whether a text is in the code of the program.
func says(t *testing.T, text string) bool {
	t.Helper()
	found := false
	for _, folder := range []string{"actions", "cmd", "scheduler", "store"} {
		must.Do(t, filepath.WalkDir(filepath.Join("..", "..", "..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || found || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			found = strings.Contains(string(code), text)
			return err
		}))
	}
	return found
}

// declares reports whether a folder has a test.
func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(folder), "*_test.go")))(t)
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
