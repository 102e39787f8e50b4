package natsapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
)

// TestEveryEndpointHasARole shows that no endpoint of the micro service is missing in the table of permissions.
func TestEveryEndpointHasARole(t *testing.T) {
	for _, e := range slices.Concat(endpoints, tailEndpoints) {
		if strings.HasPrefix(e.name, "malformed") {
			continue
		}
		name := "api." + e.subject
		switch {
		case strings.HasSuffix(name, ".*.*") && strings.HasPrefix(e.subject, "operation-"):
			name = strings.TrimSuffix(name, "*") + "{c}" // the collection follows the id
		case strings.HasPrefix(e.subject, "operation-get.") || strings.HasPrefix(e.subject, "operation-cancel."), strings.HasPrefix(e.subject, "secret-"):
		default:
			name = strings.Replace(name, "*", "{c}", 1)
		}
		if least, _ := permit.Least(name); least == "" {
			t.Errorf("%s is nobody's", name)
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
