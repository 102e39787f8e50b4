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
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/store/storetest"
)

// resubmit runs an occurrence again.
func (w *harness) resubmit(name, occurrence string) (*v1.Resubmitted, error) {
	return w.service.Resubmit(w.t.Context(), key(name), []byte(`{"occurrence": "`+occurrence+`"}`))
}

// mustResubmit does so, and waits a second.
func (w *harness) mustResubmit(name, occurrence string) *v1.Resubmitted {
	w.t.Helper()
	v := must.Get(w.resubmit(name, occurrence))(w.t)
	time.Sleep(time.Second)
	return v
}

// mustRepeat fails the test unless the last record is of the run that was answered, and names the occurrence that it repeats, whose
// instant its target was told.
func (w *harness) mustRepeat(original string, v *v1.Resubmitted) {
	w.t.Helper()
	records, calls := w.history("job"), w.sink.seen()
	last, call := records[len(records)-1], calls[len(calls)-1]
	if last.Occurrence != v.Occurrence || v.Resubmits != original || !strings.Contains(string(v1.JSON(v1.Record(last))), `"manual":true,"resubmits":"`+original+`"`) {
		w.t.Errorf("the last record is %s, the answer %+v, want them to repeat %s", v1.JSON(v1.Record(last)), v, original)
	}
	if _, nominal, _ := strings.Cut(original, "@"); call.expected != nominal || call.key != v.Occurrence {
		w.t.Errorf("the target was told %s under the key %s, want %s", call.expected, call.key, nominal)
	}
}

// TestResubmitFaulted repeats the occurrence of a one-shot that faulted, named in each way: first in vain, and then with success,
// which completes the job.
func TestResubmitFaulted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Second)
		first := w.history("job")[0]
		v := w.mustResubmit("job", first.Occurrence)
		w.wantHistory("job", "failed faulted failed/manual faulted/manual")
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Executions != 2 || v.Status.Faults != 2 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		v = w.mustResubmit("job", v.Occurrence) // a resubmission repeats the same
		w.mustRepeat(first.Occurrence, v)
		w.wantState("job", scheduler.Completed, 3)
		for _, occurrence := range []string{first.Occurrence, first.ID, first.Nominal.Format(time.RFC3339Nano), v1.RecordID(first), "default/job/" + v1.RecordID(first), v.Occurrence} {
			if _, err := w.resubmit("job", occurrence); !errors.Is(err, scheduler.ErrConflict) {
				t.Errorf("%s, which was repeated with success: %v", occurrence, err)
			}
		}
		again := must.Get(w.service.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+v1.RecordID(first)+`", "force": true}`)))(t)
		time.Sleep(time.Second)
		w.mustRepeat(first.Occurrence, again)
		w.mustBeInOrder()
	})
}

// TestResubmitRefused has what cannot be repeated: it is not there, or has not ended.
func TestResubmitRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		refused := func(what, name, occurrence string, want error) {
			t.Helper()
			if _, err := w.resubmit(name, occurrence); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		w.put("retried", `{`+failing+`}}`)
		w.put("off", `{"action": `+to("main", "")+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(6 * time.Second)
		failed, retried, off := w.history("job")[0].Occurrence, w.history("retried")[0].Occurrence, w.history("off")[0].Occurrence
		w.must(w.service.Disable(t.Context(), key("off")))
		refused("no such job", "none", failed, scheduler.ErrNotFound)
		refused("another job's", "job", retried, scheduler.ErrInvalid)
		refused("no occurrence", "job", "2031-01-01T00:00:00Z", scheduler.ErrNotFound)
		refused("no record", "job", strings.Repeat("0", 20)+":"+strings.Repeat("1", 20), scheduler.ErrNotFound)
		refused("it waits for a retry", "retried", retried, scheduler.ErrConflict)
		time.Sleep(9 * time.Second)
		refused("it is retried", "retried", retried, scheduler.ErrConflict)
		for name, occurrence := range map[string]string{"job": failed, "off": off} { // over, and disabled
			w.mustResubmit(name, occurrence)
			refused("it is repeated already", name, occurrence, scheduler.ErrConflict)
			if v := w.get(name); v.Job.State == scheduler.Enabled {
				t.Errorf("%s is %s", name, v.Job.State)
			}
		}
		time.Sleep(time.Minute)
		w.mustResubmit("job", failed) // in vain again
		time.Sleep(10 * time.Second)
		if got := strings.Count(w.outcomes("job"), "faulted"); got != 3 {
			t.Errorf("history %q", w.outcomes("job"))
		}
		w.replace("job", `{"action": `+to("main", "")+`}`)
		refused("an earlier job's", "job", failed, scheduler.ErrNotFound)
	})
}

