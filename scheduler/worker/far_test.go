package worker_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// farAway are instants that nanoseconds since 1970 do not reach in 64 bits, the last one there is among them.
var farAway = map[string]string{"soon-after": "2263-01-01T00:00:00Z", "last": "9999-12-31T23:59:59Z"}

// TestFarAwayWaits shows that what is due after the year 2262 waits like anything else: no worker has it, it can be run by hand,
// and an audit finds it in order.
func TestFarAwayWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for name, start := range farAway {
			w.put(name, `{`+action+`, "startTime": "`+start+`"}`)
			w.put(name+"-often", `{`+action+`, "startTime": "`+start+`", "jitter": "PT24H", "recurrence": {"frequency": "Day"}}`)
		}
		time.Sleep(time.Minute)
		if n := len(w.sink.seen()); n != 0 {
			t.Fatalf("%d calls", n)
		}
		for name, start := range farAway {
			w.mustWait(name, start)
			w.mustWait(name+"-often", start)
			id, err := w.service.Trigger(t.Context(), key(name))
			w.must(nil, err)
			time.Sleep(time.Second)
			if calls := w.sink.seen(); calls[len(calls)-1].key != id {
				t.Errorf("%s: called with the key %s, want %s", name, calls[len(calls)-1].key, id)
			}
			w.mustWait(name, start)
		}
		w.mustBeInOrder()
	})
}

// mustWait fails the test unless the job's baton waits for its start.
func (w *world) mustWait(name, start string) {
	w.t.Helper()
	v := w.get(name)
	if at := v.Status.Next.Format(time.RFC3339); v.Status.Running || at[:13] < start[:13] || v.Job.State != scheduler.Enabled {
		w.t.Errorf("%s: state %s, status %+v, want it to wait for %s", name, v.Job.State, v.Status, start)
	}
	if _, err := w.store.Waiting(w.t.Context(), scheduler.Slot{Key: key(name)}); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

// TestFarAwayIsArmedAgain gives a worker batons long before their time, as a timer does that is set as far ahead as timers go:
// they wait again, and nothing else happens.
func TestFarAwayIsArmedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		slot := scheduler.Slot{Key: key("job")}
		w.put("job", `{`+action+`, "startTime": "2263-01-01T00:00:00Z"}`)
		w.put("soon", `{`+action+`, "startTime": "`+time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339Nano)+`"}`)
		for _, slot := range []scheduler.Slot{slot, {Key: key("soon")}} {
			before, err := w.store.Waiting(t.Context(), slot)
			w.must(nil, err)
			w.must(nil, w.store.Fire(t.Context(), slot, before.Data, before.Revision))
			time.Sleep(time.Second)
			after, err := w.store.Waiting(t.Context(), slot)
			if err != nil {
				t.Fatalf("%s: %v", slot.Key, err)
			}
			if !bytes.Equal(after.Data, before.Data) {
				t.Errorf("%s waits with\n%s, want\n%s", slot.Key, after.Data, before.Data)
			}
			if _, err := w.store.Running(t.Context(), slot); err == nil {
				t.Errorf("%s: a worker holds it", slot.Key)
			}
		}
		time.Sleep(2*time.Hour + time.Second)
		w.wantHistory("soon", "completed")
		w.wantHistory("job", "")
	})
}

// ahead is a store whose clock has reached a time.
type ahead struct {
	scheduler.Store

	fired time.Time
}

func (a ahead) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return a.Store.Deliver(ctx, lane, wake, room, func(d *scheduler.Delivery) {
		d.Fired = a.fired
		take(d)
	})
}

// TestLateClockHolds: a worker whose clock is half an hour behind that of the store holds what is due by that one. It does not arm it
// again: the timer would fire at once, again and again.
func TestLateClockHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.stopWorker()
		slot, due := scheduler.Slot{Key: key("job")}, time.Now().Add(30*time.Minute)
		w.put("job", `{`+action+`, "startTime": "`+due.UTC().Format(time.RFC3339Nano)+`"}`)
		w.startWorker(func(c *worker.Config) { c.Store = ahead{c.Store, due.Add(-time.Second)} })
		before, err := w.store.Waiting(t.Context(), slot)
		w.must(nil, err)
		w.must(nil, w.store.Fire(t.Context(), slot, before.Data, before.Revision))
		time.Sleep(time.Minute)
		if _, err := w.store.Running(t.Context(), slot); err != nil {
			t.Errorf("no worker holds it: %v", err)
		}
		time.Sleep(30 * time.Minute)
		w.wantHistory("job", "completed")
	})
}
