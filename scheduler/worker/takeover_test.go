package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// TestKilledAmidHerd kills one of two workers in the middle of a herd. Nothing is
// lost, the last job is at most four seconds late, each is recorded once, and what
// is called again was in flight, and is called under its key.
func TestKilledAmidHerd(t *testing.T) {
	const (
		herd     = 400
		slots    = 32
		inFlight = 2 * slots // those that are called, and those that have answered and are not recorded
	)
	inWorld(t, func(t *testing.T, w *world) {
		w.sink.answers(after(50*time.Millisecond, http.StatusOK))
		small := func(c *worker.Config) {
			c.Concurrency, c.PerTarget, c.HoldMemory = slots, slots, 2*herd*scheduler.UsualHeldBytes
		}
		m := w.startMortal(&mortal{point: "record completed", before: true, skip: herd / 8}, small)
		w.startWorker(small)
		due := time.Now().Add(20 * time.Second)
		for i := range herd {
			w.put(fmt.Sprintf("job-%d", i), `{`+action+`, "startTime": "`+due.UTC().Format(time.RFC3339Nano)+`"}`)
		}
		m.awaitDeath(t)
		killed := time.Now()
		time.Sleep(time.Minute)
		first, calls := map[string]*call{}, w.sink.seen()
		for _, c := range calls {
			if first[c.key] == nil {
				first[c.key] = c
			}
			if c.at.Before(due) {
				t.Errorf("%s was called %s early", c.key, due.Sub(c.at))
			}
		}
		var last time.Time
		for _, c := range first {
			if c.at.After(last) {
				last = c.at
			}
		}
		if len(first) != herd {
			t.Errorf("%d of %d were called", len(first), herd)
		}
		if late := last.Sub(due); late > 4*time.Second || !last.After(killed.Add(time.Second)) {
			t.Errorf("the last was called %s late; the worker was killed after %s", late, killed.Sub(due))
		}
		if again := len(calls) - len(first); again < 1 || again > inFlight {
			t.Errorf("%d were called again, want those in flight, at most %d", again, inFlight)
		}
		for i := range herd {
			w.wantHistory(fmt.Sprintf("job-%d", i), "completed")
		}
	})
}

// afterUnrecordedCall kills a worker between the call of a job of every minute and its record, and has f do the rest.
func afterUnrecordedCall(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	inWorld(t, func(t *testing.T, w *world) {
		m := w.startMortal(&mortal{point: "record completed", before: true})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		m.awaitDeath(t)
		f(t, w)
	})
}

// TestDisabledBeforeTakeover kills a worker between the call of a job and its record, and
// disables the job before another worker takes it over. The job is not called again, and the
// record of what was skipped says that it may have been called.
func TestDisabledBeforeTakeover(t *testing.T) {
	afterUnrecordedCall(t, func(t *testing.T, w *world) {
		w.must(w.service.Disable(t.Context(), key("job")))
		w.startWorker()
		time.Sleep(5 * time.Minute)
		if n := len(w.sink.seen()); n != 1 {
			t.Errorf("it was called %d times", n)
		}
		records := w.history("job")
		if len(records) != 1 || records[0].Reason != scheduler.ReasonDisabled || !strings.Contains(records[0].Message, "may have been called") {
			t.Errorf("the history is %s", w.outcomes("job"))
		}
	})
}

// TestDoubtEnds kills a worker amid a run. The one that takes the run over asks the history; the runs
// that follow are not doubted any more.
func TestDoubtEnds(t *testing.T) {
	afterUnrecordedCall(t, func(t *testing.T, w *world) {
		w.startWorker()
		time.Sleep(5 * time.Minute)
		st, err := w.store.Waiting(t.Context(), scheduler.Slot{Key: key("job")})
		w.must(nil, err)
		if b, err := scheduler.DecodeBaton(st.Data); err != nil || b.Suspect || b.Runs < 4 {
			t.Errorf("the baton is %+v, %v", b, err)
		}
	})
}
