package importer_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/importer"
)

var update = flag.Bool("update", false, "write the files that are compared")

// sample imports a file of testdata.
func sample(t *testing.T, format string) importer.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", format+".in"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := importer.Import(format, data, importer.Options{Runner: "https://runner.example/{name}", System: format == "crontab"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSamples compares what is made of a file as each system's documentation has it, jobs and report.
func TestSamples(t *testing.T) {
	for _, format := range importer.Formats() {
		r := sample(t, format)
		var got bytes.Buffer
		for _, n := range r.Notes {
			fmt.Fprintf(&got, "# %s | %s | %s | %s\n", n.Level, n.Entry, n.Field, n.Message)
		}
		for _, j := range r.Jobs {
			got.WriteString("---\n")
			got.Write(j.Document.YAML())
		}
		path := filepath.Join("testdata", format+".yaml")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", format, diff)
		}
	}
}
