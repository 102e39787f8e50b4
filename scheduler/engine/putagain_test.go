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
)

// putSpec puts the job "job" as a spec of that sequence.
func (w *harness) putSpec(body string, sequence uint64) *v1.Job {
	w.t.Helper()
	v, _, err := w.service.Put(w.t.Context(), control.Edit{Key: key("job"), Body: []byte(body), SpecSequence: sequence})
	w.must(err)
	return v
}

// mustBe fails the test unless a put had that result, and left the job in that state.
func mustBe(t *testing.T, v *v1.Job, result v1.Result, state scheduler.State) {
	t.Helper()
	if v.Result != result || v.Job.State != state {
		t.Errorf("%s: %s, and %s; want %s, and %s", v.Job.Key, v.Result, v.Job.State, result, state)
	}
}

// TestPutKeepsDisabled puts jobs that an operator has disabled: who does not name a state leaves it.
func TestPutKeepsDisabled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`}`), v1.Created, scheduler.Enabled)
		time.Sleep(5 * time.Second)
		w.must(w.service.Disable(t.Context(), key("job")))
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`}`), v1.Unchanged, scheduler.Disabled)
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`, "timeout": "PT5S"}`), v1.Updated, scheduler.Disabled)
		mustBe(t, w.putSpec(`{`+action+`, `+every10s+`}`, 7), v1.Updated, scheduler.Disabled)
		mustBe(t, w.putSpec(`{`+action+`, `+every10s+`, "state": null}`, 8), v1.Unchanged, scheduler.Disabled)
		time.Sleep(10 * time.Minute)
		w.wantCalls(1)
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`, "state": "enabled"}`), v1.Updated, scheduler.Enabled)
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`}`), v1.Unchanged, scheduler.Enabled)
		mustBe(t, w.put("job", `{`+action+`, `+every10s+`, "state": "disabled"}`), v1.Updated, scheduler.Disabled)
		w.mustBeInOrder()
	})
}

// TestPutAgainRunsAgain puts one-shots that are over, as they were and with a change.
func TestPutAgainRunsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		other := strings.ReplaceAll(action, "/hook", "/other")
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Minute)
		v := w.put("job", `{`+action+`}`)
		mustBe(t, v, v1.Unchanged, scheduler.Completed)
		if want := "it has ended after its last run"; !strings.HasPrefix(v.Status.Message, want) {
			t.Errorf("message %q, want %q", v.Status.Message, want)
		}
		mustBe(t, w.put("job", `{`+action+`, "description": "x"}`), v1.Updated, scheduler.Completed)
		time.Sleep(time.Minute)
		w.wantCalls(1)                                                        // nothing asked for more
		mustBe(t, w.put("job", `{`+other+`}`), v1.Updated, scheduler.Enabled) // and it runs at once
		time.Sleep(time.Second)
		start := time.Now().Add(10 * time.Minute).UTC()
		mustBe(t, w.put("job", `{`+other+`, "startTime": "`+start.Format(time.RFC3339Nano)+`"}`), v1.Updated, scheduler.Enabled)
		time.Sleep(20 * time.Minute)
		calls := w.sink.seen()
		if len(calls) != 3 || !strings.HasSuffix(calls[1].url, "/other") || calls[2].at.Before(start) {
			t.Fatalf("%d calls, want three, the last at %s", len(calls), start)
		}
		if calls[0].key == calls[1].key || calls[1].key == calls[2].key {
			t.Errorf("keys %s, %s, %s: each run has one of its own", calls[0].key, calls[1].key, calls[2].key)
		}
		w.wantState("job", scheduler.Completed, 3)
		if _, err := w.service.Trigger(t.Context(), key("job")); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "apply a change") {
			t.Errorf("run: %v", err)
		}
		w.mustBeInOrder()
	})
}

// TestPutAgainAtOnce puts one-shots with a change the moment their runs have ended, before or after their ends are written.
func TestPutAgainAtOnce(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		ended := make(chan struct{}, 9)
		w.startWorker(func(c *engine.Config) { c.OnRecord = func(*scheduler.Record) { ended <- struct{}{} } })
		for _, pause := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			name := "after-" + pause.String()
			w.put(name, `{`+action+`}`)
			<-ended
			time.Sleep(pause)
			w.put(name, `{`+strings.ReplaceAll(action, "/hook", "/other")+`}`)
			time.Sleep(time.Minute)
			<-ended
			w.wantHistory(name, "completed completed")
			w.wantState(name, scheduler.Completed, 2)
		}
		w.mustBeInOrder()
	})
}

// TestPutAgainWhileEndIsUnwritten has the end of a one-shot lost with its worker, and puts the job with a change.
func TestPutAgainWhileEndIsUnwritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		m := w.startMortal(&mortal{point: "end", before: true})
		w.put("job", `{`+action+`}`)
		m.awaitDeath(t)
		w.startWorker()
		time.Sleep(time.Minute)
		mustBe(t, w.put("job", `{`+action+`, "timeout": "PT5S"}`), v1.Updated, scheduler.Enabled)
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed")
		w.mustBeInOrder()
	})
}

