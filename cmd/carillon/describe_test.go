package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
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
		for name, properties := range map[string]string{
			"MainAction": `{"action": %s}`, "ErrorAction": `{"action": {"type": "Http", "errorAction": %s}}`,
		} {
			if got := requestOf(json.RawMessage(fmt.Sprintf(properties, action)), recordOf(name, "")); got != want {
				t.Errorf("%s of %s: got %q, want %q", name, action, got, want)
			}
		}
	}
	if got := requestOf(json.RawMessage(`{"action": {"type": "Http"}}`), recordOf("ErrorAction", "")); got != "" {
		t.Errorf("of no errorAction: %q", got)
	}
}

func recordOf(action, path string) *client.Record {
	return &client.Record{RecordForm: scheduler.RecordForm{Action: action, ActionPath: path}}
}

// TestRequestsOf: of several errorActions each is told, and a record's by its path.
func TestRequestsOf(t *testing.T) {
	properties := json.RawMessage(`{"action": {"type": "A", "errorAction": [{"type": "B", "errorAction": {"type": "C"}}, {"type": "D"}]}}`)
	var types []string
	for _, r := range requestsOf(properties) {
		types = append(types, r.text)
		if got := requestOf(properties, recordOf("ErrorAction", r.at)); got != r.text {
			t.Errorf("%s: got %s, want %s", r.at, got, r.text)
		}
	}
	if got := strings.Join(types, " "); got != "A B C D" {
		t.Errorf("got %s", got)
	}
	if got := requestOf(properties, recordOf("ErrorAction", "action.errorAction[1]")); got != "D" {
		t.Errorf("of the second one: %s", got)
	}
	if got := requestOf(properties, recordOf("MainAction", "")); got != "A" {
		t.Errorf("of the main action: %s", got)
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
