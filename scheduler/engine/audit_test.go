package engine_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store"
)

// The timers stream is lost while nothing runs. The audit derives every baton
// again, from the definition and the last record.
func TestAuditRestoresBatons(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(fails)
		far := time.Now().Add(30 * 24 * time.Hour).UTC()
		w.put("new", `{`+action+`, "startTime": "`+far.Format(time.RFC3339)+`"}`)
		w.put("recurring", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 5}}`)
		w.put("retrying", `{`+failing+`}}`)
		w.put("done", `{`+action+`}`)
		w.put("off", `{`+action+`, "state": "disabled"}`)
		time.Sleep(125 * time.Second)
		w.put("late", `{`+failing+`}}`)
		time.Sleep(5 * time.Second)
		w.stopWorker()
		js := must.Get(jetstream.New(w.nc))(t)
		must.Do(t, js.DeleteStream(t.Context(), "CARILLON_TIMERS_0"))
		w.store = must.Get(store.Open(t.Context(), w.nc, store.Config{Storage: jetstream.MemoryStorage}))(t)
		rep := must.Get(w.service.Audit(t.Context(), true))(t)
		if rep.Fixed != 3 || len(rep.Findings) != 3 {
			t.Errorf("audit: %+v, want new, recurring and late restored", rep)
		}
		w.startWorker()
		time.Sleep(10 * time.Minute)
		w.wantHistory("recurring", "completed completed completed completed completed")
		w.wantHistory("late", "failed failed failed faulted")
		w.wantNext("new", far.Truncate(time.Second))
		w.mustBeInOrder()
	})
}

// TestAuditNamesWhatNeverRan: a job whose schedule had no time left is named, and is nothing to mend.
func TestAuditNamesWhatNeverRan(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("never", `{`+action+`, "recurrence": {"cron": "0 9 31 2 *"}}`)
		w.put("over", `{`+action+`}`)
		w.put("off", `{`+action+`, "state": "disabled", "recurrence": {"cron": "0 9 * * *"}}`)
		w.put("on", `{`+action+`, "recurrence": {"cron": "0 9 * * *"}}`)
		time.Sleep(time.Minute)
		rep := must.Get(w.service.Audit(t.Context(), true))(t)
		if got := strings.Join(rep.NeverRan, " "); got != "default/never" || len(rep.Findings) > 0 {
			t.Errorf("never ran: %s; findings: %+v", got, rep.Findings)
		}
	})
}

// TestAuditRecordsFault: a worker dies between the last attempt of an occurrence and the record that it faulted, and the timers
// stream is lost, too. The audit records the fault once, of the main action.
func TestAuditRecordsFault(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *harness) {
			m := w.startMortal(&mortal{point: "record faulted", before: !recorded})
			w.sink.answers(failingAt("main"))
			w.put("job", `{"action": `+to("main", `, "errorAction": `+to("alarm", ""))+`}`)
			m.awaitDeath(t)
			w.stopWorker()
			w.loseTimers()
			w.wantHistory("job", "failed completed/error faulted")
			if r := w.history("job")[2]; r.Phase != scheduler.MainPhase || r.Target != "main.example:80" || r.Status != 500 {
				t.Errorf("the fault is told of %q at %s, status %d", r.Phase, r.Target, r.Status)
			}
			if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Faults != 1 {
				t.Errorf("state %s, status %+v", v.Job.State, v.Status)
			}
		})
	}
}

// loseDefinitions removes jobs from their bucket without a trace, as a damaged disk does. No worker may run: its memory would
// hide it.
func (w *harness) loseDefinitions(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.must(w.stream("KV_carillon-jobs").Purge(w.t.Context(), jetstream.WithPurgeSubject("$KV.carillon-jobs.default."+name)))
	}
}

// audit runs one that mends.
func (w *harness) audit() *control.AuditReport {
	w.t.Helper()
	return must.Get(w.service.Audit(w.t.Context(), true))(w.t)
}

// lost returns the jobs that an audit names as lost.
func lost(rep *control.AuditReport) string {
	var names []string
	for _, f := range rep.Findings {
		if f.Lost && !f.Fixed {
			names = append(names, f.Job.Job)
		}
	}
	return strings.Join(names, " ")
}

// TestLostDefinitionsKeepTheirBatons loses the definitions of three of four jobs. The audit names them and leaves their batons,
// which wait, also when they fall due. Put again, the jobs go on where they were: nothing runs twice, and nothing is left out.
func TestLostDefinitionsKeepTheirBatons(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		start := time.Now().UTC().Truncate(10 * time.Minute).Add(10 * time.Minute)
		often := `"recurrence": {"frequency": "Minute", "interval": 10, "count": 6}, "catchUp": {"policy": "all", "window": "PT12H"}`
		docs := map[string]string{
			"kept":     `{` + at("kept") + `, "startTime": "` + start.Format(time.RFC3339) + `", ` + often + `}`,
			"started":  `{` + at("started") + `, "startTime": "` + start.Format(time.RFC3339) + `", ` + often + `}`,
			"anchored": `{` + at("anchored") + `, ` + often + `}`, // its rhythm is that of its first put
			"once":     `{` + at("once") + `, "startTime": "` + start.Add(25*time.Minute).Format(time.RFC3339) + `"}`,
		}
		for name, doc := range docs {
			w.put(name, doc)
		}
		time.Sleep(time.Until(start.Add(15 * time.Minute)))
		w.stopWorker()
		w.loseDefinitions("started", "anchored", "once")
		rep := w.audit()
		if got := lost(rep); got != "anchored once started" || rep.Fixed != 0 || rep.Waiting != 4 || rep.Jobs != 1 {
			t.Fatalf("lost %q, %+v", got, rep)
		}
		log := &noted{}
		w.startWorker(func(c *engine.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		time.Sleep(time.Until(start.Add(34 * time.Minute))) // two instants, and the one-shot's, have passed
		for _, name := range []string{"started", "anchored", "once"} {
			if n := log.count("job=default/" + name + " "); n != 1 {
				t.Errorf("the log told of %s %d times", name, n)
			}
		}
		if got := lost(w.audit()); got != "anchored once started" {
			t.Fatalf("after their time, lost: %q", got)
		}
		for name, doc := range docs {
			w.put(name, doc)
		}
		w.mustBeInOrder()
		time.Sleep(18 * time.Minute)
		w.wantNoRepeats()
		for name, want := range map[string]int{"kept": 6, "started": 6, "anchored": 6, "once": 0} {
			var runs, skips int
			for _, r := range w.history(name) {
				switch r.Outcome { //nolint:exhaustive // others do not come
				case scheduler.OutcomeCompleted:
					runs++
				case scheduler.OutcomeSkipped:
					skips += r.Count
				}
			}
			if name == "once" && runs+skips != 1 || name != "once" && (runs != want || skips != 0) {
				t.Errorf("%s: %d runs, %d skipped, want %d: %s", name, runs, skips, want, w.outcomes(name))
			}
			if v := w.get(name); v.Job.State != scheduler.Completed {
				t.Errorf("%s is %s", name, v.Job.State)
			}
		}
		w.mustBeInOrder()
	})
}

// TestDeletedJobsBatonsGo has deletes that were cut short behind the definition: the audit removes what they left, and a worker
// drops it, as long as the store knows of the delete. From then on it is taken for lost, and a second delete removes it.
func TestDeletedJobsBatonsGo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		due := time.Now().Add(10 * time.Minute).UTC()
		for name, at := range map[string]time.Time{"audited": due.Add(24 * time.Hour), "fired": due, "old": due.Add(24 * time.Hour)} {
			v := w.put(name, `{`+action+`, "startTime": "`+at.Format(time.RFC3339)+`"}`)
			if name == "old" {
				continue
			}
			w.must(w.store.RemoveJob(t.Context(), key(name), v.Job.Revision, 0))
		}
		time.Sleep(11 * time.Minute)
		if rep := w.audit(); rep.Fixed != 1 || len(rep.Findings) != 1 || rep.Findings[0].Job != key("audited") || rep.Waiting != 2 {
			t.Errorf("audit: %+v, want that audited is removed, and fired gone before", rep)
		}
		w.must(w.store.RemoveJob(t.Context(), key("old"), w.get("old").Job.Revision, 0))
		time.Sleep(2 * time.Hour)
		if got := lost(w.audit()); got != "old" {
			t.Errorf("two hours later, lost: %q", got)
		}
		if err := w.service.Delete(t.Context(), key("old"), 0); err != nil {
			t.Errorf("delete of a job of which only the baton is left: %v", err)
		}
		if err := w.service.Delete(t.Context(), key("old"), 0); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("second delete: %v", err)
		}
		w.mustBeInOrder()
		w.wantCalls(0)
	})
}

// TestLostWhileItRuns loses a definition while its attempt runs: what follows is planned by the one that it ran under.
func TestLostWhileItRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(30*time.Second, http.StatusOK))
		start := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
		doc := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", "recurrence": {"frequency": "Hour"}`
		w.put("job", doc+`}`)
		time.Sleep(time.Until(start) + 5*time.Second)
		w.put("job", doc+`, "description": "edited"}`) // so that the worker reads it again
		w.loseDefinitions("job")
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed")
		rep := w.audit()
		if lost(rep) != "job" || !strings.Contains(rep.Findings[0].Problem, "next at "+start.Add(time.Hour).Format(time.RFC3339)+", run 1 times") {
			t.Errorf("audit: %+v", rep)
		}
		w.put("job", doc+`}`)
		time.Sleep(2 * time.Hour)
		w.wantHistory("job", "completed completed completed")
	})
}

