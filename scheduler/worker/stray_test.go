package worker_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// loseDefinitions removes jobs from their bucket without a trace, as a damaged disk does. No worker may run: its memory would
// hide it.
func (w *world) loseDefinitions(names ...string) {
	w.t.Helper()
	js, err := jetstream.New(w.nc)
	w.must(nil, err)
	st, err := js.Stream(w.t.Context(), "KV_carillon-jobs")
	w.must(nil, err)
	for _, name := range names {
		if err := st.Purge(w.t.Context(), jetstream.WithPurgeSubject("$KV.carillon-jobs.default."+name)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// audit runs one that mends.
func (w *world) audit() *service.AuditReport {
	w.t.Helper()
	rep, err := w.service.Audit(w.t.Context(), true)
	w.must(nil, err)
	return rep
}

// lost returns the jobs that an audit names as lost.
func lost(rep *service.AuditReport) string {
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
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
		hourly := `"recurrence": {"frequency": "Hour", "count": 6}, "catchUp": {"policy": "all", "window": "PT12H"}`
		docs := map[string]string{
			"kept":     `{` + at("kept") + `, "startTime": "` + start.Format(time.RFC3339) + `", ` + hourly + `}`,
			"started":  `{` + at("started") + `, "startTime": "` + start.Format(time.RFC3339) + `", ` + hourly + `}`,
			"anchored": `{` + at("anchored") + `, ` + hourly + `}`, // its rhythm is that of its first put
			"once":     `{` + at("once") + `, "startTime": "` + start.Add(150*time.Minute).Format(time.RFC3339) + `"}`,
		}
		for name, doc := range docs {
			w.put(name, doc)
		}
		time.Sleep(time.Until(start.Add(90 * time.Minute)))
		w.stopWorker()
		w.loseDefinitions("started", "anchored", "once")
		rep := w.audit()
		if got := lost(rep); got != "anchored once started" || rep.Fixed != 0 || rep.Waiting != 4 || rep.Jobs != 1 {
			t.Fatalf("lost %q, %+v", got, rep)
		}
		log := &noted{}
		w.startWorker(func(c *worker.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		time.Sleep(time.Until(start.Add(200 * time.Minute))) // two instants, and the one-shot's, have passed
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
		time.Sleep(110 * time.Minute)
		calls := map[string]int{}
		for _, c := range w.sink.seen() {
			calls[c.key]++
			if calls[c.key] > 1 {
				t.Errorf("%s was called twice", c.key)
			}
		}
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
	inBubble(t, func(t *testing.T, w *world) {
		due := time.Now().Add(10 * time.Minute).UTC()
		for name, at := range map[string]time.Time{"audited": due.Add(24 * time.Hour), "fired": due, "old": due.Add(24 * time.Hour)} {
			v := w.put(name, `{`+action+`, "startTime": "`+at.Format(time.RFC3339)+`"}`)
			if name == "old" {
				continue
			}
			w.must(nil, w.store.RemoveJob(t.Context(), key(name), v.Job.Revision, 0))
		}
		time.Sleep(11 * time.Minute)
		if rep := w.audit(); rep.Fixed != 1 || len(rep.Findings) != 1 || rep.Findings[0].Job != key("audited") || rep.Waiting != 2 {
			t.Errorf("audit: %+v, want that audited is removed, and fired gone before", rep)
		}
		w.must(nil, w.store.RemoveJob(t.Context(), key("old"), w.get("old").Job.Revision, 0))
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
	inBubble(t, func(t *testing.T, w *world) {
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
	for name, body := range map[string]string{
		"no document":                    `{"rev"`,
		"a run by hand in front of none": `{"rev":2,"sched":1,"manual":true,"nominal":"2000-01-01T00:00:00Z","due":"2000-01-01T00:00:00Z"}`,
		"a detached run's":               `{"rev":2,"sched":1,"oneOff":true,"nominal":"2000-01-01T00:00:00Z","due":"2000-01-01T00:00:00Z"}`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.stopWorker()
				takeovers := make(chan struct{}, 1000)
				w.startWorker(func(c *worker.Config) { c.OnTakeover = func() { takeovers <- struct{}{} } })
				start := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second)
				w.put("job", `{`+action+`, "startTime": "`+start.Format(time.RFC3339)+`", "recurrence": {"frequency": "Minute", "interval": 10}}`)
				w.must(nil, w.store.Cancel(t.Context(), scheduler.Slot{Key: key("job")}, 0))
				if err := w.store.Fire(t.Context(), scheduler.Slot{Key: key("job")}, []byte(body), 0); err != nil {
					t.Fatal(err)
				}
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
		})
	}
}

// TestEditMendsDamagedBaton has a waiting baton that cannot be read: an edit of the job removes it, and plans anew.
func TestEditMendsDamagedBaton(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		doc := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", "recurrence": {"frequency": "Hour"}`
		w.put("job", doc+`}`)
		slot := scheduler.Slot{Key: key("job")}
		w.must(nil, w.store.Cancel(t.Context(), slot, 0))
		if err := w.store.Arm(t.Context(), slot, []byte(`{"rev":`), start, 0); err != nil {
			t.Fatal(err)
		}
		w.put("job", doc+`, "description": "edited"}`)
		if next := w.get("job").Status.Next; !next.Equal(start) {
			t.Errorf("next %s, want %s", next, start)
		}
		time.Sleep(130 * time.Minute)
		w.wantHistory("job", "completed completed")
	})
}

// TestLostCollectionIsNamed loses a collection that has jobs: they go on, and the audit names it until it is put again.
func TestLostCollectionIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		if _, _, err := w.service.PutCollection(t.Context(), "ops", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		k := scheduler.Key{Collection: "ops", Job: "job"}
		body := []byte(`{` + action + `, "recurrence": {"frequency": "Minute"}}`)
		if _, _, err := w.service.Put(t.Context(), service.Edit{Key: k, Body: body}); err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(w.nc)
		w.must(nil, err)
		st, err := js.Stream(t.Context(), "KV_carillon-collections")
		w.must(nil, err)
		if err := st.Purge(t.Context(), jetstream.WithPurgeSubject("$KV.carillon-collections.ops")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Second)
		if rep := w.audit(); len(rep.Findings) != 1 || rep.Findings[0].Name != "collection ops" || !rep.Findings[0].Lost {
			t.Errorf("audit: %+v", rep)
		}
		w.wantCalls(3)
		if _, _, err := w.service.PutCollection(t.Context(), "ops", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		w.mustBeInOrder()
	})
}
