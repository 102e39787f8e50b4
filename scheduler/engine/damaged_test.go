package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// damage writes into a bucket what nobody can read. How it changes what is there is up to change.
func (w *harness) damage(bucket, key string, change func(string) string) {
	w.t.Helper()
	js := must.Get(jetstream.New(w.nc))(w.t)
	kv := must.Get(js.KeyValue(w.t.Context(), bucket))(w.t)
	e := must.Get(kv.Get(w.t.Context(), key))(w.t)
	must.Get(kv.PutString(w.t.Context(), key, change(string(e.Value()))))(w.t)
	synctest.Wait() // those who watch the bucket have heard
}

// The ways in which a stored job is damaged, by the name of the job.
var damages = map[string]func(string) string{
	"cut":           func(s string) string { return s[:len(s)-5] },
	"empty":         func(string) string { return "" },
	"garbage":       func(string) string { return "\x00\xff{{{" },
	"flipped":       func(s string) string { return strings.Replace(s, `"minute"`, `"manute"`, 1) },
	"a-later-field": func(s string) string { return strings.Replace(s, `"properties":{`, `"properties":{"quantum":true,`, 1) },
	"a-later-meta":  func(s string) string { return strings.Replace(s, `"generation":1`, `"generation":"one"`, 1) },
	"no-uid":        func(s string) string { return strings.Replace(s, `"uid"`, `"udi"`, 1) },
	"not-an-object": func(s string) string { return strings.Replace(s, `"properties":{`, `"properties":[{`, 1) },
	"a-byte":        func(s string) string { return strings.Replace(s, "target.example", "tarhet.example", 1) },
	"a-later-form":  func(s string) string { return strings.Replace(s, `{"form":"1`, `{"form":"2`, 1)[:len(s)-5] },
	"anothers-type": func(s string) string { return strings.Replace(s, `"Http"`, `"Telegram"`, 1) },
}

// TestDamagedJobIsSetAside: what is stored of a job cannot be read, in every way there is. It is shown, it is named, its baton waits,
// others go on, and a put mends it without a run that is lost or doubled.
func TestDamagedJobIsSetAside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		log := &noted{}
		w.startWorker(func(c *engine.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		w.put("fine", everyMinute)
		for name := range damages {
			w.put(name, everyMinute)
		}
		time.Sleep(150 * time.Second) // three runs each
		for name, change := range damages {
			w.damage("carillon-jobs", "default."+name, change)
		}
		time.Sleep(10 * time.Minute)

		if got := len(w.history("fine")); got != 13 {
			t.Errorf("the other job ran %d times", got)
		}
		for name := range damages {
			if got := len(w.history(name)); got != 3 {
				t.Errorf("%s: it ran %d times", name, got)
			}
			if n := log.count("default/" + name); n != 1 {
				t.Errorf("%s: the log told of it %d times", name, n)
			}
		}
		w.mustBeShownDamaged()
		before := map[string]int{}
		for name := range damages {
			w.mustRefuse(name)
			mustBe(t, w.put(name, everyMinute), v1.Updated, scheduler.Enabled)
			before[name] = strings.Count(w.outcomes(name), "completed")
		}
		time.Sleep(5*time.Minute + 20*time.Second) // one that is caught up, and five or six
		for name := range damages {
			if got := strings.Count(w.outcomes(name), "completed") - before[name]; got < 5 || got > 7 {
				t.Errorf("%s ran %d times in five minutes after it was mended: %s", name, got, w.outcomes(name))
			}
		}
		w.wantNoRepeats()
		rep, err := w.service.Doctor(t.Context(), false)
		if err != nil || len(rep.Findings) > 0 {
			t.Errorf("in the end the doctor says %+v, %v", rep, err)
		}
		w.mustBeInOrder()
	})
}

// mustBeShownDamaged looks at the damaged jobs in every way there is.
func (w *harness) mustBeShownDamaged() {
	w.t.Helper()
	for name := range damages {
		v := w.get(name)
		if v.Job.State != scheduler.Damaged || !strings.Contains(v.Status.Message, "cannot be read") {
			w.t.Errorf("%s: shown as %s: %s", name, v.Job.State, v.Status.Message)
		}
		if data, err := v.MarshalJSON(); err != nil || !strings.Contains(string(data), `"state":"damaged"`) {
			w.t.Errorf("%s: its document is %s, %v", name, data, err)
		}
	}
	for state, want := range map[scheduler.State]int{"": len(damages) + 1, scheduler.Damaged: len(damages), scheduler.Enabled: 1} {
		if got := w.listed(state); len(got) != want {
			w.t.Errorf("the list of state %q has %d, want %d", state, len(got), want)
		}
	}
	rep, err := w.service.Doctor(w.t.Context(), true)
	if err != nil || len(rep.Findings) != len(damages) || rep.Fixed != 0 {
		w.t.Errorf("the doctor says %+v, %v", rep, err)
	}
	for _, f := range rep.Findings {
		if _, ok := damages[strings.TrimPrefix(f.Name, "default/")]; !ok {
			w.t.Errorf("the doctor names %s", f.Name)
		}
	}
	if _, err := w.service.Audit(w.t.Context(), true); err != nil {
		w.t.Error(err)
	}
}

