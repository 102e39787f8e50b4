package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestLoad counts waiting, undelivered and held batons, and a spec.
func TestLoad(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		wantLoad(t, w, "nothing", scheduler.LaneLoad{}, 0)
		for i := range 3 {
			slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}}
			w.must(w.store.ScheduleAt(ctx, slot, []byte("b"), time.Now().Add(time.Hour), 0))
		}
		w.must(w.store.Fire(ctx, own, []byte("b"), 0))
		must.Get(w.nc.Request("carillon.spec.put.c.job", []byte("{}"), time.Second))(t) // acknowledged when stored
		time.Sleep(time.Second)                                                         // the server updates the consumer's counts shortly after storing
		wantLoad(t, w, "one has fired", scheduler.LaneLoad{Waiting: 3, Running: 1, Pending: 1}, 1)

		taken := make(chan *scheduler.Delivery, 1)
		wake := make(chan struct{})
		room := 1
		go func() {
			_ = w.store.Deliver(ctx, 0, wake, func() int { free := room; room = 0; return free }, func(d *scheduler.Delivery) { taken <- d })
		}()
		d := <-taken
		wantLoad(t, w, "a worker has it", scheduler.LaneLoad{Waiting: 3, Running: 1}, 1)
		w.must(d.Lease.Ack())
		time.Sleep(time.Second)
		wantLoad(t, w, "it is done", scheduler.LaneLoad{Waiting: 3}, 1)
		_, _, err := w.store.PublishEvent(ctx, scheduler.Topic{Collection: "c", Name: "e"}, nil, nil)
		w.must(err)
		if load := must.Get(w.store.Load(ctx))(t); load.Events != 1 {
			t.Errorf("an event is not counted: %+v", load)
		}
		w.nc.Close()
		if _, err := w.store.Load(ctx); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("without connection: %v", err)
		}
	})
}

func wantLoad(t *testing.T, w *harness, when string, lane scheduler.LaneLoad, specs int) {
	t.Helper()
	got, err := w.store.Load(t.Context())
	if diff := cmp.Diff(scheduler.Load{Lanes: []scheduler.LaneLoad{lane}, Specs: specs}, got); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got):\n%s", when, err, diff)
	}
}
