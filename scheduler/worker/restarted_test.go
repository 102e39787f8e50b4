package worker_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// TestRestartWithNothingLeft edits a job, while its baton is held, to a schedule that has no time left: the job is over.
func TestRestartWithNothingLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "startTime": "2000-01-01T00:00:20Z"}`)
		time.Sleep(19800 * time.Millisecond)
		w.put("job", `{`+action+`, "startTime": "1999-01-01T00:00:00Z", "recurrence": {"frequency": "Day", "endTime": "1999-02-01T00:00:00Z"}}`)
		time.Sleep(time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Completed || len(w.sink.seen()) > 0 {
			t.Errorf("it is %s after %d calls", v.Job.State, len(w.sink.seen()))
		}
		if n := w.deliveries(); n > 10 {
			t.Errorf("its baton was delivered %d times", n)
		}
		w.mustBeInOrder()
	})
}

// deliveries is how many batons were delivered so far.
func (w *world) deliveries() uint64 {
	w.t.Helper()
	js, err := jetstream.New(w.nc)
	w.must(nil, err)
	c, err := js.Consumer(w.t.Context(), "CARILLON_TIMERS_0", "workers")
	w.must(nil, err)
	return c.CachedInfo().Delivered.Consumer
}

// TestRestartBeginsNothingTwice has a baton turn up that was armed for the schedule before, as by an edit that another one has
// overtaken, when the present schedule has run: what that has left goes on, and nothing of it runs again, also while nobody writes ends.
func TestRestartBeginsNothingTwice(t *testing.T) {
	for name, test := range map[string]struct{ present, want string }{
		"ended":   {`{` + action + `}`, "completed"},
		"goes on": {`{` + action + `, "recurrence": {"frequency": "Second", "interval": 40, "count": 2}}`, "completed completed"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.stopWorker()
				w.startWorker(func(c *worker.Config) { c.Store, c.Logger = endless{w.store}, nil })
				w.put("job", `{`+action+`, "startTime": "2000-01-01T01:00:00Z"}`)
				slot := scheduler.Slot{Key: key("job")}
				stale, err := w.store.Waiting(t.Context(), slot)
				w.must(nil, err)
				w.put("job", test.present)
				time.Sleep(10 * time.Second)
				if st, err := w.store.Waiting(t.Context(), slot); err == nil {
					w.must(nil, w.store.Fire(t.Context(), slot, stale.Data, st.Revision))
				} else {
					w.must(nil, w.store.Fire(t.Context(), slot, stale.Data, 0))
				}
				time.Sleep(2 * time.Minute)
				w.wantHistory("job", test.want)
				if v := w.get("job"); v.Job.State != scheduler.Completed {
					t.Errorf("it is %s", v.Job.State)
				}
			})
		})
	}
}
