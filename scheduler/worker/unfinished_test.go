package worker_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestEnableGoesOnWithRetry disables jobs whose last occurrence waits for a retry or an errorAction, and enables them: they go on with
// that, under the definition that they have by then, and do not end as if they had succeeded.
func TestEnableGoesOnWithRetry(t *testing.T) {
	const policy = `"retryPolicy": {"retryCount": 2, "retryInterval": "PT10S"}`
	main := `{"action": {"type": "Http", "request": {"uri": "http://main.example/", "method": "POST"}, ` + policy + `}`
	alarm := `{"action": ` + to("main", `, "errorAction": {"type": "Http", "request": {"uri": "http://alarm.example/", "method": "POST"}, `+policy+`}`)
	for name, test := range map[string]struct{ job, calls, outcomes string }{
		"one-shot":    {main, "main main main", "failed failed failed faulted"},
		"last":        {main + `, "recurrence": {"frequency": "Hour", "count": 1}`, "main main main", "failed failed failed faulted"},
		"mended":      {main, "main mended", "failed completed"},
		"by hand":     {main, "main by-hand mended", "failed completed/manual completed"},
		"errorAction": {alarm, "main alarm/error alarm/error alarm/error", "failed failed/error failed/error failed/error faulted"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.sink.answers(failingAt("main alarm"))
				w.put("job", test.job+`}`)
				time.Sleep(time.Second)
				w.must(w.service.Disable(t.Context(), key("job")))
				time.Sleep(time.Minute)
				if name == "by hand" {
					w.put("job", strings.ReplaceAll(test.job, "main.", "by-hand.")+`}`)
					w.must(w.service.Trigger(t.Context(), key("job")))
					time.Sleep(time.Second)
				}
				if strings.Contains(test.calls, "mended") {
					w.put("job", strings.ReplaceAll(test.job, "main.", "mended.")+`}`)
				}
				w.must(w.service.Enable(t.Context(), key("job")))
				time.Sleep(10 * time.Minute)
				if got := w.told(); got != test.calls {
					t.Errorf("told %q, want %q", got, test.calls)
				}
				if got := w.outcomes("job"); got != test.outcomes {
					t.Errorf("history %q, want %q", got, test.outcomes)
				}
				v := w.get("job")
				if faulted := strings.HasSuffix(test.outcomes, "faulted"); faulted != (v.Job.State == scheduler.Faulted) || !v.Job.State.Final() {
					t.Errorf("state %s", v.Job.State)
				}
				if v.Status.Executions != len(w.sink.seen()) {
					t.Errorf("status %+v, want %d executions", v.Status, len(w.sink.seen()))
				}
				w.mustBeInOrder()
			})
		})
	}
}

// TestEnableAfterFault disables a one-shot while it runs, and enables it when it has faulted.
func TestEnableAfterFault(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Second)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(time.Minute)
		w.must(w.service.Enable(t.Context(), key("job")))
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed faulted"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Executions != 1 || v.Status.Faults != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}