// TestDamagedBatonsAreSetAside has batons that someone wrote, or a disk made, of which nothing can follow. Each is removed once,
// and the audit, which is called for, has the job go on.
func TestDamagedBatonsAreSetAside(t *testing.T) {
	inWorlds(t, map[string]string{
		"no document":                    `{"rev"`,
		"a run by hand in front of none": `{"rev":2,"sched":1,"manual":true,"nominal":"2000-01-01T00:00:00Z","due":"2000-01-01T00:00:00Z"}`,
		"a detached run's":               `{"rev":2,"sched":1,"oneOff":true,"nominal":"2000-01-01T00:00:00Z","due":"2000-01-01T00:00:00Z"}`,
	}, func(t *testing.T, w *harness, body string) {
		takeovers := make(chan struct{}, 1000)
		w.startWorker(func(c *engine.Config) { c.OnTakeover = func() { takeovers <- struct{}{} } })
		start := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second)
		w.put("job", `{`+action+`, "startTime": "`+start.Format(time.RFC3339)+`", "recurrence": {"frequency": "Minute", "interval": 10}}`)
		w.must(w.store.Cancel(t.Context(), scheduler.BatonKey{Key: key("job")}, 0))
		w.must(w.store.Fire(t.Context(), scheduler.BatonKey{Key: key("job")}, []byte(body), 0))
		time.Sleep(20 * time.Second)
		if len(takeovers) != 1 {
			t.Errorf("an audit was called for %d times, want once", len(takeovers))
		}
		if rep := w.audit(); rep.Fixed != 1 || rep.Waiting+rep.Running != 0 {
			t.Errorf("audit: %+v", rep)
		}
		time.Sleep(25 * time.Minute)
		w.wantHistory("job", "completed completed")
	})
}

