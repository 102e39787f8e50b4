package worker_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// TestDisableWhileRunByHandIsPutOff disables a job whose run by hand its target holds back: the run is not the schedule's, and
// goes on to its end; the schedule does not.
func TestDisableWhileRunByHandIsPutOff(t *testing.T) {
	for name, again := range map[string]bool{"stays disabled": false, "enabled again": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				heal := w.ail()
				w.rules(breaker)
				w.openCircuit()
				w.put("job", `{"recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T01:00:00Z", `+quickly+`}`)
				asked := time.Now().UTC()
				id, err := w.service.TriggerAt(t.Context(), key("job"), asked)
				w.must(nil, err)
				time.Sleep(time.Second)
				w.must(w.service.Disable(t.Context(), key("job")))
				if repeated, err := w.service.TriggerAt(t.Context(), key("job"), asked); err != nil || repeated != id {
					t.Errorf("the same request again: %q, %v", repeated, err)
				}
				if again {
					w.must(w.service.Enable(t.Context(), key("job")))
				}
				heal()
				time.Sleep(5 * time.Minute)
				w.wantHistory("job", "postponed/manual completed/manual")
				n := len(w.sink.seen())
				if got := w.sink.seen()[n-1].key; got != id {
					t.Errorf("the last call has the key %s, want %s", got, id)
				}
				time.Sleep(2 * time.Hour)
				want := 0
				if again {
					want = 2
				}
				if got := len(w.sink.seen()) - n; got != want {
					t.Errorf("%d calls in two hours, want %d: %s", got, want, w.outcomes("job"))
				}
				if v := w.get("job"); v.Status.Executions != 1+want || v.Job.State.Final() {
					t.Errorf("state %s, status %+v", v.Job.State, v.Status)
				}
				w.mustBeInOrder()
			})
		})
	}
}

// slowSaves is a store that takes seconds to write a definition.
type slowSaves struct{ scheduler.Store }

// SaveJob takes two seconds.
func (s slowSaves) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	time.Sleep(2 * time.Second)
	return s.Store.SaveJob(ctx, k, data, replaces, final)
}

// EndJobs takes two seconds.
func (s slowSaves) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) []error {
	time.Sleep(2 * time.Second)
	return s.Store.EndJobs(ctx, jobs)
}

// TestEnableWhileEndIsWritten enables a job while a worker, which has found it disabled, writes down how far it got: the job
// goes on, without an audit.
func TestEnableWhileEndIsWritten(t *testing.T) {
	for name, manual := range map[string]bool{"by schedule": false, "by hand": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.startWorker(func(c *worker.Config) { c.Store = slowSaves{w.store} })
				w.sink.answers(after(20*time.Second, http.StatusOK))
				start := time.Now().Add(time.Hour)
				if !manual {
					start = time.Now().Add(5 * time.Second)
				}
				w.put("job", `{"startTime": "`+start.UTC().Format(time.RFC3339Nano)+`", "recurrence": {"frequency": "Hour"}, `+failOnce+`}`)
				if manual {
					time.Sleep(5 * time.Second)
					w.must(w.service.Trigger(t.Context(), key("job")))
				} else {
					time.Sleep(time.Until(start))
				}
				time.Sleep(10 * time.Second)
				w.must(w.service.Disable(t.Context(), key("job")))
				time.Sleep(11 * time.Second)
				if n := len(w.history("job")); n != 1 {
					t.Fatalf("%d records before the end is written", n)
				}
				w.must(w.service.Enable(t.Context(), key("job")))
				time.Sleep(150 * time.Minute)
				w.wantCalls(3)
				w.mustBeInOrder()
			})
		})
	}
}

// TestNewScheduleWhileEndIsWritten gives a job a new schedule while a worker writes down that it has completed: an audit is
// asked for at once, and the job goes on.
func TestNewScheduleWhileEndIsWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		looks := make(chan struct{}, 10)
		w.startWorker(func(c *worker.Config) {
			c.Store, c.OnTakeover = slowSaves{w.store}, func() { looks <- struct{}{} }
		})
		w.put("job", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		if n := len(w.history("job")); n != 1 {
			t.Fatalf("%d records before the end is written", n)
		}
		w.put("job", `{"startTime": "2000-01-01T00:10:00Z", `+failOnce+`}`)
		time.Sleep(15 * time.Second)
		if len(looks) == 0 {
			t.Fatal("nobody asked for an audit")
		}
		w.must(w.service.Audit(t.Context(), true))
		time.Sleep(time.Hour)
		w.wantCalls(2)
		w.mustBeInOrder()
	})
}

// unarmed is a store that moves no batons.
type unarmed struct{ scheduler.Store }

func (unarmed) Arm(context.Context, scheduler.Slot, []byte, time.Time, uint64) error {
	return scheduler.ErrUnavailable
}

// TestRunAfterEditCutShort edits a job, whose baton stays as it was, and runs it by hand: its new schedule begins all the same.
func TestRunAfterEditCutShort(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(time.Second)
		body := []byte(`{"recurrence": {"frequency": "Second", "interval": 10}}`)
		_, err := w.newServiceOn(unarmed{w.store}).Patch(t.Context(), service.Edit{Key: key("job"), Body: body})
		if !errors.Is(err, scheduler.ErrUnavailable) {
			t.Fatal(err)
		}
		_, err = w.service.Trigger(t.Context(), key("job"))
		for range 3 {
			if errors.Is(err, scheduler.ErrConflict) {
				time.Sleep(time.Second)
				_, err = w.service.Trigger(t.Context(), key("job"))
			}
		}
		w.must(nil, err)
		time.Sleep(time.Minute)
		account, err := w.service.Account(t.Context(), key("job"), "2000-01-01T00:00:00Z", "")
		w.must(nil, err)
		if account.Due < 7 || account.Lacking > 0 {
			t.Errorf("%d due, %d without a record: %v", account.Due, account.Lacking, account.Rows)
		}
	})
}
