package payload_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// started returns an attempt of a run that events started.
func started(tb testing.TB, cause *scheduler.Cause, events ...scheduler.Event) scheduler.Attempt {
	tb.Helper()
	a := attempt()
	a.Cause, a.Events = cause, must.Get(json.Marshal(events))(tb)
	return a
}

// published returns an event with a body.
func published(tb testing.TB, sequence uint64, body string) scheduler.Event {
	tb.Helper()
	header := map[string][]string{"Nats-Msg-Id": {"o-4711"}, "ce-source": {"/shop"}, "Content-Type": {"application/json"}}
	e := must.Get(scheduler.NewEvent(scheduler.Topic{Collection: "sales", Name: "orders"}, header, []byte(body)))(tb)
	e.Sequence, e.Time = sequence, time.Date(2026, 3, 1, 9, 29, 59, 5e8, time.UTC)
	return e
}

// ended returns the event of an occurrence that faulted.
func ended(tb testing.TB) scheduler.Event {
	tb.Helper()
	e, ok := scheduler.EventOf(&scheduler.Record{
		Job: scheduler.Key{Collection: "etl", Job: "extract"}, Occurrence: "etl/extract@2026-03-01T09:00:00Z", Sequence: 7,
		Stored: time.Date(2026, 3, 1, 9, 29, 59, 0, time.UTC), Outcome: scheduler.OutcomeFaulted,
		Status: 503, Message: `it is "away"`, Response: `{"rows":12}`,
	})
	if !ok {
		tb.Fatal("no event")
	}
	return e
}

const order = `{"id": 12345678901234567890, "total": 99.5, "paid": true, "note": null, "tags": ["a", 1], "customer": {"name": "a\"b", "String": "s"}}`