// TestResubmitOnce sends a request while the history is read for another that is the same: the occurrence runs again once.
func TestResubmitOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(*call) (int, string) {
			if len(w.sink.seen()) > 1 {
				return http.StatusOK, ""
			}
			return http.StatusInternalServerError, ""
		})
		w.put("job", `{"action": `+to("main", "")+`, "recurrence": {"frequency": "Day"}}`)
		time.Sleep(time.Second)
		first := w.history("job")[0].Occurrence
		other := w.newServiceOn(hanging(w.store, "Recent", func() { w.mustResubmit("job", first) }))
		if _, err := other.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+first+`"}`)); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("%v, want that it was resubmitted with success", err)
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted completed/manual")
	})
}

// TestResubmitCrash kills a worker that repeats an occurrence, before and after it has recorded so: what takes over repeats the
// same.
func TestResubmitCrash(t *testing.T) {
	for _, state := range []string{"enabled", "faulted"} {
		for _, before := range []bool{true, false} {
			inWorld(t, func(t *testing.T, w *harness) {
				w.startWorker()
				w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
				more := ""
				if state == "enabled" {
					more = `, "recurrence": {"frequency": "Day"}`
				}
				w.put("job", `{"action": `+to("main", `, "errorAction": `+to("alarm", ""))+more+`}`)
				time.Sleep(5 * time.Second)
				w.stopWorker()
				first := w.history("job")[0].Occurrence
				m := w.startMortal(&mortal{point: "record failed", before: before})
				v := must.Get(w.resubmit("job", first))(t)
				m.awaitDeath(t)
				w.startWorker()
				time.Sleep(time.Minute)
				w.wantHistory("job", "failed failed/error faulted failed/manual failed/error/manual faulted/manual")
				for _, r := range w.history("job")[3:] {
					if r.Occurrence != v.Occurrence || r.Resubmits == nil || scheduler.OccurrenceID(r.Job, r.Resubmits.Nominal) != first {
						t.Errorf("a record of %s repeats %+v", r.Occurrence, r.Resubmits)
					}
				}
				for _, c := range w.sink.seen() {
					if "default/job@"+c.expected != first {
						t.Errorf("the target of %s was told %s", c.key, c.expected)
					}
				}
				w.mustBeInOrder()
			})
		}
	}
}

// TestResubmitTwiceAtOnce repeats an occurrence of a job that is over from many sides at once: one of them does, and the others are
// told why not.
func TestResubmitTwiceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Minute)
		failed := w.history("job")[0].Occurrence
		late := w.newServiceOn(slow(w.store, time.Second, "Fire"))
		answers := make(chan error, 4)
		for range cap(answers) {
			go func() {
				_, err := late.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+failed+`"}`))
				answers <- err
			}()
		}
		accepted := 0
		for range cap(answers) {
			switch err := <-answers; {
			case err == nil:
				accepted++
			case !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), failed+": conflict: it has not ended"):
				t.Errorf("refused: %v", err)
			}
		}
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed faulted failed/manual faulted/manual"; accepted != 1 || got != want {
			t.Errorf("%d accepted, history %q; want one, and %q", accepted, got, want)
		}
		w.mustBeInOrder()
	})
}

// cancel cancels occurrences of a job, and returns how many.
func (w *harness) cancel(name, body string) int {
	w.t.Helper()
	v := must.Get(w.service.Cancel(w.as("ada"), key(name), []byte(body)))(w.t)
	return len(v.Occurrences)
}

