package engine_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

const every10s = `"recurrence": {"frequency": "Second", "interval": 10}`

func TestDisableWhileRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(2 * time.Second)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(2 * time.Minute)
		w.wantHistory("job", "completed")
		w.wantState("job", scheduler.Disabled, 1)
		w.mustBeInOrder()
	})
}

// wantPaths fails the test unless the target was called at these paths.
func (w *harness) wantPaths(want string) {
	w.t.Helper()
	var paths []string
	for _, c := range w.sink.seen() {
		paths = append(paths, strings.TrimPrefix(c.url, "http://target.example"))
	}
	if got := strings.Join(paths, " "); got != want {
		w.t.Errorf("calls %q, want %q", got, want)
	}
}

// An occurrence under way keeps the definition it started with, retries
// included; the edit counts from the next one.
func TestEditWhileRunning(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`}, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(5 * time.Second) // between the first try and the retry
		w.put("job", `{`+strings.ReplaceAll(failing, "/fails", "/new")+`}, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(70 * time.Second)
		w.wantPaths("/fails /fails /fails /new")
	})
}

// TestDeletedJobsAreGone deletes a job in the middle: no page has a job twice because of it, and another may take its
// place in the quota.
func TestDeletedJobsAreGone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.service.PutCollection(w.t.Context(), "few", []byte(`{"properties": {"quota": {"maxJobCount": 3}}}`)))
		put := func(name string) error {
			_, _, err := w.service.Put(t.Context(), control.Edit{
				Key: scheduler.Key{Collection: "few", Job: name}, Body: []byte(`{` + action + `, "state": "disabled"}`),
			})
			return err
		}
		for _, name := range []string{"a", "b", "c"} {
			w.must(put(name))
		}
		if err := put("d"); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "is full") {
			t.Errorf("a fourth job: %v", err)
		}
		w.must(w.service.Delete(t.Context(), scheduler.Key{Collection: "few", Job: "b"}, 0))
		if err := put("d"); err != nil {
			t.Errorf("in the place of a deleted job: %v", err)
		}
		for name, next := range map[string]func(p *v1.Page, last string){
			"skipping": func(p *v1.Page, _ string) { p.Skip++ },
			"by name":  func(p *v1.Page, last string) { p.After = last },
		} {
			var names []string
			p := v1.Page{Top: 1}
			for more := true; more && len(names) < 9; next(&p, names[len(names)-1]) {
				page, after, err := w.service.Search(t.Context(), scheduler.JobQuery{Collections: []string{"few"}}, p)
				if err != nil || len(page) != 1 {
					t.Fatalf("%s, page %+v: %v %v", name, p, page, err)
				}
				names, more = append(names, page[0].Job.Key.Job), after != nil
			}
			if got := strings.Join(names, " "); got != "a c d" {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// Only the last occurrence decides whether a job with overlap allow faulted.
func TestOverlapAllowFaults(t *testing.T) {
	inWorlds(t, map[string]int{"the last": 1, "the one before": 0}, func(t *testing.T, w *harness, nth int) {
		w.startWorker()
		start := time.Now().Add(time.Minute).UTC()
		failed := scheduler.OccurrenceID(key("job"), start.Add(time.Duration(nth)*12*time.Second))
		w.sink.answers(func(c *call) (int, string) {
			if c.key == failed {
				return http.StatusInternalServerError, ""
			}
			return http.StatusOK, ""
		})
		w.put("job", `{`+failing+`}, "overlap": "allow", "startTime": "`+start.Format(time.RFC3339Nano)+`",
					"recurrence": {"frequency": "Second", "interval": 12, "count": 2}}`)
		time.Sleep(4 * time.Minute)
		w.wantState("job", []scheduler.State{scheduler.Completed, scheduler.Faulted}[nth], 4)
		if n := w.get("job").Status.Faults; n != 1 {
			t.Errorf("%d occurrences faulted", n)
		}
	})
}

// TestChangesOfAnotherProcess has another process edit a job and disable its collection. What the worker has read of both
// is not believed any longer.
func TestChangesOfAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		_, elsewhere := w.open()
		second := control.New(control.Config{
			Store: elsewhere, Actions: w.actions(), Secrets: secrets.NewVault(secrets.Config{Store: elsewhere.Secrets()}),
		})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(150 * time.Second)
		edited := `{` + strings.ReplaceAll(action, "/hook", "/new") + `, "recurrence": {"frequency": "Minute"}}`
		w.must(second.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(edited)}))
		time.Sleep(time.Minute)
		w.wantPaths("/hook /hook /hook /new")
		w.must(second.PutCollection(t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "disabled"}}`)))
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed completed completed postponed")
	})
}

// TestDisableWhileRunByHandIsPutOff disables jobs whose run by hand their target holds back: the run is not the schedule's, and
// goes on to its end; the schedule does not.
func TestDisableWhileRunByHandIsPutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(breaker)
		w.openCircuit()
		ids := map[string]string{}
		for _, name := range []string{"off", "again"} {
			w.put(name, `{"recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T01:00:00Z", `+quickly+`}`)
			asked := time.Now().UTC()
			id := must.Get(w.service.RunBy(t.Context(), key(name), nil, asked))(t)
			ids[name] = id
			time.Sleep(time.Second)
			w.must(w.service.Disable(t.Context(), key(name)))
			if repeated, err := w.service.RunBy(t.Context(), key(name), nil, asked); err != nil || repeated != id {
				t.Errorf("the same request again: %q, %v", repeated, err)
			}
		}
		w.must(w.service.Enable(t.Context(), key("again")))
		heal()
		time.Sleep(5 * time.Minute)
		for name, id := range ids {
			w.wantHistory(name, "postponed/manual completed/manual")
			if calls := w.callsOf(name); len(calls) != 1 || calls[0].key != id {
				t.Errorf("%s: %d calls, the first with the key %s, want %s", name, len(calls), calls[0].key, id)
			}
		}
		time.Sleep(2 * time.Hour)
		for name, want := range map[string]int{"off": 1, "again": 3} {
			if got := len(w.callsOf(name)); got != want {
				t.Errorf("%s: %d calls in two hours, want %d: %s", name, got, want, w.outcomes(name))
			}
			if v := w.get(name); v.Status.Executions != want || v.Job.State.Final() {
				t.Errorf("%s: state %s, status %+v", name, v.Job.State, v.Status)
			}
		}
		w.mustBeInOrder()
	})
}

// TestEnableWhileEndIsWritten enables jobs while a worker, which has found them disabled, writes down how far they got: they
// go on, without an audit.
func TestEnableWhileEndIsWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = slow(w.store, 2*time.Second, "SaveJob EndJobs") })
		w.sink.answers(after(20*time.Second, http.StatusOK))
		names := []string{"planned", "by-hand"}
		for i, name := range names {
			start := time.Now().Add(5*time.Second + time.Duration(i)*time.Hour).UTC().Format(time.RFC3339Nano)
			w.put(name, `{"startTime": "`+start+`", "recurrence": {"frequency": "Hour"}, `+failOnce+`}`)
		}
		time.Sleep(5 * time.Second)
		w.must(w.service.Trigger(t.Context(), key("by-hand")))
		time.Sleep(10 * time.Second)
		for _, name := range names {
			w.must(w.service.Disable(t.Context(), key(name)))
		}
		time.Sleep(11 * time.Second)
		for _, name := range names {
			if n := len(w.history(name)); n != 1 {
				t.Fatalf("%s: %d records before the end is written", name, n)
			}
			w.must(w.service.Enable(t.Context(), key(name)))
		}
		time.Sleep(150 * time.Minute)
		for _, name := range names {
			if n := len(w.callsOf(name)); n != 3 {
				t.Errorf("%s: %d calls, want 3", name, n)
			}
		}
		w.mustBeInOrder()
	})
}

// TestNewScheduleWhileEndIsWritten gives a job a new schedule while a worker writes down that it has completed: an audit is
// asked for at once, and the job goes on.
func TestNewScheduleWhileEndIsWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		looks := make(chan struct{}, 10)
		w.startWorker(func(c *engine.Config) {
			c.Store, c.OnTakeover = slow(w.store, 2*time.Second, "SaveJob EndJobs"), func() { looks <- struct{}{} }
		})
		w.put("job", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		if n := len(w.history("job")); n != 1 {
			t.Fatalf("%d records before the end is written", n)
		}
		w.put("job", `{"startTime": "2000-01-01T00:10:00Z", `+failOnce+`}`)
		time.Sleep(15 * time.Second)
		if len(looks) == 0 {
			t.Fatal("nobody asked for an audit")
		}
		w.must(w.service.Audit(t.Context(), true))
		time.Sleep(time.Hour)
		w.wantCalls(2)
		w.mustBeInOrder()
	})
}

// TestRunAfterEditCutShort edits a job, whose baton stays as it was, and runs it by hand: its new schedule begins all the same.
func TestRunAfterEditCutShort(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(time.Second)
		body := []byte(`{"recurrence": {"frequency": "Second", "interval": 10}}`)
		_, err := w.newServiceOn(refusing(w.store, "ScheduleAt")).Patch(t.Context(), control.Edit{Key: key("job"), Body: body})
		if !errors.Is(err, scheduler.ErrUnavailable) {
			t.Fatal(err)
		}
		_, err = w.service.Trigger(t.Context(), key("job"))
		for range 3 {
			if errors.Is(err, scheduler.ErrConflict) {
				time.Sleep(time.Second)
				_, err = w.service.Trigger(t.Context(), key("job"))
			}
		}
		w.must(err)
		time.Sleep(time.Minute)
		account := must.Get(w.service.Account(t.Context(), key("job"), "2000-01-01T00:00:00Z", ""))(t)
		if account.Due < 7 || account.Lacking > 0 {
			t.Errorf("%d due, %d without a record: %v", account.Due, account.Lacking, account.Rows)
		}
	})
}

// TestDisableLetsBegunEnd disables jobs whose occurrence waits for a retry or an errorAction: it ends as usual, under the
// definition that it began with, whether the job is enabled meanwhile or not. Every occurrence that began has its last record.
func TestDisableLetsBegunEnd(t *testing.T) {
	const policy = `"retryCount": 2, "retryInterval": "PT1M"`
	main := `{"action": ` + retried("main", policy)
	alarm := `{"action": ` + to("main", `, "errorAction": `+retried("alarm", policy))
	hourly, minutely := `, "recurrence": {"frequency": "Hour"}`, `, "recurrence": {"frequency": "Minute"}`
	const thrice, failed = "main main main", "failed failed failed faulted"
	tests := map[string]struct {
		job, calls, outcomes string
		enabled              time.Duration // after it was disabled; 0: never
		state                scheduler.State
	}{
		"recurring":     {main + hourly, thrice, failed, 0, scheduler.Disabled},
		"some-fell-due": {main + minutely + `, "catchUp": {"policy": "skip"}`, thrice, "failed failed skipped(disabled 1) failed faulted", 90 * time.Second, scheduler.Disabled},
		"once":          {main, thrice, failed, 30 * time.Second, scheduler.Faulted},
		"once-late":     {main, thrice, failed, 20 * time.Minute, scheduler.Faulted},
		"errorAction":   {alarm + hourly, "main alarm/error alarm/error alarm/error", "failed failed/error failed/error failed/error faulted", 0, scheduler.Disabled},
	}
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("main alarm"))
		for name, test := range tests {
			w.put(name, test.job+`}`)
		}
		time.Sleep(time.Second)
		disabled := time.Now()
		for name := range tests {
			w.must(w.service.Disable(t.Context(), key(name)))
			if v := w.get(name); v.Job.State != scheduler.Disabled || v.Status.Next.IsZero() {
				t.Errorf("%s, disabled: state %s, status %+v; want the next attempt", name, v.Job.State, v.Status)
			}
			w.mustExplain(name, "2000-01-01T00:00Z", explain.Retrying, "the next one is due")
		}
		for _, name := range []string{"once", "some-fell-due", "once-late"} {
			time.Sleep(time.Until(disabled.Add(tests[name].enabled)))
			w.must(w.service.Enable(t.Context(), key(name)))
			if name == "some-fell-due" { // and go on while it is enabled
				time.Sleep(time.Second)
				w.must(w.service.Disable(t.Context(), key(name)))
			}
		}
		time.Sleep(20 * time.Minute)
		for name, test := range tests {
			if got := told(w.callsOf(name)); got != test.calls {
				t.Errorf("%s: told %q, want %q", name, got, test.calls)
			}
			w.wantHistory(name, test.outcomes)
			v, n := w.get(name), len(w.callsOf(name))
			if v.Job.State != test.state || v.Status.Executions+v.Status.Errors != n || v.Status.Faults != 1 {
				t.Errorf("%s: state %s, status %+v, want %s and %d executions", name, v.Job.State, v.Status, test.state, n)
			}
			w.mustExplain(name, "2000-01-01T00:00Z", explain.Failed, "faulted")
		}
		w.mustBeInOrder()
	})
}

// TestEnableAfterFault disables a one-shot while it runs, and enables it when it has faulted.
func TestEnableAfterFault(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Second)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(time.Minute)
		w.must(w.service.Enable(t.Context(), key("job")))
		time.Sleep(time.Minute)
		w.wantHistory("job", "failed faulted")
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Executions != 1 || v.Status.Faults != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}

// TestLastTimeOfTheScheduleBefore edits a job after the last time of its schedule was due, and before a worker has it: the time
// runs, and then the new schedule begins.
func TestLastTimeOfTheScheduleBefore(t *testing.T) {
	for _, overlap := range []string{"allow", "skip", "queue"} {
		t.Run(overlap, func(t *testing.T) {
			inWorld(t, func(_ *testing.T, w *harness) {
				put := func(recurrence string) {
					w.put("job", `{"startTime": "2000-01-01T00:00:10Z", "overlap": "`+overlap+`", "recurrence": `+recurrence+`, `+action+`}`)
				}
				put(`{"frequency": "Minute", "count": 1}`)
				time.Sleep(15 * time.Second)
				put(`{"frequency": "Minute", "interval": 5, "count": 3}`)
				w.startWorker()
				time.Sleep(time.Hour)
				w.wantHistory("job", "completed completed completed completed")
			})
		})
	}
}
