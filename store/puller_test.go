package store_test

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestRoomIsNotExceeded: deliveries never exceed the room, and the rest arrives when room is available.
func TestRoomIsNotExceeded(t *testing.T) {
	inBubbles(t, map[string]int{"1": 1, "5": 5, "300": 300}, func(t *testing.T, w *harness, room int) {
		var free atomic.Int64
		free.Store(int64(room))
		wake := make(chan struct{}, 1)
		n := 2*room + 1
		h := w.deliver(w.store, func() int { return int(free.Load()) }, wake, func() { free.Add(-1) })
		w.fire(n)
		var held []*scheduler.Delivery
		for left := n; left > 0; {
			time.Sleep(time.Minute)
			for len(h.got) > 0 {
				held = append(held, <-h.got)
			}
			if want := min(left, room); len(held) != want {
				t.Fatalf("%d are delivered, want %d", len(held), want)
			}
			for _, d := range held {
				w.must(d.Lease.Ack())
			}
			left -= len(held)
			held = held[:0]
			free.Store(int64(room))
			wake <- struct{}{}
		}
		h.none(time.Minute)
	})
}

// TestNothingWithoutRoom: without room, nothing is requested.
func TestNothingWithoutRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		h := w.deliver(w.store, func() int { return 0 }, nil)
		w.fire(3)
		h.none(5 * time.Minute)
		other := w.deliver(w.store, wide, nil)
		for range 3 {
			if d := other.take(); d.Deliveries != 1 {
				t.Errorf("delivered for the %d. time", d.Deliveries)
			}
		}
	})
}

// TestPulling: batons arrive quickly, whatever happens to the pull request.
func TestPulling(t *testing.T) {
	type row struct {
		disturb func(w *harness)
		within  time.Duration
	}
	inBubbles(t, map[string]row{
		"at once": {func(*harness) {}, 50 * time.Millisecond},
		"after an hour of silence, in which requests expired": {func(*harness) {
			time.Sleep(time.Hour)
		}, 50 * time.Millisecond},
		"after a reconnect, which the server forgets requests at": {func(w *harness) {
			w.must(w.nc.ForceReconnect())
		}, 5 * time.Second},
		"after many reconnects": {func(w *harness) {
			for range 10 {
				w.must(w.nc.ForceReconnect())
				time.Sleep(time.Second)
			}
		}, 5 * time.Second},
		"after the consumer was made anew": {func(w *harness) {
			w.must(w.js.DeleteConsumer(w.t.Context(), "CARILLON_TIMERS_0", "workers"))
			time.Sleep(time.Minute)
			w.open()
		}, time.Second},
		"after the stream was made anew": {func(w *harness) {
			w.must(w.js.DeleteStream(w.t.Context(), "CARILLON_TIMERS_0"))
			time.Sleep(time.Minute)
			w.open()
		}, 35 * time.Second},
	}, func(t *testing.T, w *harness, test row) {
		h := w.deliver(w.store, wide, nil)
		time.Sleep(time.Second)
		test.disturb(w)
		_, other := w.open()
		began := time.Now()
		w.must(other.Fire(t.Context(), own, []byte("b"), 0))
		d := h.take()
		if took := time.Since(began); took > test.within {
			t.Errorf("delivered after %s, want %s", took, test.within)
		}
		w.must(d.Lease.Ack())
		h.none(time.Minute)
	})
}

// relay connects a client to one server after another.
type relay struct{ to atomic.Pointer[server.Server] }

// InProcessConn implements [nats.InProcessConnProvider].
func (r *relay) InProcessConn() (net.Conn, error) { return r.to.Load().InProcessConn() }

// TestAnotherServer: batons arrive shortly after a reconnect to a server that does not know the requests.
func TestAnotherServer(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		r := &relay{}
		r.to.Store(w.server)
		nc := connect(t, r)
		s := must.Get(open(t, nc, store.Config{}))(t)
		h := w.deliver(s, wide, nil)
		time.Sleep(time.Second)

		old := w.server
		w.server = storetest.Server(t)
		_, other := w.open()
		w.must(other.Fire(t.Context(), own, []byte("b"), 0))
		r.to.Store(w.server)
		began := time.Now()
		w.must(nc.ForceReconnect()) // before the old one announces its shutdown
		old.Shutdown()
		d := h.take()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("delivered after %s", took)
		}
		w.must(d.Lease.Ack())
		h.stop()
	})
}

// TestStopLosesNothing: messages in flight when a worker stops still reach it, so it can release them immediately.
func TestStopLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		h := w.deliver(w.store, func() int { return 1000 }, nil)
		w.fire(200)
		h.stop()
		taken := len(h.got)
		for range taken {
			w.must((<-h.got).Lease.Nak(0))
		}
		other := w.deliver(w.store, func() int { return 1000 }, nil)
		time.Sleep(time.Second)
		if n := len(other.got); n != 200 {
			t.Errorf("%d are delivered to the next worker, %d were to the first, want 200", n, taken)
		}
	})
}

// TestForeignMessage: a message on a fire subject without a job is removed and blocks no baton.
func TestForeignMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		must.Get(w.js.Publish(t.Context(), "carillon.fire.0.a.b.c.d", []byte("?")))(t)
		h := w.deliver(w.store, wide, nil)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		if d := h.take(); d.BatonKey != own {
			t.Errorf("delivered %+v", d)
		}
		time.Sleep(time.Second)
		if n := w.messages("CARILLON_TIMERS_0"); n != 1 {
			t.Errorf("%d messages are left, want the baton", n)
		}
	})
}

// TestLanesShareRoom: lanes that share room together request no more than the room.
func TestLanesShareRoom(t *testing.T) {
	const lanes, room = 4, 40
	inBubble(t, func(t *testing.T, w *harness) {
		s := must.Get(open(t, storetest.Connect(t, w.server), store.Config{Prefix: "many", Lanes: lanes}))(t)
		for i := range 20 * room {
			slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "c", Job: "job" + strconv.Itoa(i)}}
			w.must(s.Fire(t.Context(), slot, []byte("x"), 0))
		}
		var held atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for lane := range lanes {
			all.Go(func() {
				free := func() int { return room - int(held.Load()) }
				w.must(s.Deliver(ctx, lane, nil, free, func(*scheduler.Delivery) { held.Add(1) }))
			})
		}
		time.Sleep(5 * time.Second)
		if n := held.Load(); n < room*3/4 || n > room+lanes {
			t.Errorf("%d batons are held, where there is room for %d", n, room)
		}
		cancel()
		all.Wait()
	})
}
