package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/console/stage"
	"github.com/carillon-sched/carillon/integration/console/tab"
)

// TestPages opens every page as it is looked at: it has a heading and a title, nothing that must not happen does, and it
// is not wider than the window.
func TestPages(t *testing.T) {
	c := needed(t)
	for _, look := range tab.Looks {
		t.Run(name(look), func(t *testing.T) {
			page := open(t, c.stage.HTTP, look)
			for _, path := range stage.Pages {
				must(t, page.Go(path))
				if got, err := tab.Eval[string](page, "document.querySelector('h1')?.innerText ?? ''"); err != nil || got == "" {
					t.Errorf("%s: no heading (%v)", path, err)
				}
				if got, err := tab.Eval[int64](page, "document.documentElement.scrollWidth"); err != nil || got > look.Width {
					t.Errorf("%s: it is %d pixels wide, in a window of %d (%v)", path, got, look.Width, err)
				}
				for _, wrong := range page.Wrong() {
					t.Errorf("%s: %s", path, wrong)
				}
			}
		})
	}
}

// TestPagesWithoutScripts opens every page in a browser that runs no scripts: it can be read.
func TestPagesWithoutScripts(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{NoScripts: true})
	for _, path := range stage.Pages {
		must(t, page.Go(path))
		if got, err := tab.Eval[string](page, "document.querySelector('h1')?.innerText ?? ''"); err != nil || got == "" {
			t.Errorf("%s: no heading (%v)", path, err)
		}
	}
}

// violation is what axe found wrong.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Failure string `json:"failureSummary"`
	} `json:"nodes"`
}

// TestAccessible has axe look at every page, by the rules of WCAG 2.2 AA.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("NOT RUN: axe-core is not here; npm --prefix integration/console ci brings it")
	}
	c := needed(t)
	for _, look := range []tab.Look{tab.Looks[0], tab.Looks[3]} { // each colour and each width once
		t.Run(name(look), func(t *testing.T) {
			page := open(t, c.stage.HTTP, look)
			for _, path := range stage.Pages {
				must(t, page.Go(path))
				if _, err := tab.Eval[bool](page, string(axe)+"; true"); err != nil {
					t.Fatal(err)
				}
				found, err := tab.Eval[[]violation](page, `axe.run(document, {resultTypes: ['violations'], runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}}).then((r) => r.violations)`)
				must(t, err)
				for _, v := range found {
					for _, n := range v.Nodes {
						t.Errorf("%s: %s: %s\n%s\n%s", path, v.ID, v.Help, strings.TrimSpace(n.HTML), n.Failure)
					}
				}
			}
		})
	}
}