// TestEditMendsDamagedBaton has a waiting baton that cannot be read: an edit of the job removes it, and plans anew.
func TestEditMendsDamagedBaton(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		start := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		doc := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", "recurrence": {"frequency": "Hour"}`
		w.put("job", doc+`}`)
		slot := scheduler.BatonKey{Key: key("job")}
		w.must(w.store.Cancel(t.Context(), slot, 0))
		w.must(w.store.ScheduleAt(t.Context(), slot, []byte(`{"rev":`), start, 0))
		w.put("job", doc+`, "description": "edited"}`)
		w.wantNext("job", start)
		time.Sleep(130 * time.Minute)
		w.wantHistory("job", "completed completed")
	})
}

// TestLostCollectionIsNamed loses a collection that has jobs: they go on, and the audit names it until it is put again.
func TestLostCollectionIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.service.PutCollection(w.t.Context(), "ops", []byte(`{}`)))
		k := scheduler.Key{Collection: "ops", Job: "job"}
		body := []byte(`{` + action + `, "recurrence": {"frequency": "Minute"}}`)
		w.must(w.service.Put(w.t.Context(), control.Edit{Key: k, Body: body}))
		w.must(w.stream("KV_carillon-collections").Purge(t.Context(), jetstream.WithPurgeSubject("$KV.carillon-collections.ops")))
		time.Sleep(150 * time.Second)
		if rep := w.audit(); len(rep.Findings) != 1 || rep.Findings[0].Name != "collection ops" || !rep.Findings[0].Lost {
			t.Errorf("audit: %+v", rep)
		}
		w.wantCalls(3)
		w.must(w.service.PutCollection(w.t.Context(), "ops", []byte(`{}`)))
		w.mustBeInOrder()
	})
}