// TestEvent renders the events of runs of each kind.
func TestEvent(t *testing.T) {
	cause := &scheduler.Cause{Event: "sales.orders", ID: "o-4711", Key: "k", Count: 2}
	batch := started(t, cause, published(t, 11, `{"id": 1}`), published(t, 12, order))
	body := func(text string) scheduler.Attempt { return started(t, cause, published(t, 12, text)) }
	end := started(t, &scheduler.Cause{Upstream: "etl/extract@2026-03-01T09:00:00Z", Count: 1}, ended(t))
	for _, test := range []struct {
		text    string
		attempt scheduler.Attempt
		want    string
	}{
		// A batch: the last event is .Event.
		{`{{.Event.ID}} {{.Event.Topic}} {{.Event.Sequence}} {{.Event.Time}} {{.Event.Time.Year}}`, batch, "o-4711 sales.orders 12 2026-03-01T09:29:59.5Z 2026"},
		{`{{.Trigger.Topic}} {{.Trigger.Key}} {{.Trigger.Count}} {{.Trigger}}`, batch, `sales.orders k 2 {"count":2,"key":"k","topic":"sales.orders"}`},
		{`{{len .Events}} {{eq (json .Events) (print .Events)}}`, batch, "2 true"},
		{`{{.Event.Data.id}} {{.Event.Data.total}} {{.Event.Data.paid}} [{{.Event.Data.note}}] {{.Event.Data.tags}}`, batch, `12345678901234567890 99.5 true [] ["a",1]`},
		{`{{.Event.Data.customer}} {{json .Event.Data.customer.name}} {{.Event.Data.customer.String}}`, batch, `{"String":"s","name":"a\"b"} "a\"b" s`},
		{`{{.Event.Attributes.source}} [{{.Event.Attributes.subject}}] {{.Event.Attributes}}`, batch, `/shop [] {"content-type":"application/json","source":"/shop"}`},
		{`{{with .Event}}{{.ID}} {{.Data.id}} {{with .Data}}{{.total}} {{with .customer}}{{.name}}{{end}}{{end}}{{end}}`, batch, `o-4711 12345678901234567890 99.5 a"b`},
		{`{{$d := .Event.Data}}{{$d.total}} {{$c := $d.customer}}{{$c.name}} {{(.Event).Data.paid}} {{(.Event.Data).paid}}`, batch, `99.5 a"b true true`},
		{`{{(or .Event.Data.note .Event.Data.customer).name}} {{with .Event.Data.note | default .Event.Data.customer}}{{.name}}{{end}}`, batch, `a"b a"b`},
		{`{{if gt .Event.Data.total 50}}big{{end}} {{.Event.Data.total | printf "%07.2f"}} {{len .Event.Data.tags}}`, batch, "big 0099.50 2"},
		{`{{.Upstream}}{{.Upstream.Job}}{{.Upstream.Status}}{{if .Upstream}}no{{end}} {{json .Upstream}}`, batch, "0 null"},

		// Optional fields.
		{`{{get .Event.Data "customer" "name"}} [{{get .Event.Data "customer" "tier"}}] {{json (get .Event.Data "a" "b" "c")}}`, batch, `a"b [] null`},
		{`{{with get .Event.Data "coupon"}}no{{else}}none{{end}} {{get .Event.Data "coupon" | default "-"}} {{eq (get .Event.Data "x") "x"}}`, batch, "none - false"},
		{`{{(get .Event.Data "customer").name}} [{{(get .Event.Data "none").name}}] [{{get .Event.Data "note" "x"}}] {{json (get .Event.Data "note")}}`, batch, `a"b [] [] null`},
		{`[{{get .Event.Data "total" "x"}}] [{{get .Upstream "job"}}] {{get .Event.Data "total"}}`, batch, "[] [] 99.5"},

		// Bodies that are no objects.
		{`{{.Event.Data}} {{json .Event.Data}}`, body("plain"), `plain "plain"`},
		{`{{.Event.Data}} {{json .Event.Data}}`, body("1e400"), "1e400 1e400"},
		{`{{.Event.Data}} {{json .Event.Data}}`, body("[1, {}]"), "[1,{}] [1,{}]"},
		{`[{{.Event.Data}}] {{json .Event.Data}}`, body(""), "[] null"},
		{`{{.Event.Data.a}} {{.Event.Data.b}}`, body(`{"a": 1, "b": "\ud800", "a": 2}`), "2 \ufffd"},

		// The end of an occurrence.
		{`{{.Upstream.Job}} {{.Upstream.Job.Name}} {{.Upstream.Occurrence}} {{.Upstream.Outcome}} {{.Upstream.Status}}`, end, "etl/extract extract etl/extract@2026-03-01T09:00:00Z faulted 503"},
		{`{{json .Upstream.Message}} {{.Upstream.Response}} {{.Event.Data.outcome}}`, end, `"it is \"away\"" {"rows":12} faulted`},
		{`[{{.Event.Topic}}{{.Trigger.Topic}}{{.Trigger.Key}}] {{.Event.ID}} {{.Trigger.Count}}`, end, "[] etl/extract@2026-03-01T09:00:00Z 1"},

		// Runs without events.
		{`[{{.Event}}{{.Event.ID}}{{.Event.Time}}{{.Event.Data}}{{.Event.Data.a.b}}{{.Event.Attributes.a}}{{.Trigger}}{{.Upstream}}]`, attempt(), "[]"},
		{`{{.Event.Sequence}} {{.Trigger.Count}} {{len .Events}} {{.Events}}`, attempt(), "0 0 0 []"},
		{`{{json .Event}} {{json .Event.Data}} {{json .Event.Data.a}} {{json .Trigger}} {{json .Upstream}}`, attempt(), "null null null null null"},
		{`{{with .Event}}{{.Data.id}}{{else}}none{{end}} {{.Event.Data.id | default 5}} {{if .Event.Data.a}}a{{end}}`, attempt(), "none 5 "},
		{`{{gt .Event.Data.total 50}} {{lt .Event.Data.due .Nominal}} {{eq "x" .Event.Data.kind}} [{{printf "%d" .Event.Data.id}}]`, attempt(), "false true false []"},
		{`{{with .Event.Data}}{{.id}}{{end}}{{$d := .Event.Data}}[{{$d.id}}{{(or $d.a $d.b).id}}]`, attempt(), "[]"},
	} {
		c, err := readTemplate(t, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got, err := c.Render(test.attempt); err != nil || got.Body != test.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", test.text, got.Body, err, test.want)
		}
	}
}

// TestLargeBatch renders as many events as a batch can have.
func TestLargeBatch(t *testing.T) {
	large := fmt.Sprintf("%q", strings.Repeat("x", scheduler.MaxEventSize-200))
	a := started(t, nil, published(t, 1, large), published(t, 2, large), published(t, 3, large), published(t, 4, large), published(t, 5, large))
	c := must.Get(readTemplate(t, "{{json .Events}}"))(t)
	if m, err := c.Render(a); err != nil || len(m.Body) < len(large)*5 {
		t.Errorf("%d bytes, %v", len(m.Body), err)
	}
}

