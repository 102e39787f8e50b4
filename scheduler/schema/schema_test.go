package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

var update = flag.Bool("update", false, "write the schemas as they are made now")

// registry is all action types.
func registry(t *testing.T) *actions.Registry {
	t.Helper()
	all := builtin.New(builtin.Config{})
	t.Cleanup(all.Close)
	return all
}

// TestFilesAreWhatIsMade compares the files with what the readers ask for; go test -update writes them.
func TestFilesAreWhatIsMade(t *testing.T) {
	for file, made := range map[string]document.Value{
		"job.json": schema.Job(registry(t)), "collection.json": schema.Collection(registry(t)),
	} {
		var want bytes.Buffer
		if err := json.Indent(&want, made.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		want.WriteByte('\n')
		if *update {
			if err := os.WriteFile(file, want.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is not what the readers ask for (%v); run go test ./scheduler/schema -update", file, err)
		}
	}
}
