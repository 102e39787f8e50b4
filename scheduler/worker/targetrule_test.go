package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// rules puts the collection "default" with rules for targets, and gives the worker the time to hear of it.
func (w *world) rules(targets string) {
	w.t.Helper()
	if _, _, err := w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"targets": `+targets+`}}`)); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Second)
}

// herd puts n jobs that are due at one instant, in a minute.
func (w *world) herd(n int) time.Time {
	due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
	for i := range n {
		w.put(fmt.Sprintf("job%d", i), `{"startTime": "`+due.Format(time.RFC3339)+`", "action": {"type": "Http",
			"request": {"uri": "http://target.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}}`)
	}
	return due
}

func TestConcurrencyOfATarget(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var now, most atomic.Int64
		w.sink.answers(func(*call) (int, string) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(100 * time.Millisecond)
			now.Add(-1)
			return http.StatusOK, ""
		})
		w.rules(`{"target.example": {"concurrency": 3}, "*": {"concurrency": 1}}`)
		due := w.herd(30)
		time.Sleep(time.Until(due) + 5*time.Second)
		if calls := len(w.sink.seen()); calls != 30 || most.Load() != 3 {
			t.Errorf("%d calls, at most %d at once, want 30 and 3", calls, most.Load())
		}
	})
}

func TestRateOfATarget(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.rules(`{"target.example:80": {"rate": {"limit": 5, "per": "PT10S"}}}`)
		due := w.herd(10)
		w.put("other", `{"startTime": "`+due.Format(time.RFC3339)+`", "action": {"type": "Http", "request": {"uri": "http://other.example/", "method": "GET"}}}`)
		time.Sleep(time.Until(due) + time.Minute)
		n := 0
		for _, c := range w.sink.seen() {
			want := due
			if c.host == "target.example" {
				want = due.Add(time.Duration(n) * 2 * time.Second)
				n++
			}
			if d := c.at.Sub(want); d < 0 || d > 100*time.Millisecond {
				t.Errorf("call %d to %s at %s, want %s", n, c.host, c.at, want)
			}
		}
		if n != 10 {
			t.Errorf("%d calls, want 10", n)
		}
	})
}

const breaker = `{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT30S", "maxPostponement": "PT2M"}}}`

// TestCircuit shows that a target in trouble costs jobs no retries, and that they run once it is back.
func TestCircuit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var well atomic.Bool
		w.sink.answers(func(*call) (int, string) {
			if well.Load() {
				return http.StatusOK, ""
			}
			return http.StatusServiceUnavailable, ""
		})
		w.rules(breaker)
		w.put("first", `{"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"},
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT1S", "retryCount": 5}}}`)
		time.Sleep(5 * time.Second)
		if got, want := w.outcomes("first"), "failed failed failed postponed"; got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		w.put("second", `{`+action+`}`)
		w.put("other", `{"action": {"type": "Http", "request": {"uri": "http://other.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}}`)
		time.Sleep(5 * time.Second)
		w.wantHistory("second", "postponed")
		w.wantHistory("other", "failed faulted")
		time.Sleep(30 * time.Second) // one attempt has found out that the target is not back
		w.wantCalls(5)
		well.Store(true)
		time.Sleep(time.Minute)
		for _, name := range []string{"first", "second"} {
			if v := w.get(name); v.Job.State != scheduler.Completed {
				t.Errorf("%s is %s: %s", name, v.Job.State, w.outcomes(name))
			}
			if got := w.outcomes(name); strings.Count(got, "postponed") > 2 {
				t.Errorf("%s: history %q", name, got)
			}
		}
		if m := w.history("second")[0].Message; !strings.Contains(m, "circuit of target.example:80 is open") {
			t.Errorf("message %q", m)
		}
	})
}

// TestCircuitIsBounded shows that an occurrence is put off for a bounded time only.
func TestCircuitIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return 0, "" })
		w.rules(breaker)
		w.herd(20)
		time.Sleep(20 * time.Minute)
		for i := range 20 {
			name := fmt.Sprintf("job%d", i)
			if v := w.get(name); v.Job.State != scheduler.Faulted {
				t.Errorf("%s is %s: %s", name, v.Job.State, w.outcomes(name))
			}
			records := w.history(name)
			if d := records[len(records)-1].Ended.Sub(records[0].Ended); d > 2*time.Minute+2*time.Second {
				t.Errorf("%s was put off for %s", name, d)
			}
		}
	})
}

// TestRefusalsOpenNoCircuit shows that a target which does not like the requests is not in trouble.
func TestRefusalsOpenNoCircuit(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusNotFound, "" })
		w.rules(breaker)
		due := w.herd(10)
		time.Sleep(time.Until(due) + 10*time.Second)
		w.wantCalls(10)
	})
}

// TestPostponedBatonIsRestored shows that the audit restores a baton that is put off when the timers are lost.
func TestPostponedBatonIsRestored(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(c *call) (int, string) {
			if c.n < 3 {
				return http.StatusServiceUnavailable, ""
			}
			return http.StatusOK, ""
		})
		w.rules(breaker)
		w.put("job", `{"recurrence": {"frequency": "Day"}, "action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"},
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT1S", "retryCount": 3}}}`)
		time.Sleep(5 * time.Second)
		w.loseTimers()
		time.Sleep(time.Minute)
		calls := w.sink.seen()
		if got, want := w.outcomes("job"), "failed failed failed postponed completed"; got != want || calls[len(calls)-1].try != "4" {
			t.Errorf("history %q, want %q; the last try is %s", got, want, calls[len(calls)-1].try)
		}
	})
}
