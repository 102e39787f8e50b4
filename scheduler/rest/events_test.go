package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// eventPage is a page of events.
type eventPage struct {
	Value    []v1.Event `json:"value"`
	NextLink *string    `json:"nextLink"`
}

func (w *harness) eventPage(path string, headers ...string) (p eventPage) {
	w.t.Helper()
	r := w.do(http.MethodGet, path, "", headers...)
	if err := json.Unmarshal([]byte(r.body), &p); r.status != http.StatusOK || err != nil {
		w.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return p
}

// String lists the events, and whether another page follows.
func (p eventPage) String() string {
	var text strings.Builder
	for _, e := range p.Value {
		fmt.Fprintf(&text, "%s.%s %d; ", e.Collection, e.Name, e.Sequence)
	}
	if p.NextLink != nil {
		text.WriteString("more")
	}
	return text.String()
}

// TestPublishEvent publishes events of all forms, and reads them as jobs see them.
func TestPublishEvent(t *testing.T) {
	w := newHarness(t)
	const path = "/jobCollections/default/events/orders"
	for i, test := range []struct {
		body, want string // ID, attributes and data
		headers    []string
	}{
		{`{"total": 7}`, `o-7 map[content-type:application/json id:o-7 type:order.created] {"total":7}`, []string{
			"Ce-Type: order.created", "Ce-Id: o-7", "Content-Type: application/json", "Authorization: Bearer x",
		}},
		{"order\n", `n-1 map[content-type:text/plain] "order\n"`, []string{
			"Content-Type: text/plain", "Nats-Msg-Id: n-1", "Nats-Expected-Last-Sequence: 99",
		}},
		{"", " map[] ", nil},
		{"\xff", ` map[datacontentencoding:base64] "/w=="`, nil},
		{`{"specversion": "1.0", "id": "c", "source": "/s", "type": "t", "data": [1]}`, `c map[id:c source:/s specversion:1.0 type:t] [1]`, []string{
			"Content-Type: application/cloudevents+json",
		}},
	} {
		r := w.do(http.MethodPost, path, test.body, test.headers...)
		if want := fmt.Sprintf(`{"collection":"default","name":"orders","sequence":%d,"duplicate":false}`, i+1); r.status != http.StatusAccepted || r.body != want {
			t.Errorf("%s: %d %s, want %s", test.body, r.status, r.body, want)
		}
		var e v1.Event
		must.Do(t, json.Unmarshal([]byte(w.do(http.MethodGet, fmt.Sprintf("/events/%d", i+1), "").body), &e))
		if got := fmt.Sprintf("%s %v %s", e.ID, e.Attributes, e.Data); got != test.want || e.Subject() != "default.orders" || e.Time.IsZero() {
			t.Errorf("%s: stored as %s, want %s: %+v", test.body, got, test.want, e)
		}
	}
	if r := w.do(http.MethodPost, path, "other", "Nats-Msg-Id: n-1"); r.status != http.StatusAccepted || !strings.Contains(r.body, `"sequence":2,"duplicate":true`) {
		t.Errorf("again: %d %s", r.status, r.body)
	}
	if r := w.do(http.MethodPost, "/jobCollections/default/events/refunds", "x", "Nats-Msg-Id: n-1"); !strings.Contains(r.body, `"duplicate":false`) {
		t.Errorf("another event of the same ID: %d %s", r.status, r.body)
	}
}

// TestEventsOfCollections lists events by collection, name and time, in pages, as far as the caller may see them.
func TestEventsOfCollections(t *testing.T) {
	w := newHarness(t, asking)
	root := as("admin")
	azure := versioned(azurePath + "/jobCollections/mine")
	for _, path := range []string{"/jobCollections/mine", "/jobCollections/other", azure} {
		w.do(http.MethodPut, path, "", root)
	}
	for _, path := range []string{
		"/jobCollections/mine/events/orders", "/jobCollections/mine/events/files", "/jobCollections/other/events/orders",
		"/jobCollections/mine/events/orders", versioned(azurePath + "/jobCollections/mine/events/orders"),
	} {
		if r := w.do(http.MethodPost, path, "x", root); r.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
	}
	at := w.eventPage("/events", root).Value[2].Time.Format("2006-01-02T15:04:05.999999999Z07:00")
	for _, test := range []struct{ path, role, want string }{
		{"/jobCollections/mine/events", "reader@mine", "mine.orders 4; mine.files 2; mine.orders 1; "},
		{"/jobCollections/mine/events?name=orders", "reader@mine", "mine.orders 4; mine.orders 1; "},
		{"/jobCollections/mine/events?$top=2", "reader@mine", "mine.orders 4; mine.files 2; more"},
		{"/jobCollections/mine/events?$skiptoken=2", "reader@mine", "mine.orders 1; "},
		{"/events?name=files", "reader@mine", "mine.files 2; "},
		{"/events?since=" + at, "reader", scheduler.Scope{Subscription: "s", Group: "g"}.Collection("mine") + ".orders 5; mine.orders 4; other.orders 3; "},
		{"/events?since=" + at, "reader@mine", "mine.orders 4; "},
		{versioned(azurePath + "/jobCollections/mine/events"), "reader", "mine.orders 5; "},
	} {
		got := w.eventPage(test.path, as(test.role)).String()
		if got != test.want {
			t.Errorf("%s as %s: %s, want %s", test.path, test.role, got, test.want)
		}
	}
	for _, test := range []struct {
		path, role string
		status     int
	}{
		{"/events/3", "reader@mine", 404}, {"/events/4", "reader@mine", 200}, {"/events/4?collection=other", "reader", 404}, {"/events/0", "reader", 404},
	} {
		if r := w.do(http.MethodGet, test.path, "", as(test.role)); r.status != test.status {
			t.Errorf("%s as %s: %d %s, want %d", test.path, test.role, r.status, r.body, test.status)
		}
	}
}

// TestEventsRefused shows the errors: of names, sizes, CloudEvents that are none, and a full stream.
func TestEventsRefused(t *testing.T) {
	w := newHarness(t)
	const orders = "/jobCollections/default/events/orders"
	for _, test := range []struct {
		method, path, body, header string
		status                     int
		want                       string
	}{
		{"POST", "/jobCollections/default/events/or.ders", "", "", 400, `event: \"or.ders\" must not contain`},
		{"POST", "/jobCollections/absent/events/orders", "", "", 404, "collection absent: not found"},
		{"POST", orders, strings.Repeat("x", 65<<10), "", 413, "the body is 66560 bytes long, at most 65536 (64 KB) are allowed"},
		{"POST", orders, strings.Repeat("x", 64<<10), "Ce-Type: t", 400, "the event has 65544 bytes, at most 65536 are allowed"},
		{"POST", orders, `{"id": 1`, "Content-Type: application/cloudevents+json", 400, "is not a CloudEvent, a JSON object: unexpected end"},
		{"POST", orders, `{"id": "1", "source": "s", "specversion": "1.0"}`, "Content-Type: application/cloudevents+json", 400, "type: is missing"},
		{"POST", orders, "", "If-Match: *", 400, "no ETag"},
		{"GET", "/events?name=or.ders", "", "", 400, "name: "},
		{"GET", "/events?since=yesterday", "", "", 400, "since: "},
		{"GET", "/events/latest", "", "", 400, "is not the sequence"},
	} {
		var headers []string
		if test.header != "" {
			headers = []string{test.header}
		}
		if r := w.do(test.method, test.path, test.body, headers...); r.status != test.status || !strings.Contains(r.body, test.want) {
			t.Errorf("%s %s: %d %.300s, want %d %s", test.method, test.path, r.status, r.body, test.status, test.want)
		}
	}
	js := must.Get(jetstream.New(w.nc))(t)
	s := must.Get(js.Stream(t.Context(), "CARILLON_EVENTS"))(t)
	full := s.CachedInfo().Config
	full.MaxBytes = 1
	must.Get(js.UpdateStream(t.Context(), full))(t)
	if r := w.do("POST", orders, "x"); r.status != 503 || !strings.Contains(r.body, "the stream CARILLON_EVENTS is full: raise its size or lower its age") {
		t.Errorf("a full stream: %d %s", r.status, r.body)
	}
}
