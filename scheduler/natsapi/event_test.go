package natsapi_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestEvents reads events that a NATS client publishes, of a collection and of all.
func TestEvents(t *testing.T) {
	w := newHarness(t)
	w.api()
	must.Get(w.service.PublishEvent(t.Context(), scheduler.Topic{Collection: "default", Name: "orders"}, nil, []byte("1")))(t)
	m := nats.NewMsg("carillon.event.default.files")
	m.Data = []byte("{}")
	m.Header.Set("ce-type", "upload")
	must.Get(w.js.PublishMsg(t.Context(), m))(t)
	for _, test := range []struct{ subject, body, status, want string }{
		{"event-list", "", "200", `"sequence":2,`},
		{"event-list.default", `{"name": "files"}`, "200", `"attributes":{"type":"upload"},"data":{}}],"nextLink":null`},
		{"event-list.default", `{"$top": 1}`, "200", `"sequence":2,`},
		{"event-list.default", `{"$top": 1, "$skiptoken": "2"}`, "200", `"data":1}],"nextLink":null`},
		{"event-list.absent", "", "404", "collection absent"},
		{"event-list.default", `{"since": "2099-01-01T00:00:00Z"}`, "200", `{"value":[],"nextLink":null}`},
		{"event-get.2", "", "200", `"name":"files"`},
		{"event-get.2.default", "", "200", `"name":"files"`},
		{"event-get.2.other", "", "404", "event 2: not found"},
		{"event-get.9", "", "404", "event 9: not found"},
		{"event-get.last", "", "400", "is not the sequence"},
	} {
		if status, answer := w.ask(t, test.subject, test.body); status != test.status || !strings.Contains(string(answer), test.want) {
			t.Errorf("%s %s: got %s %s, want %s %s", test.subject, test.body, status, answer, test.status, test.want)
		}
	}
}
