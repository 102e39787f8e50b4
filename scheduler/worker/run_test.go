package worker_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

func TestRunWaitingJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC()
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		time.Sleep(30 * time.Second)
		id, err := w.service.Trigger(t.Context(), key("job"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		calls := w.sink.seen()
		if len(calls) != 2 || calls[1].key != id {
			t.Fatalf("%d calls, want 2, the second with the key %s", len(calls), id)
		}
		time.Sleep(time.Hour)
		want := "completed completed/manual completed completed"
		if got := w.outcomes("job"); got != want {
			t.Errorf("history %q, want %q: a run by hand does not use up the count", got, want)
		}
		for i, c := range w.sink.seen()[2:] {
			if due := start.Add(time.Duration(i+1) * time.Minute); c.at.Sub(due).Abs() > time.Second {
				t.Errorf("occurrence at %s, want %s: the schedule goes on as planned", c.at, due)
			}
		}
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Status.Executions != 4 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}

func TestRunBusyJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(c *call) (int, string) { return after(5*time.Second, http.StatusInternalServerError)(c) })
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Second)
		if _, err := w.service.Trigger(t.Context(), key("job")); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a running job: %v", err)
		}
		time.Sleep(10 * time.Second)
		if _, err := w.service.Trigger(t.Context(), key("job")); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a job that waits for a retry: %v", err)
		}
		if _, err := w.service.Trigger(t.Context(), key("none")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("no job: %v", err)
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

func TestOverlapSkip(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(25*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(58 * time.Second)
		want := "completed skipped(overlap 2) completed skipped(overlap 2)"
		if got := w.outcomes("job"); got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		r := w.history("job")[1]
		if r.To.Sub(r.From) != 10*time.Second {
			t.Errorf("skipped from %s to %s", r.From, r.To)
		}
	})
}

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
		if got, want := w.outcomes("job"), "completed completed completed completed"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Status.Executions != 4 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		w.mustBeInOrder()
	})
}

// A one-off run of an overlapping job is retried in its own slot, and its
// faults count for the job.
func TestOverlapAllowRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`}, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 12, "count": 2}}`)
		time.Sleep(2 * time.Minute)
		v := w.get("job")
		if s := v.Status; v.Job.State != scheduler.Faulted || s.Executions != 6 || s.Failures != 6 || s.Faults != 2 {
			t.Errorf("state %s, status %+v", v.Job.State, s)
		}
		w.mustBeInOrder()
	})
}

func TestJitter(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC().Add(time.Minute)
		w.put("job", `{`+action+`, "jitter": "PT5M", "startTime": "`+start.Format(time.RFC3339Nano)+`",
			"recurrence": {"frequency": "Minute"}}`)
		time.Sleep(30 * time.Minute)
		offsets := map[time.Duration]bool{}
		for i, c := range w.sink.seen() {
			d := c.at.Sub(start.Add(time.Duration(i) * time.Minute)).Truncate(10 * time.Millisecond)
			if d < 0 || d >= time.Minute {
				t.Errorf("occurrence %d is %v after its nominal time; jitter must not pass the next one", i, d)
			}
			offsets[d] = true
		}
		if len(offsets) < 20 {
			t.Errorf("only %d different offsets", len(offsets))
		}
	})
}
