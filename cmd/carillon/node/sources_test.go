package node_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
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
	must.Await(t, "the status", func() bool { // an event is counted after it is stored, so its run may be earlier
		status := must.Get(s.Node.Service().Source(t.Context(), k))(t).Status
		return status != nil && status.Running && status.Received > 0 && !status.LastEvent.IsZero()
	})
}

// TestWebhookStatus shows in both processes the event of a webhook that one has received, and the request that the other
// has refused.
func TestWebhookStatus(t *testing.T) {
	keys := seal.NewKeyring(must.Get(seal.NewKey("k"))(t))
	s := nodetest.Start(t, node.Config{Keys: keys}, nil)
	nc := must.Get(nats.Connect(s.NATS))(t)
	t.Cleanup(func() { node.CloseConn(nc) })
	other := nodetest.Run(t, node.Config{Conn: nc, Keys: keys}, nil)
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: "shop"}
	const doc = `{"type": "webhook", "webhook": {"verify": {"type": "token", "secret": "s"}}}`
	_, _, err := s.Node.Service().PutSource(t.Context(), k, []byte(doc))
	must.Do(t, err)
	send := func(to *nodetest.Scheduler, token string) {
		t.Helper()
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, to.API+"/events/default/shop", strings.NewReader("1")))(t)
		req.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(req)
		must.Do(t, err)
		must.Do(t, answer.Body.Close())
	}
	status := func(of *nodetest.Scheduler) *source.Status {
		return must.Get(of.Node.Service().Source(t.Context(), k))(t).Status
	}
	must.Await(t, "the event and the refusal", func() bool { // the processes learn of the source by a watch
		send(s, "s")
		send(other, "t")
		one := status(s)
		return one != nil && one.Received > 0 && one.Refused > 0
	})
	must.Await(t, "the same status", func() bool {
		one, same := status(s), status(other)
		return cmp.Equal(one, same) && one.Running && !one.LastEvent.IsZero() &&
			strings.Contains(one.LastError, "401, the sender is not verified")
	})
}
