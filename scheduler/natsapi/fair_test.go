package natsapi_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// TestFloodWaitsBehindItself: a connection that sends many requests at once does not keep another one waiting until all
// of them are answered.
func TestFloodWaitsBehindItself(t *testing.T) {
	w := newHarness(t)
	w.api(func(c *natsapi.APIConfig) { c.Concurrency = 16 })
	const many = 200
	flood, other := w.connect(), w.connect()
	inbox := nats.NewInbox()
	answers := make(chan *nats.Msg, many)
	must.Get(flood.ChanSubscribe(inbox+".*", answers))(t)
	for range many {
		body := []byte(`{"recurrence": {"cron": "* * * * *"}, "count": 1000}`)
		must.Do(t, flood.PublishRequest("carillon.api.preview", inbox+".x", body))
	}
	must.Do(t, flood.Flush())
	m, err := other.RequestWithContext(w.ctx, "carillon.api.preview", []byte(`{"recurrence": {"cron": "0 9 * * *"}}`))
	if err != nil || m.Header.Get("Carillon-Status") != "200" {
		t.Fatalf("%v, %v", m, err)
	}
	if n := len(answers); n > many/2 {
		t.Errorf("%d requests were answered before it", n)
	}
	for range many {
		if m := <-answers; m.Header.Get("Carillon-Status") != "200" {
			t.Errorf("%s: %s", m.Header, m.Data)
		}
	}
}
