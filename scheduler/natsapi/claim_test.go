package natsapi_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// TestPublisherOfASpecIsAClaim shows that what a publisher says of itself is in the result and in the audit log, as a claim,
// and that no header makes it more.
func TestPublisherOfASpecIsAClaim(t *testing.T) {
	w := newHarness(t)
	results := must.Get(w.connect().SubscribeSync("carillon.spec-result.>"))(t)
	w.await("the subscription", func() bool { return w.nc.Flush() == nil })
	w.ingest()
	m := nats.NewMsg("carillon.spec.put.default.claimed")
	m.Data = []byte(`{"action": {"type": "http", "request": {"method": "GET", "uri": "http://x.example"}}, "state": "disabled"}`)
	m.Header.Set(natsapi.ClaimHeader, "alice")
	m.Header.Set("Nats-Request-Info", `{"user":"admin"}`)
	must.Get(w.js.PublishMsg(t.Context(), m))(t)
	result := must.Get(results.NextMsg(patience))(t)
	if text := string(result.Data); !strings.Contains(text, `"claim":"alice"`) {
		t.Errorf("the result is %s", text)
	}
	entries, _, err := w.service.Trail(t.Context(), control.TrailQuery{}, v1.Page{})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if e := entries[0]; e.Claim != "alice" || e.By.Name != "" || e.By.Via != "nats" || e.SpecSequence != 1 {
		t.Errorf("told: %+v", e)
	}
}
