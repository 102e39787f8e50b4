package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store/storetest"
)

// spring is when the clocks of New York jump from 02:00 to 03:00.
var spring = time.Date(2026, 3, 8, 7, 0, 0, 0, time.UTC)

// inSpring runs f in a bubble whose time is so long before the change of the clock.
func inSpring(t *testing.T, before time.Duration, f func(t *testing.T, w *harness)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(spring.Add(-before))) // no server ticks yet
		w := newHarness(t)
		w.startWorker()
		f(t, w)
	})
}

// inNewYork puts a job with a cron pattern on New York's clock.
func (w *harness) inNewYork(name, cron, more string) {
	w.t.Helper()
	w.put(name, `{`+action+`, "timeZone": "America/New_York", "recurrence": {"cron": "`+cron+`"`+more+`}`)
}

const (
	gapSkip = `}, "dst": {"gap": "skip"}`
	plain   = `}`
)

// leftOut returns the records of what the clock jumped over.
func (w *harness) leftOut(name string) []*scheduler.Record {
	w.t.Helper()
	var list []*scheduler.Record
	for _, r := range w.history(name) {
		if r.Reason == scheduler.ReasonDST {
			list = append(list, r)
		}
	}
	return list
}

// until sleeps until an instant so long after the change of the clock.
func until(d time.Duration) { time.Sleep(time.Until(spring.Add(d))) }

// mustTell checks that the history has one record of the change.
func (w *harness) mustTell(name, text string) {
	w.t.Helper()
	list := w.leftOut(name)
	if len(list) != 1 {
		w.t.Fatalf("%s: %d records of what was left out, want 1: %s", name, len(list), w.outcomes(name))
	}
	r := list[0]
	if r.Count != 1 || !r.Nominal.Equal(spring) || !r.From.Equal(spring) || !r.To.Equal(spring) || !strings.HasPrefix(r.Message, text) {
		w.t.Errorf("%s: %d at %s (%s to %s): %q; want 1 at %s: %q", name, r.Count, r.Nominal, r.From, r.To, r.Message, spring, text)
	}
}

func TestLeftOut(t *testing.T) {
	const evenly = "30 0,2,4 * * *"
	inSpring(t, 2*time.Hour+30*time.Minute, func(t *testing.T, w *harness) {
		w.inNewYork("evenly", evenly, gapSkip)
		w.inNewYork("limited", evenly, `, "count": 2`+gapSkip)
		w.inNewYork("hourly", "0 * * * *", plain)
		w.inNewYork("jitter", "0 * * * *", `}, "jitter": "PT10M"`)
		w.inNewYork("beside", "0 * * * *", `}, "overlap": "allow"`)
		w.inNewYork("moved", evenly, plain)
		w.inNewYork("elsewhere", "30 3 * * *", gapSkip)
		w.inNewYork("last", "30 2 8 3 * 2026", gapSkip)

		until(-time.Minute)
		for _, name := range []string{"evenly", "limited", "hourly", "jitter", "beside", "moved", "elsewhere"} {
			if list := w.leftOut(name); len(list) > 0 {
				t.Errorf("%s: recorded before the clock was changed", name)
			}
		}
		next := spring.Add(90 * time.Minute)
		w.wantNext("evenly", next)
		until(15 * time.Minute)
		w.mustTell("evenly", "2026-03-08 02:30 does not exist in America/New_York: does not run")
		if got := w.leftOut("evenly")[0].Ended; !got.Equal(spring) {
			t.Errorf("recorded at %s, want %s", got, spring)
		}
		w.wantNext("evenly", next)
		until(2*time.Hour + 15*time.Minute)
		for _, name := range []string{"evenly", "limited", "last"} {
			w.mustTell(name, "2026-03-08 02:30")
		}
		for _, name := range []string{"hourly", "jitter", "beside"} {
			w.mustTell(name, "2026-03-08 02:00")
			if got := strings.Count(w.outcomes(name), "completed"); got != 5 {
				t.Errorf("%s: %d runs, want 5", name, got)
			}
		}
		for _, name := range []string{"moved", "elsewhere"} {
			if list := w.leftOut(name); len(list) > 0 {
				t.Errorf("%s: %s", name, w.outcomes(name))
			}
		}
		w.wantHistory("limited", "completed skipped(dst 1) completed")
		if got, want := w.get("limited").Job.State, scheduler.Completed; got != want {
			t.Errorf("state %s, want %s", got, want)
		}
		w.mustBeInOrder()
	})
}

