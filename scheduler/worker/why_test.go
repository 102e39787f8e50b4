package worker_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/why"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// mustExplain asks why, and what the answer says.
func (w *world) mustExplain(name, at string, code why.Code, says string) *why.Answer {
	w.t.Helper()
	a, err := w.service.Why(w.t.Context(), key(name), at)
	w.must(nil, err)
	if text := a.Answer + strings.Join(a.Notes, "\n"); a.Code != code || !strings.Contains(text, says) {
		w.t.Errorf("%s at %s: %s: %s; want %s: %s", name, at, a.Code, text, code, says)
	}
	return a
}

// timeOfDay is when the clock shows a time on the day on which bubbles begin.
func timeOfDay(t *testing.T, clock string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, "2000-01-01 "+clock)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestWhyOfWhatIsUnderWay asks about an attempt that runs, one that was left out behind it, one that is retried, and one
// that waits for the circuit of its target.
func TestWhyOfWhatIsUnderWay(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *world) {
		w.sink.answers(after(100*time.Second, http.StatusServiceUnavailable))
		w.put("job", `{"recurrence": {"frequency": "Minute"}, "startTime": "2000-01-01T01:00:00Z", "timeout": "PT5M", `+
			strings.Replace(quickly, "PT1S", "PT10M", 1)+`}`)
		midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(midnight.Add(time.Hour + 90*time.Second)))
		w.mustExplain("job", "2000-01-01T01:00Z", why.Running, "under way")
		w.mustExplain("job", "now", why.Running, "under way")
		w.mustExplain("job", "2000-01-01T01:01Z", why.Skipped, "still under way")
		time.Sleep(time.Minute)
		w.mustExplain("job", "2000-01-01T01:00Z", why.Retrying, "due at 2000-01-01T01:11:4")
		w.ail()
		time.Sleep(2 * time.Hour)
		w.mustExplain("job", "2000-01-01T01:00Z", why.Failed, "after 4 attempts")
		w.mustExplain("job", "2000-01-01T01:01Z", why.Skipped, "still under way")

		w.rules(breaker)
		w.openCircuit()
		due := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
		w.put("waits", `{"startTime": "`+due.Format(time.RFC3339)+`", `+failOnce+`}`)
		time.Sleep(5 * time.Second)
		w.mustExplain("waits", due.Format(time.RFC3339), why.Waits, "the circuit of target.example:80 is open")
	})
}

// TestWhyTellsWhoDisabled asks about what did not run because a job or its collection was disabled, and about a run by hand of
// such a job while it is under way.
func TestWhyTellsWhoDisabled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", hourlyJob)
		at := func(clock string) { time.Sleep(time.Until(timeOfDay(t, clock))) }
		at("01:30:00")
		w.must(w.service.Disable(w.as("ada"), key("job")))
		at("02:30:00")
		w.must(w.service.Patch(w.as("bob"), service.Edit{Key: key("job"), Body: []byte(`{"description": "x"}`)}))
		at("03:30:00")
		w.mustExplain("job", "2000-01-01T02:00Z", why.Disabled, "since 2000-01-01T01:30:00Z by ada")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Disabled, "since 2000-01-01T01:30:00Z by ada")

		w.sink.answers(after(time.Minute, http.StatusOK))
		w.must(w.service.Trigger(w.as("carl"), key("job")))
		time.Sleep(10 * time.Second)
		w.mustExplain("job", "now", why.Running, "the run by hand of 2000-01-01T03:30:00Z is with a worker")
		w.mustExplain("job", "2000-01-01T03:30Z", why.Running, "by hand")
		time.Sleep(2 * time.Minute)
		w.mustExplain("job", "2000-01-01T03:30Z", why.Ran, "it is a run by hand")

		w.must(w.service.Enable(w.as("ada"), key("job")))
		w.mustExplain("job", "2000-01-01T03:00Z", why.Skipped, "the job was disabled (at 2000-01-01T01:30:00Z by ada)")
		w.must(w.service.TurnCollection(w.as("dora"), scheduler.DefaultCollection, scheduler.Disabled))
		at("05:30:00")
		w.mustExplain("job", "2000-01-01T04:00Z", why.Postponed, "by dora")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Postponed, "is disabled since 2000-01-01T03:32:10")
		w.must(w.service.TurnCollection(w.as("emil"), scheduler.DefaultCollection, scheduler.Enabled))
		at("06:30:00")
		w.mustExplain("job", "2000-01-01T05:00Z", why.Postponed, "by dora")

		w.must(nil, w.service.Delete(w.as("fay"), key("job"), 0))
		w.mustExplain("job", "2000-01-01T05:00Z", why.Deleted, "at 2000-01-01T06:30:00Z by fay")
	})
}

// TestWhyBeyondTheHistory asks about runs whose records have given way to later ones.
func TestWhyBeyondTheHistory(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *store.Config) { c.HistoryPerJob = 10 })
		w.startWorker()
		w.put("job", `{"recurrence": {"frequency": "Minute"}, "startTime": "2000-01-01T01:00:00Z", `+failOnce+`}`)
		time.Sleep(time.Until(time.Date(2000, 1, 1, 2, 0, 30, 0, time.UTC)))
		w.mustExplain("job", "2000-01-01T01:55Z", why.Ran, "")
		w.mustExplain("job", "2000-01-01T01:30Z", why.Unknown, "kept since 2000-01-01T01:51:00")
		w.mustExplain("job", "2000-01-01T01:30:10Z", why.NotDue, "")
	})
}
