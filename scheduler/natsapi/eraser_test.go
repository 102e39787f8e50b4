package natsapi_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/store/storetest"
)

// laborious is a source that takes its time to overwrite a spec, as a server does whose blocks are full.
type laborious struct {
	natsapi.Source

	erased *atomic.Int64
}

// EraseSpec takes fourteen milliseconds.
func (l laborious) EraseSpec(ctx context.Context, sequence uint64) error {
	l.erased.Add(1)
	time.Sleep(14 * time.Millisecond)
	return l.Source.EraseSpec(ctx, sequence)
}

// TestErasingHoldsUpNothing floods an ingest with specs that are rejected: that they are overwritten takes a part of the time
// only, and what comes behind them need not wait for all of it.
func TestErasingHoldsUpNothing(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		next := w.results()
		const flood = 1000
		for i := range flood {
			w.publish(fmt.Sprintf("put.default.j%d", i), `{"no": "job"}`)
		}
		w.publish("put.default.good", later)
		began, source := time.Now(), laborious{w.store, new(atomic.Int64)}
		w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
		for range flood + 1 {
			next()
		}
		if took, all := time.Since(began), flood*14*time.Millisecond; took > all/10 {
			t.Errorf("it took %s; to overwrite all of them takes %s", took, all)
		}
		w.awaitNoSpecs()
	})
}

// TestFloodLeavesNothing floods an ingest with rejected specs that hold a secret, and with accepted ones: soon nothing of the
// secret lies on the disk any more, although not each was overwritten.
func TestFloodLeavesNothing(t *testing.T) {
	w := newWorldIn(t, jetstream.FileStorage)
	next := w.results()
	const suffix, flood = "-in-a-flood", 300
	erased := new(atomic.Int64)
	w.ingest(func(c *natsapi.IngestConfig) { c.Source = laborious{w.store, erased} })
	for i := range flood {
		w.publish(fmt.Sprintf("put.default.j%d", i), `{"no": "job", "password": "`+secret+suffix+strings.Repeat("x", 4000)+`"}`)
	}
	for range flood {
		if e := next(); e.Verdict != "rejected" {
			t.Fatalf("got %s", e.summary())
		}
	}
	if n := erased.Load(); n == 0 || n > flood/2 {
		t.Errorf("%d of %d are overwritten one by one", n, flood)
	}
	w.awaitNoSpecs()
	w.await("the disk to be clean", func() bool { return len(w.found(suffix)) == 0 })
	w.publish("put.default.after", later)
	if e := next(); e.Verdict != "accepted" {
		t.Errorf("got %s", e.summary())
	}
}

// keeping is a source that counts the bytes of the specs in the hands of an ingest, which it has wait.
type keeping struct {
	natsapi.Source

	bytes *atomic.Int64
}

// DeliverSpecs counts what is delivered.
func (k keeping) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	return k.Source.DeliverSpecs(ctx, wake, room, func(s scheduler.PublishedSpec) {
		k.bytes.Add(int64(len(s.Body)))
		take(s)
	})
}

// PublishResult does not come back before the ingest stops.
func (k keeping) PublishResult(ctx context.Context, _, _ string, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestBacklogIsBoundedInBytes has many large specs wait: an ingest that does not get on takes some of them only.
func TestBacklogIsBoundedInBytes(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		body := `{"description": "` + strings.Repeat("x", 16_000) + `"}`
		for i := range 3000 {
			must.Get(w.js.PublishAsync(fmt.Sprintf("carillon.spec.put.default.j%d", i), []byte(body)))(t)
		}
		<-w.js.PublishAsyncComplete()
		source := keeping{w.store, new(atomic.Int64)}
		w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
		time.Sleep(time.Minute)
		if n := source.bytes.Load(); n < 8<<20 || n > 28<<20 {
			t.Errorf("%d MiB are held", n>>20)
		}
	})
}
