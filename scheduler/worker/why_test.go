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

// TestWhyWithoutTime asks about the latest instant that did not run: of a job that runs, is behind, is paused, is disabled, and
// whose collection is.
func TestWhyWithoutTime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", hourlyJob)
		at := func(clock string) { time.Sleep(time.Until(timeOfDay(t, clock))) }
		at("01:30:00")
		w.mustExplain("job", "", why.Planned, "2000-01-01T02:00:00Z")

		w.must(w.service.Pause(w.as("ada"), key("job"), "2000-01-01T03:30:00Z"))
		at("02:30:00")
		if a := w.mustExplain("job", "", why.Paused, "by ada"); a.After == nil || !a.After.UTC.Equal(timeOfDay(t, "04:00:00")) {
			t.Errorf("next: %+v", a.After)
		}
		at("03:45:00")
		w.mustExplain("job", "", why.Paused, "until 2000-01-01T03:30:00Z")
		at("04:01:00")
		w.mustExplain("job", "", why.Skipped, "the job was paused")

		w.must(w.service.Disable(w.as("ada"), key("job")))
		at("05:30:00")
		if a := w.mustExplain("job", "", why.Disabled, "by ada"); a.After != nil {
			t.Errorf("next: %+v", a.After)
		}
		w.must(w.service.Enable(w.as("ada"), key("job")))
		w.mustExplain("job", "", why.Skipped, "the job was disabled")

		w.sink.answers(after(25*time.Minute, http.StatusOK))
		w.put("slow", `{"recurrence": {"frequency": "Minute", "interval": 10}, "startTime": "2000-01-01T06:00:00Z", "timeout": "PT30M", `+failOnce+`}`)
		at("06:05:00")
		w.mustExplain("slow", "", why.Running, "2000-01-01T06:00:00Z")
		at("06:11:00")
		w.mustExplain("slow", "", why.Skipped, "still under way")
		w.must(w.service.TurnCollection(w.as("dora"), scheduler.DefaultCollection, scheduler.Disabled))
		at("06:21:00")
		if a := w.mustExplain("slow", "2000-01-01T06:20Z", why.Postponed, "by dora"); strings.Contains(a.Hint, "overlap") {
			t.Errorf("hint: %s", a.Hint)
		}
		if a := w.mustExplain("job", "", why.Postponed, "by dora"); a.After != nil {
			t.Errorf("next: %+v", a.After)
		}
	})
}

// TestWhyOfRuns lets a job run, overlap, be disabled with its collection and alone, and be edited, and asks about each.
func TestWhyOfRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const hourly = `{"recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T01:00:00Z", "timeout": "PT30M", ` + failOnce + `}`
		w.put("job", hourly)
		at := func(clock string) { time.Sleep(time.Until(timeOfDay(t, clock))) }
		at("00:30:00")
		w.mustExplain("job", "2000-01-01T01:00Z", why.Planned, "")
		at("01:30:00")
		w.mustExplain("job", "2000-01-01T01:00", why.Ran, "one attempt")
		w.mustExplain("job", "-30m", why.Ran, "one attempt")
		w.mustExplain("job", "now", why.NotDue, "2000-01-01T02:00:00Z")

		w.turnCollection(scheduler.Disabled)
		at("03:30:00")
		w.mustExplain("job", "2000-01-01T02:00Z", why.Postponed, "collection default is disabled")
		w.mustExplain("job", "2000-01-01T03:00Z", why.Postponed, "collection default is disabled")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Postponed, "collection default is disabled")
		w.turnCollection(scheduler.Enabled)
		at("04:30:00")
		w.mustExplain("job", "2000-01-01T03:00Z", why.Postponed, "collection default is disabled")
		w.mustExplain("job", "2000-01-01T04:00Z", why.Ran, "")

		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		at("06:30:00")
		w.mustExplain("job", "2000-01-01T05:00Z", why.Disabled, "2000-01-01T04:30:00")
		if _, err := w.service.Enable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		w.mustExplain("job", "2000-01-01T06:00Z", why.Skipped, "the job was disabled")

		w.stopWorker()
		at("09:30:00")
		w.mustExplain("job", "2000-01-01T07:00Z", why.Overdue, "has not ended")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Overdue, "2000-01-01T07:00:00Z")
		w.startWorker()
		at("09:59:00")
		w.mustExplain("job", "2000-01-01T08:00Z", why.Skipped, "no scheduler ran it in time")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Ran, "30m")

		w.put("job", strings.Replace(hourly, `"Hour"`, `"Day"`, 1))
		at("10:30:00")
		w.mustExplain("job", "2000-01-01T09:00Z", why.Ran, "")
		w.mustExplain("job", "2000-01-01T09:45Z", why.NotDue, "the schedule that the job had then: every hour")
		w.mustExplain("job", "2000-01-01T10:00Z", why.NotDue, "begins later, at 2000-01-02T01:00:00Z")
	})
}
