package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// queue delivers the messages of a store as long as there is room.
type queue func(ctx context.Context, s *store.Store, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error

// ofBatons delivers those of the first lane.
func ofBatons(ctx context.Context, s *store.Store, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return s.Deliver(ctx, 0, wake, room, take)
}

// ofSpecs delivers specs, each as the delivery of a detached run of its name.
func ofSpecs(ctx context.Context, s *store.Store, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return s.DeliverSpecs(ctx, wake, room, func(p scheduler.PublishedSpec) {
		take(&scheduler.Delivery{BatonKey: beside(p.Name), Sequence: p.Sequence, Deliveries: p.Deliveries, Lease: p.Lease})
	})
}

// ofRecords delivers records, each as the delivery of a detached run of the name of its job.
func ofRecords(ctx context.Context, s *store.Store, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	now := s.Now() //nolint:contextcheck // what Now asks the server is for later calls
	return s.DeliverRecords(ctx, now, wake, room, func(e scheduler.DeliveredEvent) {
		take(&scheduler.Delivery{BatonKey: beside(e.Event.Upstream.Job.Job), Sequence: e.Event.Sequence, Deliveries: e.Deliveries, Lease: e.Lease})
	})
}

// hands collects the deliveries of a queue until the test ends or stop is called.
type hands struct {
	t    *testing.T
	got  chan *scheduler.Delivery
	stop func()
}

// deliver delivers batons of a store as long as there is room, and calls took for each.
func (w *harness) deliver(s *store.Store, room func() int, wake <-chan struct{}, took ...func()) *hands {
	return w.collect(ofBatons, s, room, wake, took...)
}

func (w *harness) collect(of queue, s *store.Store, room func() int, wake <-chan struct{}, took ...func()) *hands {
	ctx, cancel := context.WithCancel(w.t.Context())
	h, ended := &hands{t: w.t, got: make(chan *scheduler.Delivery, 1000)}, make(chan error, 1)
	go func() {
		ended <- of(ctx, s, wake, room, func(d *scheduler.Delivery) {
			for _, f := range took {
				f()
			}
			h.got <- d
		})
	}()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Deliver: %v", err)
		}
	})
	w.t.Cleanup(h.stop)
	return h
}

func wide() int { return 100 }

// take waits for a delivery.
func (h *hands) take() *scheduler.Delivery {
	h.t.Helper()
	select {
	case d := <-h.got:
		return d
	case <-time.After(time.Minute):
		h.t.Fatal("nothing is delivered")
		return nil
	}
}

// none checks that nothing is delivered for d.
func (h *hands) none(d time.Duration) {
	h.t.Helper()
	select {
	case got := <-h.got:
		h.t.Errorf("%s is delivered, for the %d. time", got.Body, got.Deliveries)
	case <-time.After(d):
	}
}

// TestDelivery checks the delivery of a fired timer.
func TestDelivery(t *testing.T) {
	inBubbles(t, map[string]scheduler.BatonKey{"own": own, "detached": beside("x1")}, func(t *testing.T, w *harness, slot scheduler.BatonKey) {
		h := w.deliver(w.store, wide, nil)
		due := time.Now().Add(3 * time.Hour)
		w.must(w.store.ScheduleAt(t.Context(), slot, []byte("body"), due, 0))
		h.none(time.Until(due) - time.Second)
		d := h.take()
		st := must.Get(w.store.Running(t.Context(), slot))(t)
		if d.BatonKey != slot || string(d.Body) != "body" || d.Deliveries != 1 || d.Sequence != st.Revision {
			t.Errorf("delivered %+v, want sequence %d", d, st.Revision)
		}
		if late := d.Fired.Sub(due); late < 0 || late > 300*time.Millisecond {
			t.Errorf("fired %s after its time", late)
		}
	})
}

