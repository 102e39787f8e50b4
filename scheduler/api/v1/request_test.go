package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func requests(t *testing.T, properties string) []v1.Request {
	t.Helper()
	v, err := document.Parse([]byte(properties))
	if err != nil {
		t.Fatal(err)
	}
	return v1.Requests(v)
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
			got, ok := v1.RequestOf(requests(t, fmt.Sprintf(properties, action)), &scheduler.RecordForm{Action: name})
			if got.String() != want || !ok {
				t.Errorf("%s of %s: got %q, want %q", name, action, got, want)
			}
		}
	}
	if got, ok := v1.RequestOf(requests(t, `{"action": {"type": "Http"}}`), &scheduler.RecordForm{Action: "ErrorAction"}); ok {
		t.Errorf("of no errorAction: %q", got)
	}
}

// TestRequests: of several errorActions each is told, and a record's by its path.
func TestRequests(t *testing.T) {
	all := requests(t, `{"action": {"type": "A", "errorAction": [{"type": "B", "errorAction": {"type": "C"}}, {"type": "D"}]}}`)
	var types []string
	for _, r := range all {
		types = append(types, r.String())
		if got, _ := v1.RequestOf(all, &scheduler.RecordForm{Action: "ErrorAction", ActionPath: r.Path}); got != r {
			t.Errorf("%s: got %s, want %s", r.Path, got, r)
		}
	}
	if got := strings.Join(types, " "); got != "A B C D" {
		t.Errorf("got %s", got)
	}
	if got, _ := v1.RequestOf(all, &scheduler.RecordForm{Action: "MainAction"}); got.Type != "A" {
		t.Errorf("of the main action: %s", got)
	}
}

// TestShownRequest: what people are shown of an address has no values of its query.
func TestShownRequest(t *testing.T) {
	for uri, want := range map[string]string{
		"https://a.example/b":              "GET https://a.example/b",
		"https://a.example/b?sig=x&run=7":  "GET https://a.example/b?sig=…&run=…",
		"https://a.example/b?hunter2":      "GET https://a.example/b?…",
		"https://a.example/b?a=b?c=d#part": "GET https://a.example/b?a=…",
		"https://a.example/b?":             "GET https://a.example/b?…",
		"https://a.example/b#hunter2":      "GET https://a.example/b",
	} {
		r := v1.Request{Type: "Http", Verb: "GET", URI: uri}
		if got := r.Shown(); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
}

// TestAnswer tells in a line what became of an attempt.
func TestAnswer(t *testing.T) {
	for want, r := range map[string]scheduler.Record{
		"": {},
		`500 Internal Server Error: {"e": 1}`: {
			Status: 500, Response: "{\"e\":\n 1}\n", Message: "Http Action - Response from host 'a': …", Summary: "Internal Server Error",
		},
		"204 No Content":   {Status: 204, Message: "Http Action - Response from host 'a': …", Summary: "No Content"},
		"no route to host": {Message: "Http Action - no route to host", Summary: "no route to host"},
		"408: late":        {Status: 408, Response: "late"},
		"status 404 of it": {Status: 404, Message: "status 404 of it"},
	} {
		if got := v1.Answer(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
