package worker_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// The pace of a [sluggish] store: what is looked up finds no record yet, and what
// is fired comes when the run that was fired before is through with its attempt.
const (
	sluggishRecord = time.Second
	sluggishFire   = 5 * time.Second
)

// sluggish is a store that takes its time to write.
type sluggish struct{ scheduler.Store }

func (s sluggish) Append(ctx context.Context, r *scheduler.Record) error {
	time.Sleep(sluggishRecord)
	return s.Store.Append(ctx, r)
}

func (s sluggish) Fire(ctx context.Context, slot scheduler.Slot, body []byte, waiting uint64) error {
	time.Sleep(sluggishFire)
	return s.Store.Fire(ctx, slot, body, waiting)
}

// TestDetachedRunTakenOverBesideItsBaton kills a worker while a run is detached, so
// that the detached run and the job's own baton are delivered again at once, and
// has the run end its attempt while the baton is looked at. Nothing runs twice, and
// the run is counted once.
func TestDetachedRunTakenOverBesideItsBaton(t *testing.T) {
	for _, test := range []struct {
		name, job string
		status    int
		before    bool // dies before the baton is passed on, otherwise right after
		want      string
		counted   int // executions
	}{
		{
			"passed on, and it has ended", `{` + action + `, "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 2}}`,
			http.StatusOK, false, "completed completed", 2,
		},
		{
			"not passed on, and it waits for its retry", `{"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"},
			"retryPolicy": {"retryInterval": "PT10S", "retryCount": 1}},
			"overlap": "allow", "recurrence": {"frequency": "Minute", "count": 2}}`,
			http.StatusInternalServerError, true, "failed failed faulted failed failed faulted", 4,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := w.startMortal(&mortal{point: "pass on", before: test.before})
				w.sink.answers(after(200*time.Millisecond, test.status))
				w.put("job", test.job)
				m.awaitDeath(t)
				w.startWorker(func(c *worker.Config) { c.Store = sluggish{w.store} })
				time.Sleep(5 * time.Minute)
				w.wantHistory("job", test.want)
				if got := len(w.sink.seen()); got != test.counted && got != test.counted+1 {
					t.Errorf("%d calls, want %d, and at most one of them repeated", got, test.counted)
				}
				if v := w.get("job"); !v.Job.State.Final() || v.Status.Executions != test.counted {
					t.Errorf("state %s, status %+v, want final with %d executions", v.Job.State, v.Status, test.counted)
				}
			})
		})
	}
}
