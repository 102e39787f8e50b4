package printer

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestEvents prints records of every kind, both as this process has them and as
// they come over the API.
func TestEvents(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.Local) //nolint:gosmopolitan // people are shown their own time
	attempt := func(r scheduler.Record) scheduler.Record {
		r.Due, r.Started, r.Duration = at, at.Add(1500*time.Microsecond), 12*time.Millisecond
		r.Ended = r.Started.Add(r.Duration)
		r.ID = "id"
		return r
	}
	tests := []struct {
		record scheduler.Record
		want   string
	}{
		{
			attempt(scheduler.Record{Outcome: scheduler.OutcomeCompleted, Status: 200, Message: "not shown"}),
			"10:00:00.001  team/report           completed     +1.5 ms  200 in 12.0 ms",
		},
		{
			attempt(scheduler.Record{
				Outcome: scheduler.OutcomeFailed, Status: 503, Attempt: 2, Kind: scheduler.Manual,
				Message: "Http Action - …", Summary: "Service Unavailable",
			}),
			"10:00:00.001  team/report           failed        +1.5 ms  503 in 12.0 ms, manual run, retry 2, Service Unavailable",
		},
		{
			attempt(scheduler.Record{
				Outcome: scheduler.OutcomeCompleted, Kind: scheduler.Manual,
				Occurrence: "team/report@2026-03-02T10:00:00Z", Resubmits: &scheduler.Resubmission{Nominal: at.Add(-time.Hour)},
			}),
			"10:00:00.001  team/report           completed     +1.5 ms  repeats 09:00:00.000",
		},
		{
			attempt(scheduler.Record{
				Outcome: scheduler.OutcomeCompleted, Kind: scheduler.Triggered, Cause: &scheduler.Cause{Event: "team.order", Sequence: 12, Count: 3},
			}),
			"10:00:00.001  team/report           completed     +1.5 ms  by 3 events, the last: team.order (sequence 12)",
		},
		{
			attempt(scheduler.Record{Outcome: scheduler.OutcomeFailed, Phase: scheduler.ErrorPhase, Message: "no\nconnection " + strings.Repeat("é", 200)}),
			"10:00:00.001  team/report           failed        +1.5 ms  errorAction, no connection " + strings.Repeat("é", 146) + "…",
		},
		{
			attempt(scheduler.Record{Outcome: scheduler.OutcomeCompleted, Phase: scheduler.ErrorPhase, Path: "action.errorAction[0].errorAction"}),
			"10:00:00.001  team/report           completed     +1.5 ms  errorAction[0].errorAction",
		},
		{
			attempt(scheduler.Record{Outcome: scheduler.OutcomeFailed, Message: "StorageQueue Action - Nothing sent", Summary: "Nothing sent"}),
			"10:00:00.001  team/report           failed        +1.5 ms  Nothing sent",
		},
		{ // of a version that kept no summary
			attempt(scheduler.Record{Outcome: scheduler.OutcomeFailed, Message: "StorageQueue Action - Nothing sent"}),
			"10:00:00.001  team/report           failed        +1.5 ms  StorageQueue Action - Nothing sent",
		},
		{
			scheduler.Record{Outcome: scheduler.OutcomeFaulted, Due: at, Ended: at.Add(time.Second), Message: "gave up"},
			"10:00:01.000  team/report           faulted             -  no retries left, gave up",
		},
		{
			scheduler.Record{Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonOverlap, Ended: at, From: at, To: at.Add(time.Minute), Count: 2},
			"10:00:00.000  team/report           skipped             -  2 instants from 10:00:00.000 to 10:01:00.000, because of overlap",
		},
		{
			scheduler.Record{
				Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonDST, Ended: at, From: at, To: at, Count: 12,
				Message: "2026-03-08 02:00 to 02:55 do not exist in America/New_York: do not run",
			},
			"10:00:00.000  team/report           skipped             -  12 at 10:00:00.000, because of dst, " +
				"2026-03-08 02:00 to 02:55 do not exist in America/New_York: do not run",
		},
		{
			scheduler.Record{Outcome: scheduler.OutcomePostponed, Ended: at, From: at, To: at, Count: 1},
			"10:00:00.000  team/report           postponed           -  10:00:00.000",
		},
	}
	for _, test := range tests {
		test.record.Job = scheduler.Key{Collection: "team", Job: "report"}
		over := &client.Record{}
		must.Do(t, json.Unmarshal(v1.JSON(v1.Record(&test.record)), over))
		var here, there strings.Builder
		queue := NewQueue(&terminal.Terminal{Out: &here})
		queue.Take(&test.record)
		queue.End()
		New(&terminal.Terminal{Out: &there}, terminal.Clock).Print(over)
		for _, got := range []string{here.String(), there.String()} {
			if diff := cmp.Diff(test.want+"\n", got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

func TestColour(t *testing.T) {
	var out strings.Builder
	p := New(&terminal.Terminal{Out: &out, Colour: true}, terminal.Clock)
	p.Print(&client.Record{Job: strings.Repeat("j", 60), RecordForm: scheduler.RecordForm{Status: "Failed"}})
	if !strings.Contains(out.String(), "\x1b[31mfailed   \x1b[0m") {
		t.Errorf("got %q", out.String())
	}
	if p.width != longestColumn {
		t.Errorf("the column is %d wide", p.width)
	}
}
