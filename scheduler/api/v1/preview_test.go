package v1_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestPreviewAtTheEndOfTime shows the last instants of the calendar on a clock where the next year has begun.
func TestPreviewAtTheEndOfTime(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	p := &spec.Preview{Times: []time.Time{time.Date(9999, 12, 31, 20, 0, 0, 0, time.UTC)}, Zone: tokyo}
	got := string(v1.JSON(v1.AWXPreview(p)))
	if want := `{"local":["10000-01-01T05:00:00+09:00"],"utc":["9999-12-31T20:00:00Z"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSeconds shows lengths of time as plain numbers, also tiny ones.
func TestSeconds(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &scheduler.Record{Job: key("job"), Due: at, Started: at.Add(300), Duration: 700}
	if got, want := string(v1.JSON(v1.Record(r))), `"lateness":0.0000003,"duration":0.0000007}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}
