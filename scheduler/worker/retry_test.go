package worker_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

const failing = `"action": {"type": "Http", "request": {"uri": "http://target.example/fails", "method": "POST"},
	"retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 2}`

// fails answers 500 to the main action and 200 to everything else.
func fails(c *call) (int, string) {
	if strings.HasSuffix(c.url, "/fails") {
		return http.StatusInternalServerError, ""
	}
	return http.StatusOK, ""
}

func TestRetryAndErrorAction(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`, "errorAction": {"type": "Http", "request": {"uri": "http://target.example/alarm", "method": "POST"}}}}`)
		begin := time.Now()
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed failed failed completed/error faulted"; got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		calls := w.sink.seen()
		for i, want := range []time.Duration{0, 10 * time.Second, 20 * time.Second, 20 * time.Second} {
			if d := calls[i].at.Sub(begin); d < want || d > want+50*time.Millisecond {
				t.Errorf("call %d after %v, want %v", i, d, want)
			}
		}
		if calls[0].key != calls[2].key || calls[3].key == calls[0].key {
			t.Errorf("keys %q, %q, %q: the tries of one action share a key, the errorAction has its own",
				calls[0].key, calls[2].key, calls[3].key)
		}
		v := w.get("job")
		if v.Job.State != scheduler.Faulted || v.Status.Executions != 3 || v.Status.Failures != 3 || v.Status.Errors != 1 || v.Status.Faults != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}

// A recurring job whose occurrence faulted goes on, and what fell due while it
// was retried is recorded as skipped.
func TestFaultedOccurrenceOfRecurringJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`}, "recurrence": {"frequency": "Second", "interval": 15, "count": 2}}`)
		time.Sleep(2 * time.Minute)
		want := "failed failed failed faulted skipped(overlap 1) failed failed failed faulted"
		if got := w.outcomes("job"); got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		v := w.get("job")
		if v.Job.State != scheduler.Faulted || v.Status.Faults != 2 || v.Status.Executions != 6 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		if n := w.history("job")[5].Progress.Number; n != 2 {
			t.Errorf("second occurrence has the number %d", n)
		}
	})
}

// The errorAction has a retry policy of its own, or the main action's.
func TestErrorActionRetries(t *testing.T) {
	for name, test := range map[string]struct{ policy, want string }{
		"inherited": {"", "failed failed failed failed/error failed/error failed/error faulted"},
		"its own":   {`, "retryPolicy": {"retryType": "none"}`, "failed failed failed failed/error faulted"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.sink.answers(func(*call) (int, string) { return http.StatusBadGateway, "" })
				w.put("job", `{`+failing+`, "errorAction": {"type": "Http",
					"request": {"uri": "http://target.example/alarm", "method": "POST"}`+test.policy+`}}}`)
				time.Sleep(2 * time.Minute)
				if got := w.outcomes("job"); got != test.want {
					t.Errorf("history %q, want %q", got, test.want)
				}
			})
		})
	}
}

func TestDefaultRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusServiceUnavailable, "" })
		w.put("job", `{`+action+`}`)
		time.Sleep(10 * time.Minute)
		calls := w.sink.seen()
		if len(calls) != 5 {
			t.Fatalf("%d calls, want 5: one and four retries", len(calls))
		}
		for i := range 4 {
			if d := calls[i+1].at.Sub(calls[i].at); d < 30*time.Second || d > 30*time.Second+50*time.Millisecond {
				t.Errorf("retry %d after %v, want 30 s", i+1, d)
			}
		}
	})
}

func TestPanicIsAFailedAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(c *call) (int, string) {
			if c.n == 0 {
				panic("boom")
			}
			return http.StatusOK, ""
		})
		w.put("job", `{`+failing+`}}`)
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed completed"; got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		if m := w.history("job")[0].Message; !strings.Contains(m, "boom") {
			t.Errorf("message %q does not name the panic", m)
		}
	})
}

// The counters are the ones of the Azure documentation's sample: one try and
// four retries of one occurrence, nothing else in that time.
func TestRetriesSuppressOccurrences(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(100*time.Millisecond, http.StatusInternalServerError))
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(2*time.Minute + 10*time.Second)
		v := w.get("job")
		if s := v.Status; s.Executions != 5 || s.Failures != 5 || s.Faults != 1 {
			t.Errorf("status %+v, want 5 executions, 5 failures, 1 faulted", s)
		}
		if v.Job.State != scheduler.Enabled {
			t.Errorf("state %s", v.Job.State)
		}
	})
}

// TestExponentialRetries shows the pauses that a target sees.
func TestExponentialRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusBadGateway, "" })
		w.put("job", `{"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"},
			"retryPolicy": {"retryType": "exponential", "retryInterval": "PT2S", "retryCount": 3, "jitter": "PT0S"}}}`)
		time.Sleep(time.Minute)
		calls := w.sink.seen()
		if len(calls) != 4 {
			t.Fatalf("%d calls, want 4", len(calls))
		}
		for i, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
			if d := calls[i+1].at.Sub(calls[i].at); d < want || d > want+50*time.Millisecond {
				t.Errorf("retry %d after %v, want %v", i+1, d, want)
			}
		}
	})
}