// The worker dies after it has recorded the change, and before it has passed
// the baton on; the baton comes again.
func TestLeftOutOnceAfterCrash(t *testing.T) {
	inSpring(t, 30*time.Minute, func(_ *testing.T, w *harness) {
		w.inNewYork("daily", "30 2,4 * * *", gapSkip)
		w.inNewYork("hourly", "0 * * * *", plain)
		until(-time.Minute)
		w.stopWorker()
		w.startWorker(func(c *engine.Config) { c.Store = doubtful(w.store, scheduler.ReasonDST) })
		until(2 * time.Hour)
		w.mustTell("daily", "2026-03-08 02:30")
		w.mustTell("hourly", "2026-03-08 02:00")
	})
}

// TestSkippedOnce interrupts a worker after it has recorded what it skips, and before it passes the baton on. The next delivery
// records only what was skipped since.
func TestSkippedOnce(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.sink.answers(after(3500*time.Millisecond, http.StatusOK))
		w.startWorker(func(c *engine.Config) { c.Store = doubtful(w.store, scheduler.ReasonOverlap) })
		start := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
		w.put("job", `{"startTime": "`+start.Format(time.RFC3339)+`", "recurrence": {"frequency": "second", "count": 20}, "action": `+to("slow", "")+`}`)
		time.Sleep(time.Minute)
		w.mustSkipOnce("job", time.Second)
	})
}

// TestSkippedOnceByAnEdit interrupts an edit after it has recorded what was due by the schedule that it replaces, and before it
// is stored. The edit that follows records only what was due since.
func TestSkippedOnceByAnEdit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		slow := sync.OnceFunc(func() { time.Sleep(20 * time.Second) })
		w.sink.answers(func(*call) (int, string) { slow(); return http.StatusOK, "" })
		every := func(n int) control.Edit {
			return control.Edit{Key: key("job"), Body: fmt.Appendf(nil, `{"recurrence": {"frequency": "second", "interval": %d}, "action": %s}`, n, to("slow", ""))}
		}
		w.put("job", string(every(4).Body))
		time.Sleep(5 * time.Second)
		w.put("job", string(every(1).Body))
		time.Sleep(5 * time.Second)
		cut := w.newServiceOn(doubtful(w.store, scheduler.ReasonOverlap), newKey(t, "k1"))
		if _, _, err := cut.Put(t.Context(), every(2)); !errors.Is(err, scheduler.ErrConflict) {
			t.Fatalf("the edit was not interrupted: %v", err)
		}
		time.Sleep(2 * time.Second)
		w.put("job", string(every(2).Body))
		time.Sleep(time.Minute)
		w.mustSkipOnce("job", 4*time.Second, time.Second, 2*time.Second)
	})
}

// mustSkipOnce fails the test unless a job has skipped some instants, none twice, and its records count them. every has the
// interval of each of its schedules.
func (w *harness) mustSkipOnce(name string, every ...time.Duration) {
	w.t.Helper()
	type instant struct {
		schedule int
		at       time.Time
	}
	skipped := map[instant]int{}
	for _, r := range w.history(name) {
		if r.Outcome != scheduler.OutcomeSkipped {
			continue
		}
		n := 0
		for at := r.From; !at.After(r.To); at = at.Add(every[r.Schedule-1]) {
			skipped[instant{r.Schedule, at}]++
			n++
		}
		if n != r.Count {
			w.t.Errorf("%d instants from %s to %s are counted as %d", n, r.From, r.To, r.Count)
		}
	}
	for i, n := range skipped {
		if n > 1 {
			w.t.Errorf("%s of schedule %d was skipped %d times", i.at, i.schedule, n)
		}
	}
	if len(skipped) == 0 {
		w.t.Error("nothing was skipped")
	}
}

// The timers stream is lost after the change has been recorded. The baton that
// the audit derives from the history does not tell it again.
func TestLeftOutOnceAfterLoss(t *testing.T) {
	inSpring(t, 30*time.Minute, func(_ *testing.T, w *harness) {
		w.inNewYork("daily", "30 2,4 * * *", gapSkip)
		w.inNewYork("fresh", "30 2,4 8 3 *", gapSkip)
		until(15 * time.Minute)
		w.stopWorker()
		w.loseTimers()
		w.startWorker()
		until(2 * time.Hour)
		w.mustTell("daily", "2026-03-08 02:30")
		w.mustTell("fresh", "2026-03-08 02:30")
		w.wantHistory("fresh", "skipped(dst 1) completed")
	})
}
