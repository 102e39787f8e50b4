package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
)

// TestClaims looks for the tests that the page of claims names, and for a claim without one.
func TestClaims(t *testing.T) {
	page, err := docs.Find("security")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+): ((?:Test|Fuzz)\\w+)`")
	claims := regexp.MustCompile(`(?m)^\d+\. `).Split(page.Text, -1)[1:]
	if len(claims) < 5 {
		t.Errorf("%d claims", len(claims))
	}
	for i, claim := range claims {
		claim, _, _ = strings.Cut(claim, "\n\n")
		found := named.FindAllStringSubmatch(claim, -1)
		if found == nil {
			t.Errorf("claim %d names no test", i+1)
		}
		for _, test := range found {
			if !declares(t, test[1], test[2]) {
				t.Errorf("claim %d: there is no %s in %s", i+1, test[2], test[1])
			}
		}
	}
}

// declares reports whether a folder has a test.
func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