// TestLease checks the fate of a delivered baton after each action of its holder.
func TestLease(t *testing.T) {
	type row struct {
		after  func(w *harness, d *scheduler.Delivery) // the holder's action
		within time.Duration                           // until redelivery; 0: never
		gone   bool                                    // removed from the server
	}
	inBubbles(t, map[string]row{
		"held for minutes: it stays": {func(*harness, *scheduler.Delivery) {}, 0, false},
		"done with: it is removed":   {func(w *harness, d *scheduler.Delivery) { w.must(d.Lease.Ack()) }, 0, true},
		"given back: another has it at once": {func(w *harness, d *scheduler.Delivery) {
			w.must(d.Lease.Nak(0))
		}, 100 * time.Millisecond, false},
		"its holder has died: another has it after ten seconds": {func(w *harness, _ *scheduler.Delivery) {
			w.nc.Close()
		}, 11 * time.Second, false},
		"its holder died late: ten seconds from the last renewal": {func(w *harness, _ *scheduler.Delivery) {
			time.Sleep(5 * time.Minute)
			w.nc.Close()
		}, 11 * time.Second, false},
		"its holder died after it was done with": {func(w *harness, d *scheduler.Delivery) {
			w.must(d.Lease.Ack())
			w.must(w.nc.Flush())
			w.nc.Close()
		}, 0, true},
	}, func(t *testing.T, w *harness, test row) {
		h := w.deliver(w.store, wide, nil)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		d := h.take()
		_, second := w.open()
		other := w.deliver(second, wide, nil)
		go h.stop() // takes no more, and holds what it has
		time.Sleep(time.Second)
		test.after(w, d)
		began := time.Now()
		if test.within == 0 {
			other.none(5 * time.Minute)
		} else {
			again := other.take()
			if took := time.Since(began); took > test.within {
				t.Errorf("delivered again after %s, want %s", took, test.within)
			}
			if again.Deliveries != 2 || again.Sequence != d.Sequence || string(again.Body) != "b" {
				t.Errorf("delivered again as %+v", again)
			}
		}
		if _, err := second.Running(t.Context(), own); errors.Is(err, scheduler.ErrNotFound) != test.gone {
			t.Errorf("gone is %v, want %t", err, test.gone)
		}
	})
}

// TestLeaseOutlivesItsDelivery: leases are renewed after delivery has stopped, so a stopping worker can finish its
// attempts.
func TestLeaseOutlivesItsDelivery(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		h := w.deliver(w.store, wide, nil)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		d := h.take()
		h.stop()
		_, second := w.open()
		other := w.deliver(second, wide, nil)
		other.none(5 * time.Minute)
		w.must(d.Lease.Ack())
		other.none(5 * time.Minute)
	})
}

const renewing = "store/failover.(*leases).renew"

// TestLeaseGoroutine: a goroutine renews leases only while any lease is held.
func TestLeaseGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		h := w.deliver(w.store, wide, nil)
		is := func(when string, want bool) {
			t.Helper()
			time.Sleep(time.Second)
			if running(renewing) != want {
				t.Errorf("%s: renewing is %t", when, !want)
			}
		}
		is("nothing is held", false)
		var held []*scheduler.Delivery
		for _, name := range []string{"x1", "x2"} {
			w.must(w.store.Fire(t.Context(), beside(name), []byte("b"), 0))
			held = append(held, h.take())
		}
		is("two are held", true)
		w.must(held[0].Lease.Ack())
		is("one is held", true)
		w.must(held[1].Lease.Nak(0))
		again := h.take() // immediately
		is("it is held again", true)
		w.must(again.Lease.Ack())
		is("none is held", false)
		w.must(again.Lease.Ack()) // a second time
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		late := h.take()
		is("another is held", true)
		h.none(5 * time.Minute)
		w.nc.Close()
		is("the connection is closed", false)
		mustBe(t, "Ack", late.Lease.Ack(), scheduler.ErrUnavailable)
		mustBe(t, "Nak", late.Lease.Nak(0), scheduler.ErrUnavailable)
	})
}

// TestLeaseAcrossReconnect: a short disconnect loses no lease.
func TestLeaseAcrossReconnect(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		h := w.deliver(w.store, wide, nil)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		d := h.take()
		for range 5 {
			w.must(w.nc.ForceReconnect())
			h.none(30 * time.Second)
		}
		if w.nc.Status() != nats.CONNECTED {
			t.Fatalf("the connection is %s", w.nc.Status())
		}
		w.must(d.Lease.Ack())
		time.Sleep(time.Second)
		_, err := w.store.Running(t.Context(), own)
		mustBe(t, "acknowledged", err, scheduler.ErrNotFound)
	})
}
