package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestPunctual runs a job of every hour for three hours: no run is early, none is late, and each has its own key.
func TestPunctual(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC().Truncate(time.Minute).Add(time.Minute)
		w.put("hourly", `{`+action+`, "startTime": "`+start.Format(time.RFC3339)+`", "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(3*time.Hour + 2*time.Minute)
		calls := w.sink.seen()
		if len(calls) != 4 {
			t.Fatalf("%d calls in 3 hours, want 4", len(calls))
		}
		for i, c := range calls {
			due := start.Add(time.Duration(i) * time.Hour)
			if late := c.at.Sub(due); late < 0 || late > 10*time.Millisecond {
				t.Errorf("call %d at %s, due %s", i, c.at, due)
			}
			if want := "default/hourly@" + due.Format(time.RFC3339); c.key != want {
				t.Errorf("call %d has the key %q, want %q", i, c.key, want)
			}
		}
		v := w.get("hourly")
		if v.Status.Executions != 4 || v.Status.Failures != 0 || !v.Status.Next.Equal(start.Add(4*time.Hour)) {
			t.Errorf("status %+v", v.Status)
		}
	})
}

// Several lanes, under another prefix: every operation finds its job's lane.
func TestLanes(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *store.Config) { c.Lanes, c.Prefix = 4, "team.sched" })
		w.startWorker()
		for i := range 40 {
			w.put(fmt.Sprintf("job%d", i), `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		}
		time.Sleep(30 * time.Second)
		for i := range 10 {
			w.must(w.service.Trigger(t.Context(), key(fmt.Sprintf("job%d", i))))
			w.must(nil, w.service.Delete(t.Context(), key(fmt.Sprintf("job%d", i+10)), 0))
		}
		time.Sleep(5 * time.Minute)
		w.wantCalls(30*3 + 10 + 10)
		rep, err := w.service.Audit(t.Context(), false)
		if err != nil || rep.Jobs != 30 || len(rep.Findings) > 0 {
			t.Errorf("audit: %+v, %v", rep, err)
		}
	})
}
