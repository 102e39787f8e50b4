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
