package natsapi_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// TestPublishedVerbs publishes a spec of every verb for a job that does not exist: a verb that is not implemented would be
// accepted, or rejected because of a defect.
func TestPublishedVerbs(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	next := w.results()
	for _, verb := range slices.Sorted(maps.Keys(api.Published())) {
		w.publish(verb+".default.absent", "{}")
		e := next()
		if e.Verdict != "rejected" || e.Error == nil || e.Error.Code == "InternalError" {
			t.Errorf("%s: got %s", verb, e.summary())
		}
	}
}

// TestOperationTakesNoBody checks that the request for an operation refuses a body, and the list of operations takes a page.
func TestOperationTakesNoBody(t *testing.T) {
	w := newHarness(t)
	w.api()
	for subject, want := range map[string]string{"operation-get.x": "400", "operation-get.x.default": "400", "operation-list": "200"} {
		if status, answer := w.ask(t, subject, `{"$top": 1}`); status != want {
			t.Errorf("%s: got %s %s", subject, status, answer)
		}
	}
	if status, answer := w.ask(t, "operation-get.x", "{}"); status != "404" {
		t.Errorf("got %s %s", status, answer)
	}
}
