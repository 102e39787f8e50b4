package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestRecordDocument renders every outcome. The first id is one that the real
// service gave out (Azure Scheduler REST API, "List Job History").
func TestRecordDocument(t *testing.T) {
	at := time.Date(2016, 3, 30, 20, 39, 53, 802195100, time.UTC)
	k := key("http_job")
	for _, test := range []struct {
		name   string
		record scheduler.Record
		want   string // parts, each on a line
	}{
		{
			"completed",
			scheduler.Record{
				Job: k, ID: "default/http_job@2016-03-30T20:39:52Z#1", Occurrence: "default/http_job@2016-03-30T20:39:52Z",
				Outcome: scheduler.OutcomeCompleted, Nominal: at.Add(-2 * time.Second), Due: at.Add(-1500 * time.Millisecond),
				Started: at, Ended: at.Add(62503700), Duration: 62503700, Status: 200, Message: "Http Action - …", Response: "ok",
				Progress: scheduler.Progress{Number: 135},
			},
			`{"id":"/jobCollections/default/jobs/http_job/history/02519429304061978048:
			"type":"Microsoft.Scheduler/jobCollections/jobs/history","name":"default/http_job/02519429304061978048:
			"properties":{"version":2,"startTime":"2016-03-30T20:39:53.8021951Z","endTime":"2016-03-30T20:39:53.8646988Z","expectedExecutionTime":"2016-03-30T20:39:51.8021951Z",
			"actionName":"MainAction","status":"Completed","message":"Http Action - …","retryCount":0,"repeatCount":135,
			"occurrence":"default/http_job@2016-03-30T20:39:52Z","attemptId":"default/http_job@2016-03-30T20:39:52Z#1",
			"dueTime":"2016-03-30T20:39:52.3021951Z","lateness":1.5,"duration":0.0625037,"statusCode":200,"response":"ok"}}`,
		},
		{
			"failed errorAction",
			scheduler.Record{Job: k, Outcome: scheduler.OutcomeFailed, Phase: scheduler.ErrorPhase, Attempt: 2, Kind: scheduler.Manual, Started: at, Due: at},
			`"actionName":"ErrorAction","status":"Failed","retryCount":2
			"lateness":0,"duration":0,"manual":true`,
		},
		{
			"faulted",
			scheduler.Record{Job: k, Outcome: scheduler.OutcomeFaulted, Ended: at},
			`02519429304061978048
			{"version":2,"endTime":"2016-03-30T20:39:53.8021951Z","actionName":"MainAction","status":"Faulted"`,
		},
		{
			"skipped",
			scheduler.Record{Job: k, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonCatchUp, From: at, To: at.Add(time.Hour), Count: 61, Ended: at},
			`"status":"Skipped"
			"reason":"catchUp","from":"2016-03-30T20:39:53.8021951Z","to":"2016-03-30T21:39:53.8021951Z","count":61}}`,
		},
		{
			"left out",
			scheduler.Record{
				Job: k, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonDST, Nominal: at, From: at, To: at, Count: 2,
				Message: "02:00 to 02:30 do not exist", Ended: at,
			},
			`"expectedExecutionTime":"2016-03-30T20:39:53.8021951Z","actionName":"MainAction","status":"Skipped","message":"02:00 to 02:30 do not exist"
			"reason":"dst","from":"2016-03-30T20:39:53.8021951Z","to":"2016-03-30T20:39:53.8021951Z","count":2}}`,
		},
		{"postponed", scheduler.Record{Job: k, Outcome: scheduler.OutcomePostponed, Ended: at, Message: "collection default is disabled"}, `"status":"Postponed","message":"collection`},
	} {
		got := string(v1.JSON(v1.Record(&test.record)))
		for part := range strings.SplitSeq(test.want, "\n") {
			if part = strings.TrimSpace(part); !strings.Contains(got, part) {
				t.Errorf("%s: got %s\nwant %s", test.name, got, part)
			}
		}
	}
}

// TestRecordIDs checks that ids tell records apart and that later ones sort
// first.
func TestRecordIDs(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ids := map[string]bool{}
	var last string
	for i := range 100 {
		r := scheduler.Record{Job: key("job"), Outcome: scheduler.OutcomeCompleted, ID: "a", Started: at.Add(time.Duration(i) * 100)}
		id := idOf(&r)
		if last != "" && id >= last {
			t.Fatalf("%s is not before %s", id, last)
		}
		last = id
		ids[id] = true
		for _, other := range []scheduler.Record{
			{Job: key("job"), Outcome: scheduler.OutcomeFailed, ID: "a", Started: r.Started},
			{Job: key("job"), Outcome: scheduler.OutcomeCompleted, ID: "b", Started: r.Started},
			{Job: key("job"), Outcome: scheduler.OutcomeSkipped, Ended: r.Started},
		} {
			ids[idOf(&other)] = true
		}
	}
	if len(ids) != 400 {
		t.Errorf("%d different ids of 400", len(ids))
	}
}

// TestFaultedRecordIsLast checks that a faulted record, which tells of the main action, sorts behind the attempts of its
// errorAction, and says when the occurrence was given up.
func TestFaultedRecordIsLast(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	handled := scheduler.Record{Job: key("job"), Outcome: scheduler.OutcomeCompleted, Phase: scheduler.ErrorPhase, ID: "a#2", Started: at.Add(time.Minute)}
	faulted := scheduler.Record{Job: key("job"), Outcome: scheduler.OutcomeFaulted, Started: at, Ended: at.Add(time.Second), FaultedAt: at.Add(2 * time.Minute)}
	if a, b := idOf(&handled), idOf(&faulted); b >= a {
		t.Errorf("%s is not before %s", b, a)
	}
	if got := string(v1.JSON(v1.Record(&faulted))); !strings.Contains(got, `"faultedTime":"2026-01-01T00:02:00Z"`) {
		t.Errorf("shown as %s", got)
	}
}

// idOf returns the id that a record is shown with.
func idOf(r *scheduler.Record) string {
	var shown struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(v1.JSON(v1.Record(r)), &shown); err != nil {
		panic(err)
	}
	return shown.ID
}

func key(name string) scheduler.Key {
	return scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
}
