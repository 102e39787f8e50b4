package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// strand makes the server count all fired batons as acknowledged, as after a kill between an acknowledgement and the
// removal. A consumer for a single subject acknowledges a later message of that subject, and thereby all.
func (w *harness) strand() {
	w.t.Helper()
	ctx := w.t.Context()
	old := must.Get(w.js.Consumer(ctx, "CARILLON_TIMERS_0", "workers"))(w.t)
	cfg := old.CachedInfo().Config
	all := cfg.FilterSubject
	w.must(w.js.DeleteConsumer(ctx, "CARILLON_TIMERS_0", "workers"))
	cfg.FilterSubject = "carillon.fire.0.zz.last"
	c := must.Get(w.js.CreateConsumer(ctx, "CARILLON_TIMERS_0", cfg))(w.t)
	must.Get(w.js.Publish(ctx, cfg.FilterSubject, nil))(w.t)
	m := must.Get(c.Next())(w.t)
	w.must(m.DoubleAck(ctx))
	cfg.FilterSubject = all
	must.Get(w.js.UpdateConsumer(ctx, "CARILLON_TIMERS_0", cfg))(w.t)
}

// TestUndelivered: only running batons that are never redelivered are found, and Discard removes one by its sequence.
func TestUndelivered(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		undelivered := func() []scheduler.UndeliveredBaton {
			t.Helper()
			return must.Get(s.Undelivered(ctx, 0))(t)
		}
		if got := undelivered(); got != nil {
			t.Errorf("in an empty store: %v", got)
		}
		w.must(s.Fire(ctx, own, []byte("own"), 0))
		w.must(s.Fire(ctx, beside("x"), []byte("beside"), 0))
		w.must(s.ScheduleAt(ctx, beside("y"), []byte("waits"), time.Now().Add(time.Hour), 0))
		if got := undelivered(); got != nil {
			t.Errorf("before they are delivered: %v", got)
		}
		w.strand()
		h := w.holder(10)
		h.none(time.Minute)
		got := undelivered()
		want := []scheduler.UndeliveredBaton{{BatonKey: own, Body: []byte("own"), Sequence: 1}, {BatonKey: beside("x"), Body: []byte("beside"), Sequence: 2}}
		same := func(a, b scheduler.UndeliveredBaton) bool {
			return a.BatonKey == b.BatonKey && bytes.Equal(a.Body, b.Body) && a.Sequence == b.Sequence
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("found %v, want %v", got, want)
		}

		w.must(s.Fire(ctx, scheduler.BatonKey{Key: alike[0]}, []byte("held"), 0)) // delivered, not acknowledged
		held := h.take()
		time.Sleep(time.Minute)
		w.must(s.Reschedule(ctx, own, []byte("again"), time.Time{}, 1))
		w.must(s.Discard(ctx, own, 1))
		again := h.take()
		if again.BatonKey != own || string(again.Body) != "again" {
			t.Errorf("delivered %s %s", again.BatonKey, again.Body)
		}
		w.must(again.Lease.Ack())
		time.Sleep(time.Second)
		if got := undelivered(); !slices.EqualFunc(got, want[1:], same) {
			t.Errorf("found %v, want %v", got, want[1:])
		}
		w.must(s.Discard(ctx, own, 1)) // already removed
		w.must(s.Discard(ctx, beside("x"), 2))
		w.must(held.Lease.Ack())
		time.Sleep(time.Second)
		if got := undelivered(); got != nil || w.messages("CARILLON_TIMERS_0") != 1 {
			t.Errorf("in the end: %v, and %d messages", got, w.messages("CARILLON_TIMERS_0"))
		}
	})
}
