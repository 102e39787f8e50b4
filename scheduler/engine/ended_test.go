package engine_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// inEndlessBubble runs f while ends of jobs are nowhere but in their histories.
func inEndlessBubble(t *testing.T, f func(t *testing.T, w *harness)) {
	t.Helper()
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store, c.Logger = refusing(w.store, "EndJobs"), nil })
		f(t, w)
	})
}

// storedState is the state that the definition of a job says.
func (w *harness) storedState(name string) scheduler.State {
	w.t.Helper()
	st := must.Get(w.store.LoadJob(w.t.Context(), key(name)))(w.t)
	return scheduler.StoredState(st.Data)
}

// listed returns the names of the jobs of a state, page by page.
func (w *harness) listed(state scheduler.State) (names []string) {
	w.t.Helper()
	for p := (&v1.Page{}); p != nil; {
		var jobs []*v1.Job
		var err error
		if jobs, p, err = w.service.Search(w.t.Context(), scheduler.JobQuery{Collections: []string{scheduler.DefaultCollection}, State: state}, *p); err != nil {
			w.t.Fatal(err)
		}
		for _, v := range jobs {
			if state != "" && v.Job.State != state {
				w.t.Errorf("%s is listed as %s: it is %s", v.Job.Key, state, v.Job.State)
			}
			names = append(names, v.Job.Key.Job)
		}
	}
	return names
}

// TestEndedShowsAtOnce lets jobs end in every way, while nobody writes that into their definitions: they show as ended all the same,
// one by one and in lists. The audit tells them from jobs that have lost their batons, mends nothing, and their final forms say
// what was shown.
func TestEndedShowsAtOnce(t *testing.T) {
	jobs := map[string]struct {
		doc   string
		state scheduler.State
		runs  int
	}{
		"once":    {action, scheduler.Completed, 1},
		"counted": {action + `, "recurrence": {"frequency": "Second", "interval": 5, "count": 3}`, scheduler.Completed, 3},
		"until":   {action + `, "recurrence": {"frequency": "Second", "interval": 5, "endTime": "2000-01-01T00:00:12Z"}`, scheduler.Completed, 3},
		"failed":  {`"action": ` + to("down", ""), scheduler.Faulted, 1},
		"retried": {`"action": ` + retried("down", `"retryCount": 2, "retryInterval": "PT5S"`), scheduler.Faulted, 3},
		"alarmed": {`"action": ` + to("down", `, "errorAction": `+to("alarm", "")), scheduler.Faulted, 2},
		"beside":  {action + `, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 5, "count": 2}`, scheduler.Completed, 2},
	}
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("down"))
		var completed, faulted []string
		for name, job := range jobs {
			w.put(name, `{`+job.doc+`}`)
			if job.state == scheduler.Completed {
				completed = append(completed, name)
			} else {
				faulted = append(faulted, name)
			}
		}
		w.put("on", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(time.Minute)
		calls, shown := len(w.sink.seen()), map[string]v1.Status{}
		unwritten := 0
		for name, job := range jobs {
			v := w.get(name)
			shown[name] = v.Status
			if v.Job.State != job.state || v.Status.Executions+v.Status.Errors != job.runs || v.Status.Message == "" || v.Status.Running {
				t.Errorf("%s: %s, %+v, want %s after %d attempts", name, v.Job.State, v.Status, job.state, job.runs)
			}
			if w.storedState(name) == scheduler.Enabled {
				unwritten++
			}
		}
		if want := len(jobs) - 1; unwritten != want { // no record tells the end of one whose last occurrence runs beside it
			t.Errorf("%d definitions do not say that their jobs have ended, want %d", unwritten, want)
		}
		for state, want := range map[scheduler.State][]string{
			scheduler.Completed: completed, scheduler.Faulted: faulted, scheduler.Enabled: {"on"}, scheduler.Disabled: nil,
			"": slices.Concat(completed, faulted, []string{"on"}),
		} {
			slices.Sort(want)
			if got := w.listed(state); !slices.Equal(got, want) {
				t.Errorf("listed as %q: %v, want %v", state, got, want)
			}
		}
		w.finish(unwritten)
		for name, job := range jobs {
			if state, v := w.storedState(name), w.get(name); state != job.state || v.Status != shown[name] {
				t.Errorf("%s: stored as %s, %+v, was shown as %s, %+v", name, state, v.Status, job.state, shown[name])
			}
		}
		w.finish(0)
		w.wantCalls(calls)
	})
}

