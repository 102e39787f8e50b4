package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// Hundreds of jobs for targets that never answer are due at once with jobs for
// one that does. The latter run on time.
func TestDeadTargetsDelayNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(c *call) (int, string) {
			if strings.HasPrefix(c.host, "dead") {
				return after(time.Hour, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		due := time.Now().Add(time.Minute).UTC()
		job := `{"startTime": "` + due.Format(time.RFC3339) + `", "action": {"type": "Http",
			"request": {"uri": "http://%s.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}}`
		for i := range 400 {
			w.put(fmt.Sprintf("dead%d", i), fmt.Sprintf(job, fmt.Sprintf("dead%d", i%2)))
		}
		for i := range 100 {
			w.put(fmt.Sprintf("live%d", i), fmt.Sprintf(job, "live"))
		}
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
	inWorld(t, func(t *testing.T, w *world) {
		w.startWorker(func(c *worker.Config) { c.HoldMemory, c.Concurrency, c.PerTarget = 200*scheduler.UsualHeldBytes, 16, 8 })
		w.sink.answers(func(c *call) (int, string) {
			if strings.HasPrefix(c.host, "slow") {
				return after(2*time.Second, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		job := `{"startTime": "%s", "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`
		due := time.Now().Add(time.Minute).UTC()
		for i := range 400 {
			w.put(fmt.Sprintf("slow%d", i), fmt.Sprintf(job, due.Format(time.RFC3339), "slow"))
		}
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
	inWorld(t, func(t *testing.T, w *world) {
		w.startWorker(func(c *worker.Config) { c.Grace = 5 * time.Second })
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
			if got, want := w.outcomes(name), "completed"; got != want {
				t.Errorf("%s: history %q, want %q", name, got, want)
			}
		}
		w.wantCalls(4)
	})
}

// Two workers share the jobs without a setting.
func TestTwoWorkersShare(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		_, other := w.open()
		ctx, cancel := context.WithCancel(t.Context())
		var ran atomic.Int64
		second := worker.New(worker.Config{
			Store: other, Actions: w.actions(), OnRecord: func(*scheduler.Record) { ran.Add(1) },
		})
		ended := make(chan error, 1)
		go func() { ended <- second.Run(ctx) }()
		due := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
		for i := range 200 {
			w.put(fmt.Sprintf("job%d", i), `{`+action+`, "startTime": "`+due+`"}`)
		}
		time.Sleep(2 * time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		w.wantCalls(200)
		if n := ran.Load(); n < 20 || n > 180 {
			t.Errorf("the second worker ran %d of 200", n)
		}
	})
}

// A target that takes its time and succeeds is given more and more to do at
// once; one that fails after as long is not.
func TestSlowTargetEarnsSlots(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		last   time.Duration // when the last of the calls begins
	}{
		"succeeds": {http.StatusOK, 9 * time.Second},                  // 8, 16, 32, 44
		"fails":    {http.StatusServiceUnavailable, 36 * time.Second}, // 8 a time
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.sink.answers(after(3*time.Second, test.status))
				due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
				for i := range 100 {
					w.put(fmt.Sprintf("job%d", i), `{"startTime": "`+due.Format(time.RFC3339)+`", "action": {"type": "Http",
						"request": {"uri": "http://target.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}}`)
				}
				time.Sleep(time.Until(due) + 5*time.Minute)
				calls := w.sink.seen()
				if len(calls) != 100 {
					t.Fatalf("%d calls, want 100", len(calls))
				}
				if late := calls[99].at.Sub(due); late < test.last || late > test.last+time.Second {
					t.Errorf("the last call began after %s, want %s", late, test.last)
				}
			})
		})
	}
}
