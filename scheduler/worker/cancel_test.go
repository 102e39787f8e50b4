package worker_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/why"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// cancel cancels occurrences of a job, and returns how many.
func (w *world) cancel(name, body string) int {
	w.t.Helper()
	v, err := w.service.Cancel(w.as("ada"), key(name), []byte(body))
	w.must(nil, err)
	return len(v.Occurrences)
}

// TestCancel cancels occurrences that wait for a retry, run, wait for their target, or run detached, with two workers: they end at
// once, nothing follows them but the schedule, and the history says who canceled them and why.
func TestCancel(t *testing.T) {
	const slowly = 10 * time.Minute
	const policy = `"retryPolicy": {"retryCount": 2, "retryInterval": "PT10M"}`
	to := func(host, rest string) string {
		return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}` + rest + `}`
	}
	alarm := `"errorAction": {"type": "Http", "request": {"uri": "http://alarm.example/", "method": "POST"}}`
	hourly, minutely := `, "timeout": "PT30M", "recurrence": {"frequency": "Hour"}`, `, "timeout": "PT30M", "recurrence": {"frequency": "Minute"}`
	for name, test := range map[string]struct {
		job      string
		answer   func(*call) (int, string)
		first    func(w *world)
		canceled int
		outcomes string // of each occurrence
		says     string
	}{
		"waits for a retry":          {to("main", `, `+policy+`, `+alarm) + hourly, failingAt("main"), nil, 1, "failed faulted", "canceled by ada: too late; its errorAction did not run"},
		"waits for its errorAction":  {to("main", `, "retryPolicy": {"retryType": "none"}, `+strings.Replace(alarm, `"POST"}`, `"POST"}, `+policy, 1)) + hourly, failingAt("main alarm"), nil, 1, "failed failed/error faulted", "canceled by ada: too late"},
		"runs":                       {to("main", `, `+policy+`, `+alarm) + hourly, after(slowly, http.StatusOK), nil, 1, "failed faulted", "canceled by ada: too late; its errorAction did not run; before that: canceled while it ran"},
		"runs detached":              {to("main", `, `+policy) + minutely + `, "overlap": "allow"`, after(slowly, http.StatusOK), func(*world) { time.Sleep(time.Minute) }, 2, "failed faulted", "canceled by ada: too late; before that: canceled while it ran"},
		"waits detached for a retry": {to("main", `, `+policy) + hourly + `, "overlap": "allow"`, failingAt("main"), nil, 1, "failed faulted", "canceled by ada: too late"},
		"is disabled":                {to("main", `, `+policy) + hourly, failingAt("main"), func(w *world) { w.must(w.service.Disable(w.t.Context(), key("job"))) }, 1, "failed faulted", "canceled by ada: too late"},
		"one-shot":                   {to("main", `, `+policy), failingAt("main"), nil, 1, "failed faulted", "canceled by ada: too late"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.startWorker()
				w.sink.answers(test.answer)
				w.put("job", `{"action": `+test.job+`}`)
				time.Sleep(2 * time.Second)
				if test.first != nil {
					test.first(w)
				}
				if n := w.cancel("job", `{"dryRun": true}`); n != test.canceled {
					t.Errorf("%d would be canceled, want %d", n, test.canceled)
				}
				if n := w.cancel("job", `{"reason": "too late"}`); n != test.canceled {
					t.Errorf("%d canceled, want %d", n, test.canceled)
				}
				time.Sleep(2 * time.Second)
				w.mustHaveCanceled("job", test.canceled, test.outcomes, test.says)
				if v := w.get("job"); v.Status.Faults != test.canceled || v.Status.Retry != 0 {
					t.Errorf("status %+v", v.Status)
				}
				calls := len(w.sink.seen())
				w.mustExplain("job", "2000-01-01T00:00Z", why.Failed, "canceled by ada: too late")
				if _, err := w.service.Cancel(t.Context(), key("job"), nil); !errors.Is(err, scheduler.ErrConflict) {
					t.Errorf("once more: %v, want a conflict", err)
				}
				if name != "runs detached" {
					time.Sleep(30 * time.Minute)
					if n := len(w.sink.seen()); n != calls {
						t.Errorf("%d calls after it was canceled", n-calls)
					}
				}
				w.mustBeInOrder()
			})
		})
	}
}

// mustHaveCanceled checks the records of each canceled occurrence. Those of one are in order; occurrences that end together
// are recorded in any order.
func (w *world) mustHaveCanceled(name string, occurrences int, outcomes, says string) {
	w.t.Helper()
	each := map[string][]*scheduler.Record{}
	for _, r := range w.history(name) {
		each[r.Occurrence] = append(each[r.Occurrence], r)
	}
	if len(each) != occurrences {
		w.t.Errorf("records of %d occurrences, want %d", len(each), occurrences)
	}
	for _, records := range each {
		if got := short(records); got != outcomes {
			w.t.Errorf("history %q, want %q", got, outcomes)
		}
		if r := records[len(records)-1]; r.Reason != scheduler.ReasonCanceled || !strings.HasPrefix(r.Message, says) ||
			!strings.HasPrefix(r.Short(), says) || strings.Contains(r.Short(), "Response Headers") {
			w.t.Errorf("reason %q, %q, in short %q; want %q", r.Reason, r.Message, r.Short(), says)
		}
	}
}

// TestCancelOne cancels one of the occurrences of a job, and all of its collection.
func TestCancelOne(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(time.Hour, http.StatusOK))
		const slow = ` "timeout": "PT30M", "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 3}}`
		w.put("job", `{`+action+`,`+slow)
		w.put("other", `{`+action+`,`+slow)
		time.Sleep(150 * time.Second)
		first := slices.IndexFunc(w.sink.seen(), func(c *call) bool { return strings.HasPrefix(c.key, "default/job@") })
		if w.cancel("job", `{"occurrence": "`+w.sink.seen()[first].key+`"}`) != 1 {
			t.Errorf("not one was canceled")
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted")
		for want := range 2 {
			v, err := w.service.CancelCollection(t.Context(), scheduler.DefaultCollection, nil)
			if err != nil || len(v.Occurrences) != 5*(1-want) {
				t.Errorf("collection: %+v, %v", v, err)
			}
			time.Sleep(time.Second)
		}
		w.mustBeInOrder()
	})
}

// TestCancelOnAnotherReplica cancels an attempt that a worker of another process runs, which had begun before this one started.
func TestCancelOnAnotherReplica(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(10*time.Minute, http.StatusOK))
		w.put("job", `{"action": {"type": "Http", "request": {"uri": "http://main.example/", "method": "POST"}}, "timeout": "PT30M"}`)
		time.Sleep(2 * time.Second)
		_, st := w.open()
		asked := worker.New(worker.Config{Store: st, Actions: w.actions(), Secrets: w.vault})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- asked.Run(ctx) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(2 * time.Second)
		if here, there := asked.Stats().InFlight, w.worker.Stats().InFlight; here != 0 || there != 1 {
			t.Fatalf("%d attempts here, %d on the other replica", here, there)
		}
		v, err := w.newServiceOn(st).Cancel(w.as("ada"), key("job"), nil)
		if err != nil || len(v.Occurrences) != 1 {
			t.Fatalf("%+v, %v", v, err)
		}
		time.Sleep(2 * time.Second)
		if got, n := w.outcomes("job"), w.worker.Stats().InFlight; got != "failed faulted" || n != 0 {
			t.Errorf("history %q, %d attempts in flight", got, n)
		}
	})
}
