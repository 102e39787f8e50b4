package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store/storetest"
)

// Hundreds of jobs for targets that never answer are due at once with jobs for
// one that does. The latter run on time.
func TestDeadTargetsDelayNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if strings.HasPrefix(c.host, "dead") {
				return after(time.Hour, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		due := time.Now().Add(time.Minute).UTC()
		job := func(host string) string { return `{"startTime": "` + due.Format(time.RFC3339) + `", ` + at(host) + `}` }
		for i := range 400 {
			w.put(fmt.Sprintf("dead%d", i), job(fmt.Sprintf("dead%d", i%2)))
		}
		w.putMany(100, "live%d", job("live"))
		time.Sleep(time.Until(due) + time.Second)
		live := 0
		for _, c := range w.sink.seen() {
			if !strings.HasPrefix(c.host, "dead") {
				live++
			}
		}
		if live != 100 {
			t.Errorf("%d of 100 jobs ran within a second; the dead targets held up the others", live)
		}
	})
}

// When the hold fills up with jobs for a dead target, they wait outside the
// process, and all run in the end.
func TestBusyTargetWaitsOutside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.HoldMemory, c.Concurrency, c.PerTarget = 200*scheduler.UsualHeldBytes, 16, 8 })
		w.sink.answers(func(c *call) (int, string) {
			if strings.HasPrefix(c.host, "slow") {
				return after(2*time.Second, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		job := `{"startTime": "%s", "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`
		due := time.Now().Add(time.Minute).UTC()
		w.putMany(400, "slow%d", fmt.Sprintf(job, due.Format(time.RFC3339), "slow"))
		late := due.Add(30 * time.Second)
		w.put("live", fmt.Sprintf(job, late.Format(time.RFC3339), "live"))
		time.Sleep(time.Until(late) + 3*time.Second)
		if n := len(w.history("live")); n != 1 {
			t.Errorf("the job for another target has %d records, want 1", n)
		}
		time.Sleep(10 * time.Minute)
		w.wantCalls(401)
	})
}

// A worker that stops gives back what it holds, lets running attempts end, and
// cuts those short that take longer than its grace.
func TestStop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Grace = 5 * time.Second })
		w.sink.answers(func(c *call) (int, string) {
			switch {
			case strings.HasPrefix(c.host, "quick"):
				return after(3*time.Second, http.StatusOK)(c)
			case strings.HasPrefix(c.host, "long") && c.n == 0:
				return after(30*time.Second, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		due := time.Now().Add(time.Minute).UTC()
		put := func(name string, at time.Time) {
			w.put(name, fmt.Sprintf(`{"startTime": %q, "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`,
				at.Format(time.RFC3339Nano), name))
		}
		put("quick", due)
		put("long", due)
		put("held", due.Add(1500*time.Millisecond))
		time.Sleep(time.Until(due) + time.Second)
		begin := time.Now()
		w.stopWorker()
		if d := time.Since(begin); d < 4*time.Second || d > 6*time.Second {
			t.Errorf("the worker stopped after %v, want its grace of 5 s", d)
		}
		w.startWorker()
		time.Sleep(2 * time.Second)
		for _, name := range []string{"quick", "long", "held"} {
			w.wantHistory(name, "completed")
		}
		w.wantCalls(4)
	})
}

// Two workers share the jobs without a setting.
func TestTwoWorkersShare(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		_, other := w.open()
		var ran atomic.Int64
		second := engine.New(engine.Config{
			Store: other, Actions: w.actions(), OnRecord: func(*scheduler.Record) { ran.Add(1) },
		})
		storetest.Run(t, second.Run)
		due := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
		w.putMany(200, "job%d", `{`+action+`, "startTime": "`+due+`"}`)
		time.Sleep(2 * time.Minute)
		w.wantCalls(200)
		if n := ran.Load(); n < 20 || n > 180 {
			t.Errorf("the second worker ran %d of 200", n)
		}
	})
}

// rules puts the collection "default" with rules for targets, and gives the worker the time to hear of it.
func (w *harness) rules(targets string) {
	w.t.Helper()
	w.must(w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"targets": `+targets+`}}`)))
	time.Sleep(time.Second)
}

// herd puts n jobs that are due at one instant, in a minute.
func (w *harness) herd(n int) time.Time {
	due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
	w.putMany(n, "job%d", `{"startTime": "`+due.Format(time.RFC3339)+`", `+failOnce+`}`)
	return due
}

const breaker = `{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT30S", "maxPostponement": "PT2M"}}}`

// TestCircuit shows that a target in trouble costs jobs no retries, and that they run once it is back.
func TestCircuit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(breaker)
		w.put("first", `{"action": `+retried("target", `"retryInterval": "PT1S", "retryCount": 5`)+`}`)
		time.Sleep(5 * time.Second)
		w.wantHistory("first", "failed failed failed postponed")
		w.put("second", `{`+action+`}`)
		w.put("other", `{"action": `+to("other", "")+`}`)
		time.Sleep(5 * time.Second)
		w.wantHistory("second", "postponed")
		w.wantHistory("other", "failed faulted")
		time.Sleep(30 * time.Second) // one attempt has found out that the target is not back
		w.wantCalls(5)
		heal()
		time.Sleep(time.Minute)
		for _, name := range []string{"first", "second"} {
			if v := w.get(name); v.Job.State != scheduler.Completed {
				t.Errorf("%s is %s: %s", name, v.Job.State, w.outcomes(name))
			}
			if got := w.outcomes(name); strings.Count(got, "postponed") > 2 {
				t.Errorf("%s: history %q", name, got)
			}
		}
		if m := w.history("second")[0].Message; !strings.Contains(m, "circuit breaker of target.example:80 is open") {
			t.Errorf("message %q", m)
		}
	})
}