// TestCancel cancels occurrences that wait for a retry, run, wait for their target, or run detached, with two workers: they end at
// once, nothing follows them but the schedule, and the history says who canceled them and why.
func TestCancel(t *testing.T) {
	const policy = `"retryPolicy": {"retryCount": 2, "retryInterval": "PT10M"}`
	to := func(host, rest string) string {
		return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}` + rest + `}`
	}
	fine := `"errorAction": {"type": "Http", "request": {"uri": "http://fine.example/", "method": "POST"}}`
	alarm := strings.Replace(fine, `fine.example/", "method": "POST"}`, `alarm.example/", "method": "POST"}, `+policy, 1)
	hourly, minutely := `, "timeout": "PT30M", "recurrence": {"frequency": "Hour"}`, `, "timeout": "PT30M", "recurrence": {"frequency": "Minute"}`
	const silent = "; its errorAction did not run"
	tests := map[string]struct {
		job      string
		canceled int
		outcomes string // of each occurrence
		says     string
	}{
		"retry":          {to("main", `, `+policy+`, `+fine) + hourly, 1, "failed faulted", silent},
		"errorAction":    {to("main", `, "retryPolicy": {"retryType": "none"}, `+alarm) + hourly, 1, "failed failed/error faulted", ""},
		"runs":           {to("slow", `, `+policy+`, `+fine) + hourly, 1, "failed faulted", silent + "; before that: canceled while it ran"},
		"detached":       {to("slow", `, `+policy) + minutely + `, "overlap": "allow"`, 2, "failed faulted", "; before that: canceled while it ran"},
		"detached-retry": {to("main", `, `+policy) + hourly + `, "overlap": "allow"`, 1, "failed faulted", ""},
		"disabled":       {to("main", `, `+policy) + hourly, 1, "failed faulted", ""},
		"one-shot":       {to("main", `, `+policy), 1, "failed faulted", ""},
	}
	inBubble(t, func(t *testing.T, w *harness) {
		w.startWorker()
		w.sink.answers(func(c *call) (int, string) {
			if c.host == "slow.example" {
				return after(10*time.Minute, http.StatusOK)(c)
			}
			return failingAt("main alarm")(c)
		})
		for name, test := range tests {
			w.put(name, `{"action": `+test.job+`}`)
		}
		time.Sleep(62 * time.Second)
		w.must(w.service.Disable(t.Context(), key("disabled")))
		w.must(w.service.Disable(t.Context(), key("detached"))) // whose runs go on
		for name, test := range tests {
			if n := w.cancel(name, `{"dryRun": true}`); n != test.canceled {
				t.Errorf("%s: %d would be canceled, want %d", name, n, test.canceled)
			}
			if n := w.cancel(name, `{"reason": "too late"}`); n != test.canceled {
				t.Errorf("%s: %d canceled, want %d", name, n, test.canceled)
			}
		}
		time.Sleep(2 * time.Second)
		calls := len(w.sink.seen())
		for name, test := range tests {
			w.mustHaveCanceled(name, test.canceled, test.outcomes, "canceled by ada: too late"+test.says)
			if v := w.get(name); v.Status.Faults != test.canceled || v.Status.Retry != 0 {
				t.Errorf("%s: status %+v", name, v.Status)
			}
			w.mustExplain(name, "2000-01-01T00:00Z", explain.Failed, "canceled by ada: too late")
			if _, err := w.service.Cancel(t.Context(), key(name), nil); !errors.Is(err, scheduler.ErrConflict) {
				t.Errorf("%s, once more: %v, want a conflict", name, err)
			}
		}
		time.Sleep(30 * time.Minute)
		w.wantCalls(calls)
		w.mustBeInOrder()
	})
}

// TestCancelBeforeItIsKnown cancels an occurrence that waits for its retry: its worker, which has the baton before it hears of the
// cancellation, makes no attempt.
func TestCancelBeforeItIsKnown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = lateJobs{w.store} })
		w.sink.answers(failingAt("main"))
		w.put("job", `{"action": `+retried("main", `"retryCount": 2, "retryInterval": "PT10M"`)+`}`)
		time.Sleep(10 * time.Second)
		if n := w.cancel("job", ""); n != 1 {
			t.Errorf("%d canceled, want 1", n)
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted")
		w.mustBeInOrder()
	})
}

// TestCancelWhileRescheduled cancels an occurrence whose worker reschedules its retry after it decided, and before the
// cancellation is stored: the occurrence ends now, not with its next attempt.
func TestCancelWhileRescheduled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		looked := make(chan struct{})
		w.startWorker(func(c *engine.Config) {
			c.Store = on(w.store, "Append", func(do func() error) error {
				err := do()
				<-looked
				return err
			})
		})
		w.sink.answers(failingAt("main"))
		w.put("job", `{"action": `+retried("main", `"retryCount": 2, "retryInterval": "PT10M"`)+`}`)
		w.service = w.newServiceOn(on(w.store, "SaveJob", func(do func() error) error {
			close(looked)
			time.Sleep(10 * time.Millisecond) // the worker, which has recorded the attempt, reschedules the baton
			return do()
		}))
		time.Sleep(time.Second)
		if n := w.cancel("job", ""); n != 1 {
			t.Errorf("%d canceled, want 1", n)
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted")
		w.mustBeInOrder()
	})
}

// mustHaveCanceled checks the records of each canceled occurrence. Those of one are in order; occurrences that end together
// are recorded in any order.
func (w *harness) mustHaveCanceled(name string, occurrences int, outcomes, says string) {
	w.t.Helper()
	each := map[string][]*scheduler.Record{}
	for _, r := range w.history(name) {
		each[r.Occurrence] = append(each[r.Occurrence], r)
	}
	if len(each) != occurrences {
		w.t.Errorf("records of %d occurrences, want %d", len(each), occurrences)
	}
	for _, records := range each {
		if got := short(records); got != outcomes {
			w.t.Errorf("history %q, want %q", got, outcomes)
		}
		if r := records[len(records)-1]; r.Reason != scheduler.ReasonCanceled || !strings.HasPrefix(r.Message, says) ||
			!strings.HasPrefix(r.Short(), says) || strings.Contains(r.Short(), "Response Headers") {
			w.t.Errorf("reason %q, %q, in short %q; want %q", r.Reason, r.Message, r.Short(), says)
		}
	}
}

// TestCancelOne cancels one of the occurrences of a job, and all of its collection.
func TestCancelOne(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(time.Hour, http.StatusOK))
		const slow = ` "timeout": "PT30M", "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 3}}`
		w.put("job", `{`+action+`,`+slow)
		w.put("other", `{`+action+`,`+slow)
		time.Sleep(150 * time.Second)
		first := slices.IndexFunc(w.sink.seen(), func(c *call) bool { return strings.HasPrefix(c.key, "default/job@") })
		if w.cancel("job", `{"occurrence": "`+w.sink.seen()[first].key+`"}`) != 1 {
			t.Errorf("not one was canceled")
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted")
		for want := range 2 {
			v, err := w.service.CancelCollection(t.Context(), scheduler.DefaultCollection, nil)
			if err != nil || len(v.Occurrences) != 5*(1-want) {
				t.Errorf("collection: %+v, %v", v, err)
			}
			time.Sleep(time.Second)
		}
		w.mustBeInOrder()
	})
}

// TestCancelOnAnotherReplica cancels an attempt that a worker of another process runs, which had begun before this one started.
func TestCancelOnAnotherReplica(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(10*time.Minute, http.StatusOK))
		w.put("job", `{"action": {"type": "Http", "request": {"uri": "http://main.example/", "method": "POST"}}, "timeout": "PT30M"}`)
		time.Sleep(2 * time.Second)
		_, st := w.open()
		asked := engine.New(engine.Config{Store: st, Actions: w.actions(), Secrets: w.vault})
		storetest.Run(t, asked.Run)
		time.Sleep(2 * time.Second)
		if here, there := asked.Stats().InFlight, w.worker.Stats().InFlight; here != 0 || there != 1 {
			t.Fatalf("%d attempts here, %d on the other replica", here, there)
		}
		v, err := w.newServiceOn(st).Cancel(w.as("ada"), key("job"), nil)
		if err != nil || len(v.Occurrences) != 1 {
			t.Fatalf("%+v, %v", v, err)
		}
		time.Sleep(2 * time.Second)
		if got, n := w.outcomes("job"), w.worker.Stats().InFlight; got != "failed faulted" || n != 0 {
			t.Errorf("history %q, %d attempts in flight", got, n)
		}
	})
}
