package node_test

import (
	"testing"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestSource puts a source, whose message starts a job.
func TestSource(t *testing.T) {
	s := nodetest.Start(t, node.Config{Delivery: builtin.Config{SourceSubjects: []string{"shop.>"}}}, nil)
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: "orders"}
	_, _, err := s.Node.Service().PutSource(t.Context(), k, []byte(`{"type": "nats", "nats": {"subject": "shop.orders"}}`))
	must.Do(t, err)
	s.Put(t, "ship", `{"trigger": {"on": [{"source": "orders"}]}, "action": {"type": "natsMessage", "natsMessage": {
		"subject": "shop.shipped", "message": "shipped"}}}`)
	shipped := must.Get(s.Conn.SubscribeSync("shop.shipped"))(t)
	must.Await(t, "the run", func() bool {
		must.Do(t, s.Conn.Publish("shop.orders", []byte("1")), s.Conn.Flush())
		n, _, err := shipped.Pending()
		must.Do(t, err)
		return n > 0
	})
	shown := must.Get(s.Node.Service().Source(t.Context(), k))(t)
	if shown.Status == nil || !shown.Status.Running || shown.Status.Received == 0 || shown.Status.LastEvent.IsZero() {
		t.Errorf("status %+v", shown.Status)
	}
}