// TestCircuitIsBounded shows that an occurrence is put off for a bounded time only.
func TestCircuitIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
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

// TestPostponedBatonIsRestored shows that the audit restores a baton that is put off when the timers are lost.
func TestPostponedBatonIsRestored(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if c.n < 3 {
				return http.StatusServiceUnavailable, ""
			}
			return http.StatusOK, ""
		})
		w.rules(breaker)
		w.put("job", `{"recurrence": {"frequency": "Day"}, `+quickly+`}`)
		time.Sleep(5 * time.Second)
		w.loseTimers()
		time.Sleep(time.Minute)
		calls := w.sink.seen()
		if got, want := w.outcomes("job"), "failed failed failed postponed completed"; got != want || calls[len(calls)-1].try != "4" {
			t.Errorf("history %q, want %q; the last try is %s", got, want, calls[len(calls)-1].try)
		}
	})
}

// try tries a job out, with the worker of the harness.
func (w *harness) try(body string) (*v1.Trial, error) {
	s := control.New(control.Config{Store: w.store, Actions: w.actions(), Secrets: w.vault, Try: w.worker.Try})
	return s.TestRun(w.t.Context(), key("trial"), []byte(body))
}

// TestTryHeedsTheCircuit of its target: an open one lets nothing through, and trials that fail open none.
func TestTryHeedsTheCircuit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(`{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT1M"}}}`)
		for range 5 {
			v, err := w.try(`{` + failOnce + `}`)
			if err != nil || !v.Failed() {
				t.Fatalf("%+v, %v", v, err)
			}
		}
		w.openCircuit()
		calls := len(w.sink.seen())
		_, err := w.try(`{` + failOnce + `}`)
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "the circuit breaker of target.example:80 is open until") {
			t.Errorf("%v", err)
		}
		w.wantCalls(calls) // none through an open circuit
		heal()
		time.Sleep(2 * time.Minute)
		if v, err := w.try(`{` + failOnce + `}`); err != nil || v.Failed() {
			t.Errorf("healed: %+v, %v", v, err)
		}
	})
}

// TestTryWaitsForASlot a moment, and not for ever: it takes one of its target like any attempt.
func TestTryWaitsForASlot(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Concurrency, c.PerTarget = 1, 1 })
		w.sink.answers(after(15*time.Second, http.StatusOK))
		w.put("job", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		if _, err := w.try(`{` + failOnce + `}`); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "no test run was made") {
			t.Errorf("%v", err)
		}
		if v, err := w.try(`{` + failOnce + `}`); err != nil || v.Failed() {
			t.Errorf("after a while: %+v, %v", v, err)
		}
		w.wantHistory("job", "completed")
		w.wantHistory("trial", "")
	})
}

// TestTryEndsInAMinute whatever the job's timeout.
func TestTryEndsInAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(10*time.Minute, http.StatusOK))
		began := time.Now()
		v, err := w.try(`{"timeout": "PT30M", ` + failOnce + `}`)
		if took := time.Since(began); err != nil || !v.Failed() || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%+v, %v after %s", v, err, took)
		}
	})
}

// TestRunsSettleTogether has runs at some hundred a second recorded a few at a time, each shortly after its end, and one
// that is by itself at once.
func TestRunsSettleTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		var mu sync.Mutex
		stored := map[time.Duration]int{} // records, by when they were stored
		due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
		sub := must.Get(w.nc.Subscribe("carillon.history.>", func(*nats.Msg) {
			mu.Lock()
			defer mu.Unlock()
			stored[time.Since(due).Truncate(time.Millisecond)]++
		}))(t)
		defer func() { _ = sub.Unsubscribe() }()
		const many = 50
		job := `{"startTime": "%s", "action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}}}`
		for i := range many {
			w.put(fmt.Sprintf("job%d", i), fmt.Sprintf(job, due.Add(time.Duration(2*i)*time.Millisecond).Format(time.RFC3339Nano)))
		}
		w.put("alone", fmt.Sprintf(job, due.Add(time.Second).Format(time.RFC3339Nano)))
		time.Sleep(time.Until(due) + 5*time.Second)
		mu.Lock()
		defer mu.Unlock()
		records, last := 0, time.Duration(0)
		for at, n := range stored {
			if records += n; at < time.Second {
				last = max(last, at)
			}
		}
		if records != many+1 || len(stored) > 10 || last > 120*time.Millisecond || stored[time.Second] != 1 {
			t.Errorf("%d records, the last of %d that are due in 98 ms after %s: %v", records, many, last, stored)
		}
	})
}
