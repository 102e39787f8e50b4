package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// TestStopWhileMatching stops a worker that matches an event for many jobs while the store hangs.
func TestStopWhileMatching(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		away := &atomic.Bool{}
		st := on(w.store, "Fire ScheduleAt", func(do func() error) error {
			if !away.Load() {
				return do()
			}
			time.Sleep(5 * time.Second) // as store/conn.PublishTimeout
			return scheduler.ErrUnavailable
		})
		w.startWorker(func(c *engine.Config) { c.Store, c.Grace = st, 3*time.Second })
		for i := range 50 {
			w.putTriggered(fmt.Sprintf("a%d", i), `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		}
		time.Sleep(time.Second)
		away.Store(true)
		w.publish("orders", "", "1")
		time.Sleep(time.Second)
		began := time.Now()
		w.stopWorker()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the worker stopped after %v", took)
		}
	})
}

// TestStopWhileLoading stops a worker that loads a herd while the store hangs.
func TestStopWhileLoading(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.putMany(3000, "j%d", `{"startTime": "2000-01-01T00:10:00Z", `+action+`}`)
		away := &atomic.Bool{}
		st := on(w.store, "LoadJob LoadJobs", func(do func() error) error {
			if !away.Load() {
				return do()
			}
			time.Sleep(5 * time.Second) // as store/conn.PublishTimeout
			return scheduler.ErrUnavailable
		})
		time.Sleep(9*time.Minute - time.Since(epoch))
		away.Store(true)
		w.startWorker(func(c *engine.Config) { c.Store, c.Grace = st, 3*time.Second })
		time.Sleep(59 * time.Second)
		began := time.Now()
		w.stopWorker()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the worker stopped after %v", took)
		}
	})
}

// undelivered is a store without deliveries.
type undelivered struct{ scheduler.Store }

var errUndelivered = errors.New("no delivery")

func (undelivered) Deliver(context.Context, int, <-chan struct{}, func() int, func(*scheduler.Delivery)) error {
	time.Sleep(time.Second)
	return errUndelivered
}

// TestDeliveryFails has a delivery fail: Run returns its error.
func TestDeliveryFails(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		wk := engine.New(engine.Config{Store: undelivered{w.store}, Actions: w.actions(), Secrets: w.vault})
		ended := make(chan error, 1)
		go func() { ended <- wk.Run(t.Context()) }()
		select {
		case err := <-ended:
			if !errors.Is(err, errUndelivered) {
				t.Errorf("got %v", err)
			}
		case <-time.After(10 * time.Minute):
			t.Error("Run does not return after a delivery failed")
		}
	})
}

// lameLane is a store in which the lane of the jobs a* has no leader.
func lameLane(st scheduler.Store, away *atomic.Bool) *hooked {
	return &hooked{st, func(o op, do func() error) error {
		if away.Load() && strings.HasPrefix(o.slot.Job, "a") && (o.name == "Fire" || o.name == "ScheduleAt" || o.name == "Reschedule") {
			return scheduler.ErrUnavailable
		}
		return do()
	}}
}

// TestEventsOfOtherLanes has many events for a job in a lane that takes no writes: events start the jobs of other lanes.
func TestEventsOfOtherLanes(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		away := &atomic.Bool{}
		w.startWorker(func(c *engine.Config) { c.Store = lameLane(w.store, away) })
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		w.putTriggered("b", `{`+action+`, "trigger": {"on": {"source": "others"}}}`)
		time.Sleep(time.Second)
		away.Store(true)
		for range 70 {
			w.publish("orders", "", "1")
		}
		w.publish("others", "", "1")
		time.Sleep(10 * time.Minute)
		w.wantHistory("b", "completed")
		away.Store(false)
		time.Sleep(time.Minute)
	})
}

// TestDetachedInOtherLanes has as many due runs as slots in a lane that takes no writes: jobs of other lanes run beside their batons.
func TestDetachedInOtherLanes(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		away := &atomic.Bool{}
		w.startWorker(func(c *engine.Config) { c.Store, c.Concurrency = lameLane(w.store, away), 8 })
		w.putMany(8, "a%d", `{"startTime": "2000-01-01T00:01:00Z", "overlap": "allow", "recurrence": {"frequency": "Day"}, `+action+`}`)
		w.put("b", `{"startTime": "2000-01-01T00:02:00Z", "overlap": "allow", "recurrence": {"frequency": "Day"}, `+action+`}`)
		time.Sleep(time.Second)
		away.Store(true)
		time.Sleep(10 * time.Minute)
		w.wantHistory("b", "completed")
		away.Store(false)
		time.Sleep(time.Minute)
	})
}

// TestMergeIntoDamagedBaton ends a detached run while the waiting baton of its job is damaged: it tries again now and then.
func TestMergeIntoDamagedBaton(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(30*time.Second, 200))
		var tries atomic.Int64
		st := on(w.store, "Waiting", func(do func() error) error {
			time.Sleep(time.Millisecond) // the round trip
			tries.Add(1)
			return do()
		})
		w.startWorker(func(c *engine.Config) { c.Store = st })
		w.put("a", `{"startTime": "2000-01-01T00:01:00Z", "overlap": "allow", "recurrence": {"frequency": "Hour"}, `+action+`}`)
		time.Sleep(70 * time.Second)
		slot := scheduler.BatonKey{Key: key("a")}
		waits, err := w.store.Waiting(t.Context(), slot)
		w.must(err)
		w.must(w.store.ScheduleAt(t.Context(), slot, []byte("damaged"), epoch.Add(time.Hour), waits.Revision))
		time.Sleep(15 * time.Second)
		before := tries.Load()
		time.Sleep(time.Minute)
		if n := tries.Load() - before; n > 600 {
			t.Errorf("%d tries in a minute", n)
		}
	})
}

// TestStopWithDetachedRun stops a worker while runs beside the baton of their job are in progress: it waits for them, and not for
// the baton, which it does not run any more.
func TestStopWithDetachedRun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(3*time.Second, 200))
		w.startWorker()
		w.put("a", `{"overlap": "allow", "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "count": 20}, `+action+`}`)
		time.Sleep(5500 * time.Millisecond)
		began := time.Now()
		w.stopWorker()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the worker stopped after %v", took)
		}
		w.startWorker()
		time.Sleep(time.Minute)
		w.wantHistory("a", strings.TrimSpace(strings.Repeat("completed ", 20)))
		w.wantNoRepeats()
	})
}
