package natsapi_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/store/storetest"
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

// TestLeases has specs wait much longer than the server's ten seconds: they
// are not delivered again.
func TestLeases(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		source := slow{newFaulty(w.store, func(string) bool { return false }), 25 * time.Second}
		w.ingest(func(c *natsapi.IngestConfig) { c.Source, c.Concurrency = source, 1 })
		sub := must.Get(w.nc.SubscribeSync("carillon.spec-result.>"))(t)
		w.publish("put.default.one", later)
		w.publish("put.default.two", later)
		for range 2 {
			m := must.Get(sub.NextMsg(time.Minute))(t)
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

// cutOff is a source of which the first delivery stands no more once it is asked, as after the connection was lost.
type cutOff struct {
	natsapi.Source

	dropped atomic.Int64
}

// DeliverSpecs hands specs on.
func (c *cutOff) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	return c.Source.DeliverSpecs(ctx, wake, room, func(s scheduler.PublishedSpec) {
		if s.Deliveries == 1 {
			s.Lease = lostLease{s.Lease, c}
		}
		take(s)
	})
}

// lostLease is one that does not stand.
type lostLease struct {
	scheduler.Lease

	source *cutOff
}

func (lostLease) Stands() bool { return false }

func (l lostLease) Drop() {
	l.source.dropped.Add(1)
	_ = l.Nak(0) // whoever has it now is this process, too
}

// TestSpecOfAnother: a spec that another process may have been given meanwhile, which may have carried out later ones of its
// job since, is let go, and carried out by whoever has it.
func TestSpecOfAnother(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		source := &cutOff{Source: w.store}
		w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
		sub := must.Get(w.nc.SubscribeSync("carillon.spec-result.>"))(t)
		w.publish("put.default.one", later)
		m := must.Get(sub.NextMsg(time.Minute))(t)
		if e := decode(t, m); e.Verdict != "accepted" {
			t.Errorf("got %s", e.summary())
		}
		if m, err := sub.NextMsg(time.Minute); err == nil {
			t.Errorf("and then %s", m.Data)
		}
		w.awaitNoSpecs()
		if n := source.dropped.Load(); n != 1 {
			t.Errorf("it was let go %d times", n)
		}
	})
}