// mustRefuse does with a damaged job what cannot be done.
func (w *harness) mustRefuse(name string) {
	w.t.Helper()
	ctx := w.t.Context()
	_, enable := w.service.Enable(ctx, key(name))
	_, disable := w.service.Disable(ctx, key(name))
	_, run := w.service.Trigger(ctx, key(name))
	_, patch := w.service.Patch(ctx, control.Edit{Key: key(name), Body: []byte(`{"timeout": "PT5S"}`)})
	for what, err := range map[string]error{"enable": enable, "disable": disable, "run": run, "patch": patch} {
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(fmt.Sprint(err), "put it again") {
			w.t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err := w.service.Put(ctx, control.Edit{Key: key(name), Body: []byte(`{"action": {}}`)})
	if !errors.Is(err, scheduler.ErrInvalid) {
		w.t.Errorf("an invalid put: %v", err)
	}
	v, _, err := w.service.Put(ctx, control.Edit{Key: key(name), Body: []byte(`{` + action + `}`), DryRun: true})
	if err != nil || v.Result != v1.Updated || v.DryRun == nil {
		w.t.Errorf("a dry run of a put: %+v, %v", v, err)
	}
	if got := w.get(name).Job.State; got != scheduler.Damaged {
		w.t.Errorf("after that it is %s", got)
	}
}

// TestDamagedJobKeepsItsNumbers: a put that mends a job goes on with its count and its state, as far as they can be read.
func TestDamagedJobKeepsItsNumbers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const five = `{` + action + `, "recurrence": {"frequency": "Minute", "count": 5}}`
		uid := w.put("counted", five).Job.UID
		w.put("off", `{`+action+`, "recurrence": {"frequency": "Minute"}, "state": "disabled"}`)
		w.put("gone", five)
		time.Sleep(150 * time.Second)
		for _, name := range []string{"counted", "off", "gone"} {
			w.damage("carillon-jobs", "default."+name, damages["flipped"])
		}
		time.Sleep(time.Minute)
		if v := w.put("counted", five); v.Job.UID != uid {
			t.Error("it is another job")
		}
		mustBe(t, w.put("off", `{`+action+`}`), v1.Updated, scheduler.Disabled)
		w.must(w.service.Delete(t.Context(), key("gone"), 0))
		time.Sleep(10 * time.Minute)
		if got := strings.Count(w.outcomes("counted"), "completed"); got != 5 {
			t.Errorf("it ran %d times: %s", got, w.outcomes("counted"))
		}
		w.wantState("counted", scheduler.Completed, 5)
		w.mustBeInOrder()
	})
}

// TestDamagedCollection: the jobs of a collection that cannot be read go on, and are listed; a put of it mends it.
func TestDamagedCollection(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("fine", everyMinute)
		w.damage("carillon-collections", "default", func(s string) string { return s[1:] })
		time.Sleep(150 * time.Second)
		if got := len(w.history("fine")); got != 3 {
			t.Errorf("its job ran %d times", got)
		}
		if listed, _, err := w.service.Search(t.Context(), scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{}); err != nil || len(listed) != 1 {
			t.Errorf("its jobs: %v, %v", listed, err)
		}
		all, err := w.service.Collections(t.Context())
		if err != nil || len(all) != 1 || all[0].State != scheduler.Damaged {
			t.Errorf("the collections: %v, %v", all, err)
		} else if shown, _ := json.Marshal(v1.Collection(all[0])); !strings.Contains(string(shown), "cannot be read") {
			t.Errorf("shown as %s", shown)
		}
		_, _, err = w.service.Put(t.Context(), control.Edit{Key: key("new"), Body: []byte(everyMinute)})
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "collection default: its stored data") {
			t.Errorf("a put into it: %v", err)
		}
		if _, err := w.service.PatchCollection(t.Context(), "default", []byte(`{}`)); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a patch: %v", err)
		}
		rep, err := w.service.Doctor(t.Context(), true)
		if err != nil || len(rep.Findings) != 1 || rep.Findings[0].Name != "collection default" {
			t.Errorf("the doctor says %+v, %v", rep, err)
		}
		put, result, err := w.service.PutCollection(t.Context(), "default", nil)
		if err != nil || result != v1.Updated || put.State != scheduler.Enabled {
			t.Errorf("mended: %+v, %s, %v", put, result, err)
		}
		w.put("new", everyMinute)
	})
}

