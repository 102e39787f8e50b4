package jobs

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestNextColumn has what a list of jobs says of when each runs next.
func TestNextColumn(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for want, s := range map[string]v1.Status{
		"-":                   {},
		"now":                 {Running: true, Next: now},
		"in 5s":               {Next: now.Add(5 * time.Second)},
		"in 86534d0h":         {Next: time.Date(2263, 2, 2, 9, 0, 0, 0, time.UTC)},
		"on 9999-12-31":       {Next: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
		"collection disabled": {WaitsFor: "collection default, which is disabled"},
	} {
		if got := next(&client.Job{Status: s}, now); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	for state, want := range map[scheduler.State]string{scheduler.Enabled: "on events", scheduler.Disabled: "-"} {
		j := &client.Job{State: state, Properties: []byte(`{"trigger": {"on": {"source": "orders"}}}`)}
		if got := next(j, now); got != want {
			t.Errorf("%s, with a trigger: %q, want %q", state, got, want)
		}
	}
}
