package jobs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestExportStaysInItsDirectory writes no files elsewhere, whatever a server calls its jobs.
func TestExportStaysInItsDirectory(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	for _, k := range []scheduler.Key{{Collection: "a", Job: "../../evil"}, {Collection: "..", Job: "evil"}, {Collection: "../evil"}} {
		err := Export{Output: out}.write(&terminal.Terminal{Out: &bytes.Buffer{}}, []export.Document{{Key: k}})
		if err == nil {
			t.Errorf("%v is written", k)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "evil.yaml")); err == nil {
		t.Error("a file was written outside")
	}
}
