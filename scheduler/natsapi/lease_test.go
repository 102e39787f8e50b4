package natsapi_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// slow is a source that takes its time to store a result.
type slow struct {
	*faulty

	pause time.Duration
}

// PublishResult waits before it stores.
func (s slow) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	time.Sleep(s.pause)
	return s.faulty.PublishResult(ctx, verdict, name, body)
}

// freshTimers empties the pool of timers that the NATS client keeps for the
// whole process: a timer of a bubble must not be used outside of it.
func freshTimers() {
	runtime.GC() //nolint:revive // a sync.Pool is empty after two collections
	runtime.GC() //nolint:revive // see above
}

// TestLeases has specs wait much longer than the server's ten seconds: they
// are not delivered again.
func TestLeases(t *testing.T) {
	freshTimers()
	defer freshTimers()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldIn(t, jetstream.MemoryStorage)
		source := slow{newFaulty(w.store, func(string) bool { return false }), 25 * time.Second}
		w.ingest(func(c *natsapi.IngestConfig) { c.Source, c.Concurrency = source, 1 })
		sub, err := w.nc.SubscribeSync("carillon.spec-result.>")
		if err != nil {
			t.Fatal(err)
		}
		w.publish("put.default.one", later)
		w.publish("put.default.two", later)
		for range 2 {
			m, err := sub.NextMsg(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if e := decode(t, m); e.Verdict != "accepted" {
				t.Errorf("got %s", e.summary())
			}
		}
		w.awaitNoSpecs()
		if got := source.deliveries(); len(got) != 2 {
			t.Errorf("delivered %v", got)
		}
	})
}