// TestDamagedRecord: a record that cannot be read is shown as one, and hides no other.
func TestDamagedRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(90 * time.Second)
		w.must(w.nc.Publish("carillon.history.default.job.completed", []byte(`{"version":99}`)))
		time.Sleep(time.Minute)
		records := w.history("job")
		if len(records) != 4 || !records[2].Damaged || !strings.Contains(records[2].Message, "version 99 is not known") {
			t.Errorf("history: %+v", records)
		}
		w.stopWorker() // whoever takes over searches the history
		w.startWorker()
		time.Sleep(5 * time.Minute)
		if got := len(w.history("job")); got != 9 {
			t.Errorf("%d records: %s", got, w.outcomes("job"))
		}
	})
}

// TestDamagedJobWithRunsUnderWay mends jobs while a run of each is under way, or waits for a retry: it is not lost, and not
// called twice.
func TestDamagedJobWithRunsUnderWay(t *testing.T) {
	often := `{"action": ` + retried("target", `"retryInterval": "PT5M", "retryCount": 2`) + `, "timeout": "PT10M", "recurrence": {"frequency": "Hour"}`
	jobs := map[string]string{
		"running": often + "}", "running-detached": often + `, "overlap": "allow"}`,
		"retried": often + "}", "retried-detached": often + `, "overlap": "allow"}`,
	}
	inBubble(t, func(t *testing.T, w *harness) {
		start := time.Now()
		w.sink.answers(func(c *call) (int, string) {
			if c.n > 0 || c.at.Sub(start) > 30*time.Minute {
				return http.StatusOK, "ok"
			}
			time.Sleep(5 * time.Minute)
			return http.StatusServiceUnavailable, "not now"
		})
		for name, job := range jobs {
			w.put(name, job)
		}
		for _, when := range []string{"running", "retried"} {
			time.Sleep(time.Until(start.Add(map[string]time.Duration{"running": time.Minute, "retried": 7 * time.Minute}[when])))
			for _, name := range []string{when, when + "-detached"} {
				w.damage("carillon-jobs", "default."+name, func(s string) string { return strings.Replace(s, `"hour"`, `"haur"`, 1) })
				w.put(name, jobs[name])
			}
		}
		time.Sleep(20 * time.Minute)
		for name := range jobs {
			if calls := w.callsOf(name); len(calls) != 2 || calls[0].key != calls[1].key || calls[1].at.Sub(calls[0].at) < 10*time.Minute {
				t.Errorf("%s: %d calls, want one and its retry: %s", name, len(calls), w.outcomes(name))
			}
		}
		time.Sleep(time.Hour)
		w.wantCalls(3 * len(jobs))
		w.mustBeInOrder()
	})
}

// TestDamagedJobThatIsOver: a backup that is put again mends a job that is over, and does not run it once more.
func TestDamagedJobThatIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const once = `{` + action + `}`
		w.put("once", once)
		time.Sleep(time.Minute)
		w.damage("carillon-jobs", "default.once", damages["a-later-field"])
		mustBe(t, w.put("once", once), v1.Updated, scheduler.Completed)
		time.Sleep(time.Minute)
		w.wantHistory("once", "completed")
		mustBe(t, w.put("once", `{`+action+`, "startTime": "2000-01-01T00:10:00Z"}`), v1.Updated, scheduler.Enabled)
		time.Sleep(20 * time.Minute)
		w.wantHistory("once", "completed completed")
	})
}

// TestTooCostlyJobIsDamaged stores a job whose schedule an earlier version did not find too expensive: it is set aside, and a put
// mends it.
func TestTooCostlyJobIsDamaged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", everyMinute)
		time.Sleep(30 * time.Second)
		w.damage("carillon-jobs", "default.job", func(s string) string {
			_, rest, _ := strings.Cut(s, ",")
			rest = strings.Replace(rest, `{"frequency":"minute"}`, `{"rrule":"DTSTART:20310101T000000Z`+strings.Repeat(
				" RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,13,14,15,16,17,18,19;COUNT=99000000", 20,
			)+`"}`, 1)
			return fmt.Sprintf(`{"form":"1%08x",%s`, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)), rest)
		})
		time.Sleep(time.Minute)
		if v := w.get("job"); v.Job.State != scheduler.Damaged || !strings.Contains(v.Status.Message, "cannot be read") {
			t.Errorf("shown as %s: %s", v.Job.State, v.Status.Message)
		}
		w.wantCalls(1)
		mustBe(t, w.put("job", everyMinute), v1.Updated, scheduler.Enabled)
		time.Sleep(time.Minute)
		if n := len(w.sink.seen()); n < 2 {
			t.Errorf("%d calls after it was mended", n)
		}
		w.mustBeInOrder()
	})
}

// TestRepairedUnderAnotherSchedule repairs a job that has run, while its baton waits for a run of the old schedule.
func TestRepairedUnderAnotherSchedule(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(10 * time.Minute)
		w.wantCalls(1)
		w.damage("carillon-jobs", "default.job", damages["a-byte"])
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(5 * time.Minute)
		if n := len(w.sink.seen()); n < 5 {
			t.Errorf("%d calls in all: %s", n, w.outcomes("job"))
		}
	})
}
