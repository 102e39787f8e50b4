package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/emersion/go-ical"
)

// calendar reads a calendar of coming runs with a library of others.
func (w *harness) calendar(path string) (events []ical.Event, tag string) {
	w.t.Helper()
	res := w.do(http.MethodGet, path, "")
	if res.status != http.StatusOK || !strings.HasPrefix(res.header.Get("Content-Type"), "text/calendar") ||
		!strings.HasPrefix(res.header.Get("Cache-Control"), "private") {
		w.t.Fatalf("%s: %d %v %s", path, res.status, res.header, res.body)
	}
	c, err := ical.NewDecoder(strings.NewReader(res.body)).Decode()
	if err != nil {
		w.t.Fatalf("%v: %s", err, res.body)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(res.body, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			w.t.Errorf("line %q", line)
		}
	}
	return c.Events(), res.header.Get("ETag")
}

// TestRuns reads the coming runs of jobs back: of one, of a collection and of all, in their order, the same twice.
func TestRuns(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/other", "{}")
	const action = `"action": {"type": "Http", "request": {"uri": "http://x.example", "method": "GET"}}}`
	w.must(http.MethodPut, "/jobCollections/default/jobs/daily", `{"timeZone": "Europe/Berlin", "description": "all, of it; and more",
		"recurrence": {"cron": "0 9 * * *"}, `+action)
	w.must(http.MethodPut, "/jobCollections/other/jobs/hourly", `{"startTime": "2026-01-01T00:30:00Z", "recurrence": {"frequency": "Hour"}, `+action)
	w.must(http.MethodPut, "/jobCollections/other/jobs/off", `{"state": "disabled", "recurrence": {"cron": "0 * * * *"}, `+action)
	const path = "/jobCollections/default/jobs/daily/runs.ics"
	events, tag := w.calendar(path + "?days=10")
	if len(events) != 10 {
		t.Fatalf("%d events", len(events))
	}
	seen := map[string]bool{}
	for i, e := range events {
		at, err := e.DateTimeStart(nil)
		name, _ := e.Props.Text(ical.PropSummary)
		text, _ := e.Props.Text(ical.PropDescription)
		uid, _ := e.Props.Text(ical.PropUID)
		link := e.Props.Get(ical.PropURL)
		if err != nil || name != "default/daily" || !strings.HasPrefix(text, "all, of it; and more\n") || !strings.Contains(text, "09:00:00 CE") ||
			seen[uid] || e.Props.Get(ical.PropDateTimeStamp) == nil || link == nil || link.Value != w.api.URL+"/jobCollections/default/jobs/daily" {
			t.Errorf("%d: %s %v %v", i, at, e.Props, err)
		}
		seen[uid] = true
	}
	if res := w.do(http.MethodGet, path+"?days=10", "", "If-None-Match: "+tag); res.status != http.StatusNotModified || res.body != "" {
		t.Errorf("the same again: %d %s", res.status, res.body)
	}
	if again, _ := w.calendar("/runs.ics?days=10&max=200"); len(again) != 200 {
		t.Errorf("all: %d events", len(again))
	} else if uid, _ := again[0].Props.Text(ical.PropUID); uid == "" {
		t.Errorf("%v", again[0])
	}
	if of, _ := w.calendar("/jobCollections/other/runs.ics?days=2"); len(of) != 48 {
		t.Errorf("of a collection: %d events", len(of))
	}
	if of, _ := w.calendar("/jobCollections/other/jobs/off/runs.ics"); len(of) != 0 {
		t.Errorf("of a disabled job: %d events", len(of))
	}
	for path, want := range map[string]int{
		"/jobCollections/other/jobs/none/runs.ics": http.StatusNotFound, "/jobCollections/none/runs.ics": http.StatusNotFound,
		"/runs.ics?days=0": http.StatusBadRequest, "/runs.ics?max=10001": http.StatusBadRequest, "/runs.ics?top=1": http.StatusBadRequest,
	} {
		if res := w.do(http.MethodGet, path, ""); res.status != want {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
	}
}
