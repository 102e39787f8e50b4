package events_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

const root = "/console/events"

// job returns a job with a trigger.
func job(t *testing.T, w *consoletest.Harness, on string) string {
	t.Helper()
	return `{"trigger": {"on": [` + on + `]}, "action": {"type": "http", "request": {"method": "GET", "uri": "` + w.Target() + `"}}}`
}

// TestEvents publishes events by the form, shows what they start and why not, and tests and replays one.
func TestEvents(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Has(w.Get(root), "No events match.", "Publish…")
	w.Put("default/invoice", job(t, w, `{"source": "orders", "filter": "event.data.total > 100"}`))
	w.Put("default/broken", job(t, w, `{"source": "orders", "filter": "event.data.absent > 1"}`))
	form := url.Values{"collection": {"default"}, "event": {"orders"}, "id": {"o-7"}}
	form.Set("body", `{"total": 120, "note": "<b>`+"\u202e"+`"}`)
	publish := func(note string) string {
		t.Helper()
		r := w.Post(root+"/new", form)
		if r.Status != http.StatusSeeOther {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		w.Has(w.Get(r.Header.Get("Location")), note)
		return r.Header.Get("Location")
	}
	one := publish("The event is stored.")
	publish("Duplicate")
	w.Await("the run", func() bool { return strings.Contains(w.Get(one), "completed") })
	w.Has(w.Get(one), "Event default.orders, sequence 1", "o-7", "&#34;total&#34;: 120", "&lt;b&gt;⟦U&#43;202E⟧", "!\u202e",
		"/console/jobs/default/invoice/runs/", "skipped", "trigger.on[0].filter: event.data.absent is missing")
	form.Set("id", "o-8")
	form.Set("body", `{"total": 7, "absent": 0}`)
	small := publish("The event is stored.")
	w.Has(w.Get(small), "No effect", "filter was false: event.data.total is 7")
	w.Has(w.Get(one+"?job=invoice"), "Test with default/invoice", "selects the event", "Starts a run")
	w.Has(w.Get(small+"?job=invoice"), "the filter is false")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, one+"?job=none", ""), "job default/none")

	replay := func(sequence, to, note string) {
		t.Helper()
		r := w.Post(root+"/replay", url.Values{"sequence": {sequence}, "job": {"invoice"}})
		if r.Status != http.StatusSeeOther || r.Header.Get("Location") != to {
			t.Fatalf("%d %v %s", r.Status, r.Header, r.Body)
		}
		w.Has(w.Get(to), note)
	}
	replay("1", "/console/jobs/default/invoice", "A run with event 1 starts.")
	replay("2", small, "Job default/invoice does not run: filter was false")

	form.Set("event", "no<b>")
	w.Wants(http.StatusBadRequest, w.Post(root+"/new", form), "event: ", `value="no&lt;b&gt;"`, `{&#34;total&#34;: 7`)
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, root+"/default/99", ""))
}

// TestList filters events, and pages through them.
func TestList(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("sales")
	publish := func(collection, name, body string) {
		t.Helper()
		w.OK(w.Service.PublishEvent(t.Context(), scheduler.Topic{Collection: collection, Name: name}, nil, []byte(body)))
	}
	publish("sales", "refunds", `"first"`)
	for range 60 {
		publish("default", "orders", `"other"`)
	}
	page := w.Get(root)
	w.Has(page, "default.orders", "Older events", "!sales.refunds")
	w.Has(w.Get(root+"?before=12"), "sales.refunds", "Back to the newest events", "!Older events")
	w.Has(w.Part(root+"?collection=sales"), "sales.refunds", "!default.orders", "!<html")
	w.Has(w.Get(root+"?text=first"), "sales.refunds", "!default.orders")
	w.Has(w.Get(root+"?event=orders&text=none"), "No events match.")
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, root+"?event=<b>", ""), "!<b>")
	w.Has(w.Get(root+"/default/2"), "No job listens to this event.")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, root+"/sales/2", "")) // of another collection
}

// TestHostile shows a body whose indentation would be too large as it is, and a name that no API accepts with signs.
func TestHostile(t *testing.T) {
	w := consoletest.New(t)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	w.OK(w.Service.PublishEvent(t.Context(), scheduler.Topic{Collection: "default", Name: "deep"}, nil, []byte(deep)))
	w.Has(w.Get(root+"/default/1"), deep)
	w.OK(w.NATS.Request("carillon.event.default.<b>\u202ename", nil, consoletest.Patience))
	for _, path := range []string{root, root + "/default/2"} {
		w.Has(w.Get(path), "default.&lt;b&gt;⟦U&#43;202E⟧name", "!\u202e", "!<b>")
	}
}

// TestSources shows sources and changes their state.
func TestSources(t *testing.T) {
	w := consoletest.New(t)
	const list, one = "/console/sources", "/console/sources/default/shop"
	w.Has(w.Get(list), "No sources.")
	w.OK(w.Service.PutSource(t.Context(), consoletest.Key("default/shop"),
		[]byte(`{"type": "webhook", "description": "<b>", "webhook": {"verify": {"type": "github", "secret": "topsecret"}}}`)))
	w.Has(w.Get(list), one, "webhook", "enabled")
	w.Has(w.Get(one), "/events/default/shop", "type: github", "!topsecret", "!<b>", "/console/events?collection=default&amp;event=shop")
	for state, note := range map[string]string{"disabled": "receives no events", "enabled": "receives events"} {
		if r := w.Post(one, url.Values{"state": {state}}); r.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", state, r.Status, r.Body)
		}
		w.Has(w.Get(one), note, `class="state `+state)
	}
	w.Wants(http.StatusBadRequest, w.Post(one, url.Values{"state": {"faulted"}}), "must be enabled or disabled")
	w.OK(w.Store.Sources().Save(t.Context(), "default.damaged", []byte("{"), 0))
	w.Has(w.Get(list), "damaged")
	w.Has(w.Get("/console/sources/default/damaged"), "damaged", `class="problem"`, `!name="state"`)
}

// TestRights shows nobody what they may not do, and lets them not do it.
func TestRights(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("sales")
	for _, collection := range []string{"default", "sales"} {
		w.OK(w.Service.PublishEvent(t.Context(), scheduler.Topic{Collection: collection, Name: "orders"}, nil, nil))
		w.OK(w.Service.PutSource(t.Context(), consoletest.Key(collection+"/orders"), []byte(`{"type": "nats", "nats": {"subject": "x"}}`)))
	}
	w.Put("default/secret", job(t, w, `{"subject": "sales.orders"}`))
	w.Be("reader@sales")
	w.Has(w.Get(root), "sales.orders", "!default.orders", "!Publish…")
	w.Has(w.Get("/console/sources"), "sales/orders", "!default/orders")
	w.Has(w.Get(root+"/sales/2"), "Test", "!Replay", "!default/secret")
	w.HasNone(w.Get("/console/sources/sales/orders"), `method="post"`)
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, root+"?collection=default", ""))
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, root+"/sales/2?job=default/secret", ""))
	for _, grant := range []string{"reader@sales", "operator@sales"} {
		w.Be(grant)
		for path, form := range map[string]url.Values{
			root + "/new":                     {"collection": {"default"}, "event": {"orders"}},
			root + "/replay":                  {"sequence": {"2"}, "job": {"default/secret"}},
			"/console/sources/default/orders": {"state": {"disabled"}},
		} {
			w.Wants(http.StatusForbidden, w.Post(path, form))
		}
		w.Wants(http.StatusForbidden, w.Do(http.MethodGet, root+"/default/1", ""))
		w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/sources/default/orders", ""))
	}
}
