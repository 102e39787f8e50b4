package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// TestNextRuns: the scheduler's word comes first, and what this program cannot
// know is left out.
func TestNextRuns(t *testing.T) {
	next := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		properties string
		status     view.Status
		want       string // hours and minutes
	}{
		"none":                       {`{"recurrence": {"frequency": "hour"}}`, view.Status{}, ""},
		"once":                       {`{"startTime": "2026-03-02T09:30Z"}`, view.Status{Next: next}, "09:30"},
		"from its start":             {`{"startTime": "2026-03-01T00:30Z", "recurrence": {"frequency": "hour", "interval": 3}}`, view.Status{Next: next}, "09:30 12:30 15:30 18:30 21:30"},
		"from when it was put":       {`{"recurrence": {"frequency": "minute", "interval": 20}}`, view.Status{Next: next}, "09:30 09:50 10:10 10:30 10:50"},
		"a retry moves nothing":      {`{"recurrence": {"frequency": "minute", "interval": 20}}`, view.Status{Next: next, Retry: 1}, "09:30"},
		"jitter hides where it was":  {`{"recurrence": {"frequency": "hour"}, "jitter": "PT1M"}`, view.Status{Next: next}, "09:30"},
		"a count hides the end":      {`{"recurrence": {"frequency": "hour", "count": 3}}`, view.Status{Next: next}, "09:30"},
		"a count from its start":     {`{"startTime": "2026-03-02T08:30Z", "recurrence": {"frequency": "hour", "count": 3}}`, view.Status{Next: next}, "09:30"},
		"a schedule nobody knows of": {`{"recurrence": {"frequency": "fortnight"}}`, view.Status{Next: next}, "09:30"},
	} {
		j := &client.Job{Name: "default/job", Status: test.status, Properties: json.RawMessage(test.properties)}
		var got []string
		for _, at := range nextRuns(t.Context(), j) {
			got = append(got, at.Format("15:04"))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: got %s, want %s", name, s, test.want)
		}
	}
}

// TestRequestOf: what an action asks for, of every type.
func TestRequestOf(t *testing.T) {
	for action, want := range map[string]string{
		`{"type": "Http", "request": {"method": "GET", "uri": "http://a.example/b"}}`:                                       "Http GET http://a.example/b",
		`{"type": "StorageQueue", "queueMessage": {"storageAccount": "acc", "queueName": "q", "message": "m"}}`:             "StorageQueue acc q",
		`{"type": "ServiceBusTopic", "serviceBusTopicMessage": {"namespace": "ns", "topicPath": "t", "message": "secret"}}`: "ServiceBusTopic ns t",
		`{"type": "NatsMessage", "natsMessage": {"mode": "request", "subject": "a.b"}}`:                                     "NatsMessage request a.b",
		`{}`: "",
	} {
		if got := requestOf(json.RawMessage(action)); got != want {
			t.Errorf("%s: got %q, want %q", action, got, want)
		}
	}
}

// TestRecordedAction: the action that a record is of, among as many as a job may have.
func TestRecordedAction(t *testing.T) {
	const one = `{"action": {"type": "Http", "errorAction": {"type": "A"}}}`
	const several = `{"action": {"type": "Http", "errorAction": [{"type": "A"}, {"type": "B", "errorAction": {"type": "C"}}]}}`
	for _, test := range []struct{ properties, name, path, want string }{
		{one, "MainAction", "", "Http"},
		{one, "ErrorAction", "", "A"},
		{several, "MainAction", "", "Http"},
		{several, "ErrorAction", "action.errorAction[0]", "A"},
		{several, "ErrorAction", "action.errorAction[1]", "B"},
		{several, "ErrorAction", "action.errorAction[1].errorAction", "C"},
		{several, "ErrorAction", "action.errorAction[7]", ""},
		{`{"action": {"type": "Http", "errorAction": [{"type": "A"}]}}`, "ErrorAction", "", "A"},
		{`{"action": {"type": "Http"}}`, "ErrorAction", "", ""},
	} {
		r := &client.Record{RecordForm: scheduler.RecordForm{Action: test.name, ActionPath: test.path}}
		if got := requestOf(recordedAction(json.RawMessage(test.properties), r)); got != test.want {
			t.Errorf("%s %s of %s: got %q, want %q", test.name, test.path, test.properties, got, test.want)
		}
	}
	if got := strings.Join(onErrorOf(actionOf(json.RawMessage(several))), " "); got != "A B C" {
		t.Errorf("on error %q, want A B C", got)
	}
}

// TestRetriesOf: a policy in words, also when it is the default's.
func TestRetriesOf(t *testing.T) {
	for policy, want := range map[string]string{
		"":                      "fixed, PT30S, at most 4",
		`{"retryType": "none"}`: "none",
		`{"retryType": "Exponential", "retryInterval": "PT1M", "retryCount": 2}`: "exponential, PT1M, at most 2",
		`"?"`: `"?"`,
	} {
		if got := retriesOf(json.RawMessage(policy)); got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}
