package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// at is an action that calls a host of its own.
func at(host string) string {
	return `"action": {"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}`
}

// replace deletes a job and puts another of its name.
func (w *harness) replace(name, body string) {
	w.t.Helper()
	w.must(w.service.Delete(w.t.Context(), key(name), 0))
	w.put(name, body)
}

// TestNameUsedAgainWhileHeld deletes jobs in the moment in which a worker holds their batons, and puts others of the names:
// the deleted jobs do not run, the other ones run at their own times, and no key is used twice.
func TestNameUsedAgainWhileHeld(t *testing.T) {
	tests := map[string]struct {
		old, recurs string
		start       time.Duration // of the next job, from when the first was due
		calls       int           // within ten minutes
	}{
		"same-instant":   {calls: 1},
		"moments-before": {start: -50 * time.Millisecond, calls: 1},
		"often":          {recurs: `"recurrence": {"frequency": "Minute"}, `, calls: 10},
		"beside-itself":  {old: `"overlap": "allow", `, recurs: `"overlap": "allow", "recurrence": {"frequency": "Minute"}, `, calls: 10},
	}
	inBubble(t, func(t *testing.T, w *harness) {
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second)
		for name, test := range tests {
			w.put(name, `{`+test.old+`"startTime": "`+due.Format(time.RFC3339Nano)+`", "recurrence": {"frequency": "Day"}, `+at("old")+`}`)
		}
		time.Sleep(time.Until(due) - 100*time.Millisecond)
		for name, test := range tests {
			if !w.withWorker(name) {
				t.Fatalf("the baton of %s is not with the worker yet", name)
			}
			w.replace(name, `{"startTime": "`+due.Add(test.start).Format(time.RFC3339Nano)+`", `+test.recurs+at("new")+`}`)
		}
		time.Sleep(time.Until(due) + 10*time.Minute - time.Second)
		keys := map[string]bool{}
		for name, test := range tests {
			calls := w.callsOf(name)
			for i, c := range calls {
				if keys[c.key] {
					t.Errorf("two calls under the key %s", c.key)
				}
				keys[c.key] = true
				if want := due.Add(test.start + time.Duration(i)*time.Minute); c.host != "new.example" || c.at.Before(want) || c.at.Sub(want) > time.Second {
					t.Errorf("%s: call of %s at %s, want one of new.example at %s", name, c.host, c.at, want)
				}
			}
			if v := w.get(name); v.Status.Executions != test.calls || len(calls) != test.calls {
				t.Errorf("%s: %d calls, %d executions, want %d: %s", name, len(calls), v.Status.Executions, test.calls, w.outcomes(name))
			}
		}
		w.mustBeInOrder()
	})
}

// TestNameUsedAgainWhileRunning deletes jobs while their attempts run. What the attempts leave is not taken for the next jobs',
// neither by a worker that takes over nor by the audit.
func TestNameUsedAgainWhileRunning(t *testing.T) {
	jobs := map[string]string{"alone": "", "one-off": `"overlap": "allow", `}
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if c.host == "old.example" {
				return after(30*time.Second, http.StatusOK)(c)
			}
			return http.StatusOK, ""
		})
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second).Format(time.RFC3339)
		for name, overlap := range jobs {
			w.put(name, `{`+overlap+`"startTime": "`+due+`", "recurrence": {"frequency": "Day"}, `+at("old")+`}`)
		}
		time.Sleep(25 * time.Second)
		later := time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339)
		for name := range jobs {
			w.replace(name, `{"startTime": "`+later+`", "recurrence": {"frequency": "Minute", "interval": 10}, `+at("new")+`}`)
		}
		time.Sleep(time.Minute)
		for name := range jobs {
			if v := w.get(name); v.Status.Executions != 0 {
				t.Errorf("%s: %d executions of a job that has not run yet", name, v.Status.Executions)
			}
		}
		w.loseTimers()
		for name := range jobs {
			if next := w.get(name).Status.Next.Format(time.RFC3339); next != later {
				t.Errorf("%s: after the audit it runs at %s, want %s", name, next, later)
			}
		}
		time.Sleep(25 * time.Minute)
		for name := range jobs {
			if v, n := w.get(name), len(w.callsOf(name)); v.Status.Executions != 2 || n != 3 {
				t.Errorf("%s: %d executions, want 2; %d calls, want 3", name, v.Status.Executions, n)
			}
		}
	})
}

// TestLateRecordIsNotOfTheNextJob deletes a job while its attempt runs: what that leaves behind is shown as of an earlier job
// only, also when there is no job of the name.
func TestLateRecordIsNotOfTheNextJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if c.host == "old.example" {
				return after(4*time.Second, http.StatusInternalServerError)(c)
			}
			return http.StatusOK, ""
		})
		w.put("job", `{`+at("old")+`, "recurrence": {"frequency": "Day"}}`)
		time.Sleep(2 * time.Second)
		w.replace("job", `{`+at("new")+`, "recurrence": {"frequency": "Day"}}`)
		time.Sleep(time.Minute)
		read := func(filter scheduler.RecordFilter, of scheduler.Key) string {
			t.Helper()
			records, _, err := w.service.History(t.Context(), control.HistoryQuery{RecordFilter: filter, Key: of}, v1.Page{})
			if err != nil {
				return err.Error()
			}
			var words []string
			for _, r := range records {
				words = append(words, string(r.Outcome))
			}
			return strings.Join(words, " ")
		}
		uid := w.get("job").Job.UID
		for _, of := range []scheduler.Key{key("job"), {Collection: "default"}, {}} {
			if got := read(scheduler.RecordFilter{}, of); got != "completed" {
				t.Errorf("history of %q: %q", of, got)
			}
			if got := read(scheduler.RecordFilter{UID: uid}, of); got != "completed" {
				t.Errorf("of the job's uid in %q: %q", of, got)
			}
			if got := read(scheduler.RecordFilter{Earlier: true}, of); got != "failed" {
				t.Errorf("of the earlier job in %q: %q", of, got)
			}
		}
		if v := w.get("job"); v.Status.Executions != 1 || v.Status.Failures != 0 {
			t.Errorf("status %+v", v.Status)
		}
		w.loseTimers()
		if v := w.get("job"); v.Status.Executions != 1 || v.Status.Failures != 0 || time.Until(v.Status.Next) < 23*time.Hour {
			t.Errorf("after the audit: status %+v", v.Status)
		}

		w.sink.answers(after(4*time.Second, http.StatusOK))
		w.replace("job", `{`+at("third")+`, "recurrence": {"frequency": "Day"}}`)
		time.Sleep(2 * time.Second)
		w.must(w.service.Delete(t.Context(), key("job"), 0))
		time.Sleep(time.Minute)
		if got := read(scheduler.RecordFilter{}, key("job")); got != "job default/job: not found" {
			t.Errorf("history of no job: %q", got)
		}
		if got := read(scheduler.RecordFilter{Earlier: true}, key("job")); got != "completed" {
			t.Errorf("of the earlier job: %q", got)
		}
	})
}