// TestEndedJobIsOver: what may not be done with a job at its end may not be done before that is written into its definition.
func TestEndedJobIsOver(t *testing.T) {
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Second)
		if w.storedState("job") != scheduler.Enabled {
			t.Fatal("its end is written")
		}
		for what, do := range map[string]func() error{
			"enable":  func() error { _, err := w.service.Enable(t.Context(), key("job")); return err },
			"disable": func() error { _, err := w.service.Disable(t.Context(), key("job")); return err },
			"run":     func() error { _, err := w.service.Trigger(t.Context(), key("job")); return err },
			"patch": func() error {
				_, err := w.service.Patch(t.Context(), control.Edit{Key: key("job"), Body: []byte(`{"state": "disabled"}`)})
				return err
			},
		} {
			if err := do(); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "it has ended after its last run") {
				t.Errorf("%s: %v", what, err)
			}
		}
		mustBe(t, w.put("job", `{`+action+`}`), v1.Unchanged, scheduler.Completed)
		time.Sleep(5 * time.Minute)
		w.wantCalls(1)
		w.put("job", `{`+action+`, "timeout": "PT5S"}`)
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed")
		w.wantState("job", scheduler.Completed, 2)
	})
}

// TestResubmitOfEndedJob runs the occurrence of a job again that has faulted, before that is written into its definition: the run
// beside it is counted in, and need not wait for a baton that does not come.
func TestResubmitOfEndedJob(t *testing.T) {
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("main"))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Second)
		first := w.history("job")[0]
		if w.storedState("job") != scheduler.Enabled || w.get("job").Job.State != scheduler.Faulted {
			t.Fatal("it has not faulted, or that is written")
		}
		w.sink.answers(after(0, http.StatusOK))
		w.mustResubmit("job", first.Occurrence)
		time.Sleep(time.Second)
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Status.Executions != 2 || v.Status.Occurrences != 2 {
			t.Errorf("%s, %+v", v.Job.State, v.Status)
		}
		if state := w.storedState("job"); state != scheduler.Completed {
			t.Errorf("stored as %s", state)
		}
		w.mustBeInOrder()
	})
}

// TestEndOfJobBeforeIsNotItsOwn deletes a one-shot the moment it has ended and puts it again: the end of the one before, which waits
// to be written, is not that of the new one.
func TestEndOfJobBeforeIsNotItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`}`)
		time.Sleep(100 * time.Millisecond)
		if w.get("job").Job.State != scheduler.Completed || w.storedState("job") != scheduler.Enabled {
			t.Fatal("it has not ended, or that is written")
		}
		w.must(w.service.Delete(t.Context(), key("job"), 0))
		start := time.Now().Add(10 * time.Minute).UTC()
		w.put("job", `{`+action+`, "startTime": "`+start.Format(time.RFC3339Nano)+`"}`)
		w.wantState("job", scheduler.Enabled, 0)
		time.Sleep(5 * time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Enabled || !v.Status.Next.Equal(start) {
			t.Errorf("later: %s, %+v", v.Job.State, v.Status)
		}
		w.mustBeInOrder()
		time.Sleep(10 * time.Minute)
		w.wantState("job", scheduler.Completed, 1)
		w.wantCalls(2)
	})
}

// TestEndIsWrittenSoon: on an idle system, the final form of a job is written within a second.
func TestEndIsWrittenSoon(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("far", `{`+action+`, "recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T05:00:00Z"}`)
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Second)
		if state := w.storedState("job"); state != scheduler.Completed {
			t.Errorf("stored as %s", state)
		}
	})
}