// strand has the server count all that is fired as acknowledged, as it does when it was killed between an acknowledgement and
// the removal: a consumer that was made for one subject alone acknowledges a later message of that, and takes all then.
func (w *harness) strand() {
	w.t.Helper()
	ctx := w.t.Context()
	js := must.Get(jetstream.New(w.nc))(w.t)
	old := must.Get(js.Consumer(ctx, "CARILLON_TIMERS_0", "workers"))(w.t)
	cfg := old.CachedInfo().Config
	all := cfg.FilterSubject
	w.must(js.DeleteConsumer(ctx, "CARILLON_TIMERS_0", "workers"))
	cfg.FilterSubject = "carillon.fire.0.zz.last"
	c := must.Get(js.CreateConsumer(ctx, "CARILLON_TIMERS_0", cfg))(w.t)
	w.must(js.Publish(ctx, cfg.FilterSubject, nil))
	m := must.Get(c.Next())(w.t)
	w.must(m.DoubleAck(ctx))
	cfg.FilterSubject = all
	w.must(js.UpdateConsumer(ctx, "CARILLON_TIMERS_0", cfg))
}

// TestAuditRescuesUndelivered: a worker dies, and the server with it, which counts the running baton as acknowledged and has not
// removed it. Nobody is given it, until the audit has it fired again, or removes it when it was passed on: every occurrence runs
// once, and the schedule goes on.
func TestAuditRescuesUndelivered(t *testing.T) {
	type death struct {
		point  string
		before bool
	}
	inWorlds(t, map[string]death{
		"before it was run":      {"take", false},
		"before its record":      {"record completed", true},
		"after its record":       {"record completed", false},
		"after it was passed on": {"pass on", false},
	}, func(t *testing.T, w *harness, test death) {
		m := w.startMortal(&mortal{point: test.point, before: test.before})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		m.awaitDeath(t)
		w.stopWorker()
		w.strand()
		w.startWorker()
		time.Sleep(30 * time.Second)
		if got := w.outcomes("job"); strings.Count(got, "completed") > 1 {
			t.Fatalf("history %q before the audit", got)
		}
		rep := w.audit()
		if len(rep.Findings) != 1 || rep.Fixed != 1 || rep.Findings[0].Name != "default/job" {
			t.Errorf("found %+v", rep.Findings)
		}
		time.Sleep(10 * time.Minute)
		w.wantHistory("job", "completed completed completed")
		keys := map[string]int{}
		for _, c := range w.sink.seen() {
			keys[c.key]++
		}
		for key, n := range keys {
			if n > 1 && !test.before {
				t.Errorf("%s was called %d times", key, n)
			}
		}
		if len(keys) != 3 {
			t.Errorf("called %v", keys)
		}
		if rep := w.audit(); len(rep.Findings) > 0 || rep.Waiting+rep.Running > 0 {
			t.Errorf("then %+v", rep)
		}
	})
}

// TestRescue fires an undelivered baton again without an audit of everything.
func TestRescue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		m := w.startMortal(&mortal{point: "take"})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		m.awaitDeath(t)
		w.stopWorker()
		w.strand()
		w.startWorker()
		for _, want := range []int{1, 0} {
			if n, err := w.service.Rescue(t.Context()); n != want || err != nil {
				t.Errorf("rescued %d, %v, want %d", n, err, want)
			}
		}
		time.Sleep(10 * time.Minute)
		w.wantHistory("job", "completed completed completed")
	})
}
