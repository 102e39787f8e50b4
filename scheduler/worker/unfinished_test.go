package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// TestDisableLetsBegunEnd disables jobs whose occurrence waits for a retry or an errorAction: it ends as usual, under the
// definition that it began with, whether the job is enabled meanwhile or not. Every occurrence that began has its last record.
func TestDisableLetsBegunEnd(t *testing.T) {
	const policy = `"retryPolicy": {"retryCount": 2, "retryInterval": "PT1M"}`
	main := `{"action": {"type": "Http", "request": {"uri": "http://main.example/", "method": "POST"}, ` + policy + `}`
	alarm := `{"action": ` + to("main", `, "errorAction": {"type": "Http", "request": {"uri": "http://alarm.example/", "method": "POST"}, `+policy+`}`)
	hourly, minutely := `, "recurrence": {"frequency": "Hour"}`, `, "recurrence": {"frequency": "Minute"}`
	for name, test := range map[string]struct {
		job, calls, outcomes string
		enabled              time.Duration // after it was disabled; 0: never
		state                scheduler.State
	}{
		"recurring": {main + hourly, "main main main", "failed failed failed faulted", 0, scheduler.Disabled},
		"some fell due": {
			main + minutely + `, "catchUp": {"policy": "skip"}`, "main main main",
			"failed failed skipped(disabled 1) failed faulted", 90 * time.Second, scheduler.Disabled,
		},
		"one-shot, enabled":      {main, "main main main", "failed failed failed faulted", 30 * time.Second, scheduler.Faulted},
		"one-shot, enabled late": {main, "main main main", "failed failed failed faulted", 20 * time.Minute, scheduler.Faulted},
		"errorAction":            {alarm + hourly, "main alarm/error alarm/error alarm/error", "failed failed/error failed/error failed/error faulted", 0, scheduler.Disabled},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.sink.answers(failingAt("main alarm"))
				w.put("job", test.job+`}`)
				time.Sleep(time.Second)
				w.must(w.service.Disable(t.Context(), key("job")))
				if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Next.IsZero() {
					t.Errorf("disabled: state %s, status %+v; want the next attempt", v.Job.State, v.Status)
				}
				w.mustExplain("job", "2000-01-01T00:00Z", why.Retrying, "the next one is due")
				if test.enabled > 0 {
					time.Sleep(test.enabled)
					w.must(w.service.Enable(t.Context(), key("job")))
				}
				if name == "some fell due" { // and go on while it is enabled
					time.Sleep(time.Second)
					w.must(w.service.Disable(t.Context(), key("job")))
				}
				time.Sleep(40*time.Minute - test.enabled)
				if got := w.told(); got != test.calls {
					t.Errorf("told %q, want %q", got, test.calls)
				}
				w.wantHistory("job", test.outcomes)
				v := w.get("job")
				if v.Job.State != test.state || v.Status.Executions+v.Status.Errors != len(w.sink.seen()) || v.Status.Faults != 1 {
					t.Errorf("state %s, status %+v, want %s and %d executions", v.Job.State, v.Status, test.state, len(w.sink.seen()))
				}
				w.mustExplain("job", "2000-01-01T00:00Z", why.Failed, "failed for good")
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
		w.wantHistory("job", "failed faulted")
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Executions != 1 || v.Status.Faults != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}