// TestPutAgainOfFaultedJob gives a job that faulted more retries: its run of before is not tried again, not even when the
// process dies before the new baton is armed.
func TestPutAgainOfFaultedJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Minute)
		w.wantState("job", scheduler.Faulted, 1)
		later := time.Now().Add(10 * time.Minute).UTC()
		w.put("job", `{"action": `+retried("main", `"retryCount": 2, "retryInterval": "PT10S"`)+`, "startTime": "`+later.Format(time.RFC3339Nano)+`"}`)
		w.must(w.store.Clear(t.Context(), key("job"), nil)) // as if it had died before
		w.must(w.service.Audit(t.Context(), true))
		time.Sleep(5 * time.Minute)
		w.wantCalls(1) // it has not started yet
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		time.Sleep(10 * time.Minute)
		w.wantHistory("job", "failed faulted completed")
		w.mustBeInOrder()
	})
}

// TestSpecTwice delivers specs twice, with runs and other edits in between.
func TestSpecTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Minute)
		changed := `{` + action + `, "timeout": "PT5S"}`
		mustBe(t, w.putSpec(changed, 7), v1.Updated, scheduler.Enabled)
		if v := w.putSpec(changed, 7); v.Result != v1.Unchanged { // its run may have ended
			t.Errorf("delivered again at once: %s", v.Result)
		}
		time.Sleep(time.Minute)
		mustBe(t, w.putSpec(changed, 7), v1.Unchanged, scheduler.Completed)
		w.put("job", `{`+action+`, "timeout": "PT6S"}`)
		time.Sleep(time.Minute)
		mustBe(t, w.putSpec(changed, 7), v1.Unchanged, scheduler.Completed)
		patch := control.Edit{Key: key("job"), Body: []byte(`{"timeout": "PT7S"}`), SpecSequence: 8}
		for range 2 {
			w.must(w.service.Patch(t.Context(), patch))
			time.Sleep(time.Minute)
		}
		w.wantCalls(4)
		w.mustBeInOrder()
	})
}

// TestDryRun asks what would become of puts and patches: nothing does.
func TestDryRun(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		dry := func(body string) *v1.Job {
			t.Helper()
			v, created, err := w.service.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(body), DryRun: true})
			if err != nil || created != (v.Result == v1.Created) {
				t.Fatal(created, err)
			}
			return v
		}
		start := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second)
		job := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", "recurrence": {"frequency": "Minute", "count": 3}`
		v := dry(job + `}`)
		mustBe(t, v, v1.Created, scheduler.Enabled)
		if v.DryRun == nil || len(v.DryRun.NextRuns) != 3 || !v.DryRun.NextRuns[0].Equal(start) || !v.Status.Next.Equal(start) {
			t.Errorf("%s", v1.JSON(v))
		}
		if _, err := w.service.Get(t.Context(), key("job")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Fatalf("it is there: %v", err)
		}
		never := `{` + action + `, "recurrence": {"cron": "0 9 31 2 *"}}`
		if v := dry(never); v.Result != v1.Created || v.Job.State != scheduler.Completed || len(v.DryRun.NextRuns) != 0 || len(v.Warnings) != 1 {
			t.Errorf("%s", v1.JSON(v))
		}
		stored := w.put("job", job+`}`).Job.Revision
		mustBe(t, dry(job+`}`), v1.Unchanged, scheduler.Enabled)
		mustBe(t, dry(job+`, "state": "disabled"}`), v1.Updated, scheduler.Disabled)
		mustBe(t, dry(never), v1.Updated, scheduler.Completed)
		if v := dry(strings.ReplaceAll(job, "Minute", "Hour") + `}`); v.Result != v1.Updated || !v.DryRun.NextRuns[1].Equal(start.Add(time.Hour)) {
			t.Errorf("%s", v1.JSON(v))
		}
		p, err := w.service.Patch(t.Context(), control.Edit{Key: key("job"), Body: []byte(`{"jitter": "PT5S"}`), DryRun: true})
		if err != nil || p.Result != v1.Updated || p.Job.Def.Jitter != 5*time.Second {
			t.Errorf("%v %v", p, err)
		}
		time.Sleep(15 * time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Job.Generation != 1 || len(w.sink.seen()) != 3 {
			t.Errorf("revision was %d; %s", stored, v1.JSON(v))
		}
		mustBe(t, dry(job+`}`), v1.Unchanged, scheduler.Completed)
		mustBe(t, dry(job+`, "timeout": "PT5S"}`), v1.Updated, scheduler.Enabled)
		time.Sleep(15 * time.Minute)
		w.wantCalls(3)
		for body, want := range map[string]error{`{}`: scheduler.ErrInvalid, `{"action": {"type": "Http", "request": {"uri": "http://x", "method": "GET", "authentication": {"type": "Basic", "username": "u", "password": {"secret": "none"}}}}}`: scheduler.ErrInvalid} {
			if _, _, err := w.service.Put(t.Context(), control.Edit{Key: key("other"), Body: []byte(body), DryRun: true}); !errors.Is(err, want) {
				t.Errorf("%s: %v", body, err)
			}
		}
	})
}

