package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/importer"
)

// TestLongCrontab reads a crontab whose variables do not fit in a job, and one with too many entries.
func TestLongCrontab(t *testing.T) {
	var variables strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&variables, "V%d=%s\n", i, strings.Repeat("x", 100))
	}
	o := importer.Options{Runner: "https://runner.example"}
	r, err := importer.Import("crontab", []byte(variables.String()+"* * * * * a\n"), o)
	if err != nil || len(r.Jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(r.Jobs), err)
	}
	if n := len(r.Jobs[0].Document.JSON()); n > 2*scheduler.MaxJobSize {
		t.Errorf("a job of %d bytes", n)
	}
	if last := r.Notes[len(r.Notes)-3]; last.Field != "V999" || last.Level != importer.Dropped {
		t.Errorf("the last variable: %+v", last)
	}
	r, err = importer.Import("crontab", []byte(strings.Repeat("* * * * * a\n", 10_000)), o)
	if err != nil || r.Jobs[9_999].Key.Job != "a-10000" {
		t.Fatalf("%d jobs, %v", len(r.Jobs), err)
	}
	_, err = importer.Import("crontab", []byte(strings.Repeat("* * * * * a\n", 10_001)), o)
	if err == nil || err.Error() != "has more than 10000 entries; split it" {
		t.Error(err)
	}
}
