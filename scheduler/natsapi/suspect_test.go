package natsapi_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// deadly is a source of a process that ends while it takes in a spec of that name.
type deadly struct {
	natsapi.Source

	name string
	died chan struct{}
}

// PublishResult never returns to a process that has ended.
func (d deadly) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	if name == d.name && verdict == "accepted" {
		d.died <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	return d.Source.PublishResult(ctx, verdict, name, body)
}

// mortal runs a process that ends when it takes in a spec of that name. die waits for that, and ends its connection as a
// process that is killed does: nothing that it holds is answered for.
func (w *harness) mortal(name string) (die func()) {
	w.tb.Helper()
	nc := w.connect()
	st := must.Get(store.Open(w.ctx, nc, store.Config{Storage: w.storage}))(w.tb)
	source := deadly{st, name, make(chan struct{}, 1)}
	w.ingest(func(c *natsapi.IngestConfig) {
		c.Source = source
		c.Concurrency = 1 << 16 // as many queues: two jobs of one queue would wait for each other
	})
	return func() {
		w.tb.Helper()
		select {
		case <-source.died:
			time.Sleep(time.Second) // what else it has done by then is acknowledged
			nc.Close()
		case <-time.After(patience):
			w.tb.Fatal("the spec was not taken in")
		}
	}
}

// TestDeadlySpecIsSetAside has processes end one after the other while they take in a spec: after the first time it is taken
// in alone, after two more it is rejected with the reason, and nothing else is.
func TestDeadlySpecIsSetAside(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		const evil = "default.evil"
		results := must.Get(w.nc.SubscribeSync("carillon.spec-result.*.default.*"))(t)
		next := w.results()
		expect := func(job, verdict string) {
			t.Helper()
			if e := next(); e.Job != job || e.Verdict != verdict {
				t.Fatalf("got %s %s, want %s %s", e.Job, e.summary(), job, verdict)
			}
		}
		die := w.mortal(evil)
		w.publish("put."+evil, later)
		w.publish("put.default.beside", later)
		expect("default/beside", "accepted") // at its first delivery, it is under way beside others
		die()

		die = w.mortal(evil)
		w.delivered(1)
		for i := range 2 {
			time.Sleep(15 * time.Second) // until it is delivered again
			w.publish("put.default.behind", later)
			time.Sleep(5 * time.Second)
			if n, _, err := results.Pending(); err != nil || n > 1+i {
				t.Errorf("%d results, %v: something is taken in beside it", n, err)
			}
			die()
			die = w.mortal(evil)
		}
		verdicts := map[string]int{}
		for range 3 { // in the order in which they are delivered again
			e := next()
			verdicts[e.Job+" "+e.Verdict]++
			if e.Verdict == "rejected" && (e.Error.Code != "BadRequest" || !strings.Contains(e.Error.Message, "set aside: two processes ended")) {
				t.Errorf("rejected with %+v", e.Error)
			}
		}
		if want := map[string]int{"default/behind accepted": 2, "default/evil rejected": 1}; !maps.Equal(verdicts, want) {
			t.Errorf("got %v, want %v", verdicts, want)
		}
		w.awaitNoSpecs()
		w.ingest()
		w.publish("put.default.other", later)
		expect("default/other", "accepted")
	})
}

// TestGivenBackSpecIsTakenIn has a process stop over and over with a spec in its hands: that is no reason to reject it.
func TestGivenBackSpecIsTakenIn(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		next := w.results()
		w.publish("put.default.job", later)
		for range 6 {
			source := newFaulty(w.store, func(string) bool { return true })
			stop := w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
			<-source.refused
			stop()
		}
		w.ingest()
		if e := next(); e.Verdict != "accepted" {
			t.Errorf("got %s", e.summary())
		}
	})
}