// TestPutAgainWhileEndIsWritten puts one-shots with a change while their worker writes their ends, and keeps their batons until that
// is done: they run again, at once or later, without an audit.
func TestPutAgainWhileEndIsWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = slow(w.store, 2*time.Second, "SaveJob EndJobs") })
		waits := map[string]time.Duration{"at-once": 0, "later": time.Minute}
		for name := range waits {
			w.put(name, `{`+action+`}`)
		}
		time.Sleep(time.Second)
		for name, wait := range waits {
			if state := w.storedState(name); state != scheduler.Enabled {
				t.Fatalf("the end of %s is written already: %s", name, state)
			}
			if v := w.put(name, `{`+action+`}`); v.Result != v1.Unchanged || v.Status.Message == "" {
				t.Errorf("%s, as it was: %s, %q", name, v.Result, v.Status.Message)
			}
			start := time.Now().Add(wait).UTC().Format(time.RFC3339Nano)
			mustBe(t, w.put(name, `{`+action+`, "startTime": "`+start+`"}`), v1.Updated, scheduler.Enabled)
		}
		time.Sleep(10 * time.Minute)
		for name := range waits {
			w.wantHistory(name, "completed completed")
			w.wantState(name, scheduler.Completed, 2)
		}
		w.mustBeInOrder()
	})
}

// TestPutAgainReads: a job that waits, and is put as it is, costs three reads: of the job, of the baton that is to be there, and
// of the one that is shown.
func TestPutAgainReads(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const hourly = `{` + action + `, "recurrence": {"frequency": "Hour"}}`
		w.put("job", hourly)
		time.Sleep(time.Minute)
		reads := 0
		s := w.newServiceOn(on(w.store, "LoadJob Waiting", func(do func() error) error { reads++; return do() }))
		v, _, err := s.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(hourly)})
		if err != nil || v.Result != v1.Unchanged || reads > 3 {
			t.Errorf("%+v, %v, after %d reads", v, err, reads)
		}
	})
}

// TestRestartWithNothingLeft edits a job, while its baton is held, to a schedule that has no time left: the job is over.
func TestRestartWithNothingLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "startTime": "2000-01-01T00:00:20Z"}`)
		time.Sleep(19800 * time.Millisecond)
		w.put("job", `{`+action+`, "startTime": "1999-01-01T00:00:00Z", "recurrence": {"frequency": "Day", "endTime": "1999-02-01T00:00:00Z"}}`)
		time.Sleep(time.Minute)
		w.wantState("job", scheduler.Completed, 0)
		w.wantCalls(0)
		if n := w.deliveries(); n > 10 {
			t.Errorf("its baton was delivered %d times", n)
		}
		w.mustBeInOrder()
	})
}

// deliveries is how many batons were delivered so far.
func (w *harness) deliveries() uint64 {
	w.t.Helper()
	return must.Get(w.stream("CARILLON_TIMERS_0").Consumer(w.t.Context(), "workers"))(w.t).CachedInfo().Delivered.Consumer
}

// TestRestartBeginsNothingTwice has a baton turn up that was armed for the schedule before, as by an edit that another one has
// overtaken, when the present schedule has run: what that has left goes on, and nothing of it runs again, also while nobody writes ends.
func TestRestartBeginsNothingTwice(t *testing.T) {
	inWorlds(t, map[string]struct{ present, want string }{
		"ended":   {`{` + action + `}`, "completed"},
		"goes on": {`{` + action + `, "recurrence": {"frequency": "Second", "interval": 40, "count": 2}}`, "completed completed"},
	}, func(t *testing.T, w *harness, test struct{ present, want string }) {
		w.startWorker(func(c *engine.Config) { c.Store, c.Logger = refusing(w.store, "EndJobs"), nil })
		w.put("job", `{`+action+`, "startTime": "2000-01-01T01:00:00Z"}`)
		slot := scheduler.BatonKey{Key: key("job")}
		stale := must.Get(w.store.Waiting(t.Context(), slot))(t)
		w.put("job", test.present)
		time.Sleep(10 * time.Second)
		if st, err := w.store.Waiting(t.Context(), slot); err == nil {
			w.must(w.store.Fire(t.Context(), slot, stale.Data, st.Revision))
		} else {
			w.must(w.store.Fire(t.Context(), slot, stale.Data, 0))
		}
		time.Sleep(2 * time.Minute)
		w.wantHistory("job", test.want)
		w.wantState("job", scheduler.Completed, strings.Count(test.want, "completed"))
	})
}
