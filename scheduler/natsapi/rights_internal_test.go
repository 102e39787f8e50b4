package natsapi

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
)

// TestEveryEndpointHasARole checks that every subject of the table of operations has a function that answers it, and a role
// that may publish to it.
func TestEveryEndpointHasARole(t *testing.T) {
	for _, e := range endpoints() {
		if e.op != nil && !dispatch.Performs(e.op) {
			t.Errorf("nothing answers %s", e.subject)
		}
	}
	for _, e := range api.Endpoints() {
		subject := strings.NewReplacer("{j}", "*", "{id}", "*", "{name}", "*", "{n}", "*").Replace(e.Subject)
		if least, _ := permit.Least("api." + subject); least == "" {
			t.Errorf("no role may publish to %s", e.Subject)
		}
	}
	if least, global := permit.Least("api.unfollow.*"); least != "reader" || global {
		t.Errorf("to end a live tail is for %q", least)
	}
	for _, verb := range verbs {
		if least, _ := permit.Least("spec." + verb + ".{c}.*"); least != "operator" {
			t.Errorf("a spec to %s is for %q", verb, least)
		}
	}
}