// TestFinalAgeCountsFromTheEnd writes the final form of a job long after its end: it is kept no longer for that.
func TestFinalAgeCountsFromTheEnd(t *testing.T) {
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`}`) // kept for two hours after its end
		time.Sleep(50 * time.Minute)
		w.finish(1)
		time.Sleep(69 * time.Minute)
		w.get("job")
		time.Sleep(2 * time.Minute)
		if _, err := w.service.Get(t.Context(), key("job")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("two hours after its end: %v", err)
		}
	})
}

// TestFinalAgeOutlivesEdits edits a job after its end: it is kept no longer for that, unless the edit has it run again.
func TestFinalAgeOutlivesEdits(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for _, name := range []string{"job", "revived"} {
			w.put(name, `{`+action+`}`) // kept for two hours after its end
		}
		time.Sleep(50 * time.Minute) // the server keeps all for an hour at least
		for _, name := range []string{"job", "revived"} {
			edit := `{"labels": {"team": "billing"}, "description": "late"}`
			if name == "revived" {
				edit = `{"startTime": "` + time.Now().UTC().Format(time.RFC3339) + `"}`
			}
			w.must(w.service.Patch(t.Context(), control.Edit{Key: key(name), Body: []byte(edit)}))
		}
		time.Sleep(69 * time.Minute)
		w.wantState("job", scheduler.Completed, 1)
		time.Sleep(2 * time.Minute)
		if _, err := w.service.Get(t.Context(), key("job")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("two hours after its end, which an edit followed: %v", err)
		}
		w.wantState("revived", scheduler.Completed, 2)
		time.Sleep(50 * time.Minute)
		if _, err := w.service.Get(t.Context(), key("revived")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("two hours after its second end: %v", err)
		}
	})
}

// TestSkippedToItsEnd: a job whose last occurrence was missed, and is not caught up with, has ended with the record of that.
func TestSkippedToItsEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "startTime": "2000-01-01T00:01:00Z", "catchUp": {"policy": "skip"}, "recurrence": {"frequency": "Minute", "endTime": "2000-01-01T00:03:30Z"}}`)
		time.Sleep(time.Hour)
		w.startWorker(func(c *engine.Config) { c.Store, c.Logger = refusing(w.store, "EndJobs"), nil })
		time.Sleep(time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Completed || w.storedState("job") != scheduler.Enabled {
			t.Errorf("%s, stored as %s: %s", v.Job.State, w.storedState("job"), w.outcomes("job"))
		}
		w.finish(1)
	})
}

// TestLostIsNotEnded: a job whose baton is lost goes on, also when its last record says that an occurrence ended well.
func TestLostIsNotEnded(t *testing.T) {
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.put("ended", `{`+action+`}`)
		w.put("lost", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(time.Minute)
		w.must(w.store.Cancel(t.Context(), scheduler.BatonKey{Key: key("lost")}, 0))
		w.wantState("lost", scheduler.Enabled, 0) // its counters are lost with the baton
		rep, err := w.service.Audit(t.Context(), false)
		if err != nil || rep.Ended != 1 || len(rep.Findings) != 1 || rep.Findings[0].Name != "default/lost" {
			t.Errorf("audit: %v, %d ended, findings %+v", err, rep.Ended, rep.Findings)
		}
		rep, err = w.service.Audit(t.Context(), true)
		if err != nil || rep.Ended != 1 || rep.Fixed != 1 {
			t.Errorf("audit: %v, %d ended, %d fixed", err, rep.Ended, rep.Fixed)
		}
		time.Sleep(time.Hour)
		w.wantHistory("lost", "completed completed")
	})
}

// TestFaultOutlivesAnEdit: an occurrence that faulted under the definition that it ran under is over, whatever retries an edit has
// given the job meanwhile.
func TestFaultOutlivesAnEdit(t *testing.T) {
	inEndlessBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(2 * time.Second)
		w.put("job", `{"action": `+retried("main", `"retryCount": 3, "retryInterval": "PT5S"`)+`}`)
		time.Sleep(time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Faults != 1 {
			t.Errorf("%s, %+v", v.Job.State, v.Status)
		}
		w.finish(1)
		time.Sleep(time.Minute)
		w.wantHistory("job", "failed faulted")
	})
}