// TestEventErrors has the errors of attempts: the template was accepted.
func TestEventErrors(t *testing.T) {
	run := started(t, nil, published(t, 1, order))
	lost := attempt()
	lost.Cause = &scheduler.Cause{Event: "sales.orders", Count: 1}
	for _, test := range []struct {
		text    string
		attempt scheduler.Attempt
		want    string
	}{
		{"a\n{{.Event.Data.custmer}}", run, "line 2, column 9: .Event.Data has no member .custmer; it has .customer, .id, .note, .paid, .tags, .total; did you mean .customer?"},
		{"{{.Event.Data.customer.age}}", run, ".Event.Data.customer has no member .age; it has .String, .name"},
		{"{{.Event.Data.total.net}}", run, ".Event.Data.total is a number, and has no member .net"},
		{"{{.Event.Data.note.text}}", run, ".Event.Data.note is null, and has no member .text"},
		{"{{with .Event.Data}}{{.x}}{{end}}", run, "the value has no member .x"},
		{"{{$d := .Event.Data}}{{$d.x}}", run, "$d has no member .x"},
		{"{{.Event.Data.id}}", started(t, nil, published(t, 1, "")), ".Event.Data is null, and has no member .id"},
		{"{{eq .Event.Data.customer 1}}", run, "an object cannot be compared"},
		{"{{.Event.ID}}", lost, "the events that started the run are no longer stored"},
	} {
		c := must.Get(readTemplate(t, test.text))(t)
		if m, err := c.Render(test.attempt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n got %q, %v\nwant %s", test.text, m.Body, err, test.want)
		}
	}
}

// TestEventIsChecked has what is refused when a job is put.
func TestEventIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Event.Dat}}": "line 1, column 9: an event has no field .Dat; it has .Attributes, .Data, .ID, .Sequence, .Time, .Topic; did you mean .Data?",
		"{{.Evnt.Data}}": "the data has no field .Evnt; it has .Attempt, .Data, .Due, .Event, .Events, .Failure, .Job, .Key, .Nominal, " +
			".Occurrence, .Previous, .Trigger, .Upstream; did you mean .Event?",
		"{{if false}}{{.Upstream.Code}}{{end}}":           "an upstream occurrence has no field .Code; it has .Job, .Message, .Occurrence, .Outcome, .Response, .Status",
		"{{.Trigger.Cout}}":                               "a trigger has no field .Cout; it has .Count, .Key, .Topic; did you mean .Count?",
		"{{with .Event}}{{.Id}}{{end}}":                   "an event has no field .Id; it has .Attributes, .Data, .ID, .Sequence, .Time, .Topic; did you mean .ID?",
		"{{.Event.ID.x}}":                                 "a text has no field .x",
		"{{.Event.Attributes.source.host}}":               ".Event.Attributes.source is a text, and has no member .host",
		"{{.Events.x}}":                                   "a list has no field .x",
		"{{.Event.Data.x 1}}":                             "line 1, column 9: .Event.Data.x takes no arguments",
		"{{1 | .Event.Data.x}}":                           ".Event.Data.x takes no arguments",
		`{{member "" .Event.Data "x"}}`:                   `function "member" not defined`,
		"{{eq .Event 1}}":                                 "an event cannot be compared",
		"{{range .Events}}{{end}}":                        "{{range}} is not available",
		`{{date "2006" .Event.Data.due}}`:                 "wrong type for value; expected a time; got a value of an event",
		"{{if .Event}}{{date 5 .Event.Data.due}}{{end}}x": "expected string; found 5",
	} {
		if _, err := readTemplate(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestEventBreaksJSON warns of a value of an event that is not encoded.
func TestEventBreaksJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{"id": {{json .Event.Data.id}}, "all": {{json .Events}}}`: false,
		`{"id": {{.Event.Data.id}}}`:                               true,
		`{"why": "{{.Upstream.Message}}"}`:                         true,
	} {
		c := must.Get(readTemplate(t, text))(t)
		if got := c.BreaksJSON(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
