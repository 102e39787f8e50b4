package store_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestCloseRecords checks that the delivery of records begins anew after it was closed, and survives that another
// process closes it.
func TestCloseRecords(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.store.CloseRecords(t.Context()))
		ended := func(job string) {
			t.Helper()
			w.record(scheduler.Key{Collection: "c", Job: job}, scheduler.OutcomePostponed, "")
			w.record(scheduler.Key{Collection: "c", Job: job}, scheduler.OutcomeCompleted, "")
		}
		comes := func(h *hands, want string) {
			t.Helper()
			d := h.take()
			if d.BatonKey.Detached != want {
				t.Errorf("%s is delivered, want %s", d.BatonKey.Detached, want)
			}
			w.must(d.Lease.Ack())
		}
		first := w.collect(ofRecords, w.store, wide, nil)
		time.Sleep(time.Second)
		ended("a")
		comes(first, "a")
		first.stop()
		w.must(w.store.CloseRecords(t.Context()))
		ended("unseen")
		time.Sleep(time.Minute)
		again := w.collect(ofRecords, w.store, wide, nil)
		time.Sleep(time.Second)
		ended("b")
		comes(again, "b")
		time.Sleep(time.Minute)
		_, other := w.open()
		w.must(other.CloseRecords(t.Context()))
		ended("c")
		comes(again, "c")
		again.none(time.Minute)
		c := must.Get(w.js.Consumer(t.Context(), "CARILLON_HISTORY", "workers"))(t)
		if got := c.CachedInfo().Config.MaxWaiting; got != 4096 {
			t.Errorf("%d requests may wait", got)
		}
	})
}