// forgetful is a store as a process sees it that dies in the middle of a delete: batons and records stay.
func forgetful(st scheduler.Store) *hooked {
	return on(st, "Clear Forget", func(func() error) error { return nil })
}

// TestDeleteCutShort leaves the batons of deleted jobs in their places. They do not run as the next jobs of the names, and these
// get their own.
func TestDeleteCutShort(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		looks := make(chan struct{}, 10)
		w.startWorker(func(c *engine.Config) { c.OnTakeover = func() { looks <- struct{}{} } })
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second)
		cut := w.newServiceOn(forgetful(w.store))
		leads := map[string]time.Duration{"waiting": 10 * time.Second, "held": 100 * time.Millisecond}
		for name := range leads {
			w.put(name, `{"startTime": "`+due.Format(time.RFC3339)+`", `+at("old")+`}`)
		}
		for _, name := range []string{"waiting", "held"} {
			time.Sleep(time.Until(due) - leads[name])
			w.must(cut.Delete(t.Context(), key(name), 0))
			w.put(name, `{"startTime": "1999-01-01T00:00:00Z", `+at("new")+`}`) // at once
		}
		time.Sleep(time.Minute)
		for len(looks) > 0 {
			<-looks
			w.must(w.service.Audit(t.Context(), true))
		}
		time.Sleep(time.Minute)
		for name := range leads {
			if calls := w.callsOf(name); len(calls) != 1 || calls[0].host != "new.example" {
				t.Errorf("%s: %d calls, want one of the new job", name, len(calls))
			}
			w.wantHistory(name, "completed")
		}
	})
}

// TestNameUsedAgainAfterSkips deletes a job while the attempt runs that is late after an outage. The skips that are recorded
// with it are not taken for the next job's.
func TestNameUsedAgainAfterSkips(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{"recurrence": {"frequency": "Minute"}, `+at("old")+`}`)
		time.Sleep(70 * time.Second)
		w.stopWorker()
		time.Sleep(10 * time.Minute)
		w.sink.answers(after(30*time.Second, http.StatusOK))
		w.startWorker()
		time.Sleep(5 * time.Second)
		later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		w.replace("job", `{"startTime": "`+later+`", "recurrence": {"frequency": "Minute", "count": 1}, `+at("new")+`}`)
		time.Sleep(time.Minute)
		if got := w.outcomes("job"); got != "skipped(catchUp 9) completed" {
			t.Fatalf("history %q", got)
		}
		w.loseTimers()
		time.Sleep(70 * time.Minute)
		calls := w.sink.seen()
		if last := calls[len(calls)-1]; last.host != "new.example" || last.at.Format(time.RFC3339) != later {
			t.Errorf("the last call was of %s at %s, want one of new.example at %s", last.host, last.at, later)
		}
	})
}

// TestDeleteCutShortBesideOneOff leaves the baton of a deleted job whose occurrence has ended on a one-off: a worker that takes
// over does not plan the next job of the name from it.
func TestDeleteCutShortBesideOneOff(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker()
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second).Format(time.RFC3339)
		w.put("job", `{"overlap": "allow", "startTime": "`+due+`", "recurrence": {"frequency": "Day"}, `+at("old")+`}`)
		time.Sleep(10 * time.Second)
		slot := scheduler.BatonKey{Key: key("job")}
		st := must.Get(w.store.Waiting(t.Context(), slot))(t)
		time.Sleep(15 * time.Second)
		w.stopWorker() // as if it had died before it passed the baton on
		err := w.store.Cancel(t.Context(), slot, 0)
		if err == nil {
			err = w.store.Fire(t.Context(), slot, st.Data, 0)
		}
		w.must(err)
		cut := w.newServiceOn(forgetful(w.store))
		must.Do(t, cut.Delete(t.Context(), key("job"), 0))
		w.put("job", `{"overlap": "allow", "recurrence": {"frequency": "Minute", "count": 2}, `+at("new")+`}`)
		time.Sleep(time.Second) // what fired before a worker began is suspect
		looks := make(chan struct{}, 10)
		w.startWorker(func(c *engine.Config) { c.OnTakeover = func() { looks <- struct{}{} } })
		time.Sleep(15 * time.Second)
		if len(looks) == 0 {
			t.Fatal("nobody asked for an audit")
		}
		w.must(w.service.Audit(t.Context(), true))
		time.Sleep(time.Hour)
		w.wantCalls(3)
	})
}
