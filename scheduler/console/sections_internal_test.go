package console

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/frame/frametest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

func TestRoutes(t *testing.T) {
	// The collection is in the first form.
	frametest.Routes(t, sections(Config{Service: new(control.Service)}), frame.Root+"/collections", frame.Root+"/load/renew", frame.Root+"/preview")
}

// TestTokens checks that pages take sizes of type, distances and radii from the tokens of the style sheet of all pages.
func TestTokens(t *testing.T) {
	sizes := regexp.MustCompile(`[{; ]((margin|padding)(-[a-z]+)?|((row|column)-)?gap|font(-size)?|border-radius):[^;}]*\d(rem|px)`)
	zero := regexp.MustCompile(`: (calc\(var\(--space-\d\) \+ |-)?\d+px`) // of a drawing, or to make room for a border
	for _, pattern := range []string{"*/assets/*.css", "../../integration/emulator/queues/assets/*.css"} {
		files, err := filepath.Glob(pattern)
		must.Do(t, err)
		if len(files) == 0 {
			t.Errorf("there is no %s", pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			must.Do(t, err)
			for _, found := range sizes.FindAll(text, -1) {
				if !zero.Match(found) {
					t.Errorf("%s: %s", file, found)
				}
			}
		}
	}
}
