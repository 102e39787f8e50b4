package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

func TestOverlapAllow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(25*time.Second, http.StatusOK))
		start := time.Now()
		w.put("job", `{`+action+`, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 10, "count": 4}}`)
		time.Sleep(32 * time.Second)
		calls := w.sink.seen()
		if len(calls) != 4 {
			t.Fatalf("%d calls in 32 s, want 4", len(calls))
		}
		for i, c := range calls {
			if late := c.at.Sub(start.Add(time.Duration(i) * 10 * time.Second)); late < 0 || late > 100*time.Millisecond {
				t.Errorf("call %d is %v late", i, late)
			}
		}
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed completed completed")
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Status.Executions != 4 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		w.mustBeInOrder()
	})
}

// TestStatusCountsOccurrences shows an occurrence that faulted as one, beside the attempts that it took.
func TestStatusCountsOccurrences(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusServiceUnavailable, "" })
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(30 * time.Minute)
		s := w.get("job").Status
		if s.Occurrences != 1 || s.Faults != 1 || s.Executions != 5 || s.Failures != 5 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRunDisabledJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "state": "disabled", "recurrence": {"frequency": "Hour"}}`)
		if _, err := w.service.Trigger(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		if got, want := w.outcomes("job"), "completed/manual"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Executions != 1 || v.Status.Occurrences != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}
