package engine_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestHerdLeavesRoom has more jobs due at one instant than fit into memory. While those that fit wait for it, a job of every
// second is punctual; the others run, too, each once, and none too early.
func TestHerdLeavesRoom(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.HoldMemory = 30 * scheduler.UsualHeldBytes })
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second)
		job := `{"startTime": "` + due.Format(time.RFC3339) + `", "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`
		w.putMany(300, "job%d", fmt.Sprintf(job, "herd"))
		w.put("often", strings.Replace(fmt.Sprintf(job, "often"), due.Format(time.RFC3339)+`"`,
			due.Add(-10*time.Second).Format(time.RFC3339)+`", "recurrence": {"frequency": "Second"}`, 1))
		time.Sleep(time.Until(due) + time.Minute)
		punctual, keys := 0, map[string]int{}
		for _, c := range w.sink.seen() {
			if strings.HasPrefix(c.host, "herd") {
				keys[c.key]++
				if c.at.Before(due) {
					t.Errorf("%s is called %s too early", c.key, due.Sub(c.at))
				}
				continue
			}
			nominal := must.Get(time.Parse(time.RFC3339Nano, c.expected))(t)
			if late := c.at.Sub(nominal); nominal.Before(due) && late <= 100*time.Millisecond {
				punctual++
			}
		}
		for key, n := range keys {
			if n != 1 {
				t.Errorf("%s is called %d times", key, n)
			}
		}
		if len(keys) != 300 || punctual != 10 {
			t.Errorf("%d of a herd of 300 are called, and the job of every second %d times of 10 in time before", len(keys), punctual)
		}
	})
}

// TestHerdOfAStoreThatWaits has a herd fired earlier when the server waits for the disk at each write: twice for a baton.
func TestHerdOfAStoreThatWaits(t *testing.T) {
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprintf("waits %t", waits), func(t *testing.T) {
			storetest.Test(t, func(t *testing.T) {
				w := newHarness(t, func(c *store.Config) { c.SyncAlways = waits })
				w.startWorker()
				due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
				w.putMany(400, "job%d", `{"startTime": "`+due.Format(time.RFC3339)+`", "recurrence": {"frequency": "Minute", "count": 1},
						"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}}}`)
				time.Sleep(time.Until(due) - 540*time.Millisecond)
				early := 0
				for i := range 400 {
					if w.withWorker(fmt.Sprintf("job%d", i)) {
						early++
					}
				}
				if waits != (early > 50) || !waits && early > 0 {
					t.Errorf("%d of 400 are with the worker 540 ms before", early)
				}
				time.Sleep(time.Until(due) + time.Second)
				calls := w.sink.seen()
				for _, c := range calls {
					if c.at.Before(due) {
						t.Errorf("%s is called %s too early", c.key, due.Sub(c.at))
					}
				}
				if len(calls) != 400 {
					t.Errorf("%d calls, want 400", len(calls))
				}
			})
		})
	}
}

// ahead has the waiting batons of jobs fired so much before they are due, as those of a large herd are, and waits until a worker
// has them.
func (w *harness) ahead(due time.Time, by time.Duration, names ...string) {
	w.t.Helper()
	for _, name := range names {
		slot := scheduler.BatonKey{Key: key(name)}
		st := must.Get(w.store.Waiting(w.t.Context(), slot))(w.t)
		w.must(w.store.ScheduleAt(w.t.Context(), slot, st.Data, due.Add(-by), st.Revision))
	}
	time.Sleep(time.Until(due.Add(-by)) + time.Second)
	for _, name := range names {
		if !w.withWorker(name) {
			w.t.Fatalf("%s is not with a worker %s before it is due", name, time.Until(due))
		}
	}
}

// packsAll is so little memory for batons that one alone is enough for a worker to pack it.
const packsAll = 16 * scheduler.UsualHeldBytes

// TestHeldFarAhead: what a worker holds ten seconds before it is due may be edited, disabled, enabled and deleted, and that
// counts at once; it is shown as waiting, and is about to run for who asks for that. So it is for those whose
// definitions are packed.
func TestHeldFarAhead(t *testing.T) {
	at := func(due time.Time, path string) string {
		return `{"startTime": "` + due.Format(time.RFC3339Nano) + `", ` + strings.ReplaceAll(action, "/hook", path) + `}`
	}
	tests := map[string]struct {
		edit     func(w *harness, name string, due time.Time)
		calls    string        // with the time before the job was due
		outcomes string        // of its history
		next     time.Duration // after it was due, right after the edit; 0: none
	}{
		"alone":   {func(*harness, string, time.Time) {}, "/old 0s", "completed", 0},
		"body":    {func(w *harness, name string, due time.Time) { w.put(name, at(due, "/new")) }, "/new 0s", "completed", 0},
		"earlier": {func(w *harness, name string, due time.Time) { w.put(name, at(due.Add(-4*time.Second), "/new")) }, "/new 4s", "completed", -4 * time.Second},
		"later":   {func(w *harness, name string, due time.Time) { w.put(name, at(due.Add(time.Minute), "/new")) }, "/new -1m0s", "completed", time.Minute},
		"disabled": {func(w *harness, name string, _ time.Time) {
			w.must(w.service.Disable(w.t.Context(), key(name)))
		}, "", "skipped(disabled 1)", 0},
		"enabled": {func(w *harness, name string, _ time.Time) {
			w.must(w.service.Disable(w.t.Context(), key(name)))
			w.must(w.service.Enable(w.t.Context(), key(name)))
		}, "/old 0s", "completed", 0},
		"deleted": {func(w *harness, name string, _ time.Time) { w.must(w.service.Delete(w.t.Context(), key(name), 0)) }, "", "", 0},
		"by-hand": {func(w *harness, name string, _ time.Time) {
			_, err := w.service.Trigger(w.t.Context(), key(name))
			if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "is imminent") {
				w.t.Errorf("run by hand: %v", err)
			}
		}, "/old 0s", "completed", 0},
	}
	inWorlds(t, map[string]int{"plain": engine.DefaultHoldMemory, "packed": packsAll}, func(t *testing.T, w *harness, memory int) {
		w.startWorker(func(c *engine.Config) { c.HoldMemory = memory })
		due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
		for name := range tests {
			w.put(name, at(due, "/old"))
		}
		w.ahead(due, 10*time.Second, slices.Sorted(maps.Keys(tests))...)
		for name, test := range tests {
			if v := w.get(name); v.Status.Running || !v.Status.Next.Equal(due) {
				t.Errorf("%s, while it is held: running %t, next %s", name, v.Status.Running, v.Status.Next)
			}
			test.edit(w, name, due)
		}
		time.Sleep(time.Second)
		for name, test := range tests {
			if test.next == 0 {
				continue
			}
			w.wantNext(name, due.Add(test.next)) // after the edit
		}
		time.Sleep(2 * time.Minute)
		for name, test := range tests {
			var calls []string
			for _, c := range w.callsOf(name) {
				calls = append(calls, strings.TrimPrefix(c.url, "http://target.example")+" "+due.Sub(c.at).Round(10*time.Millisecond).String())
			}
			if got := strings.Join(calls, ", "); got != test.calls {
				t.Errorf("%s: calls %q, want %q", name, got, test.calls)
			}
			if name != "deleted" {
				w.wantHistory(name, test.outcomes)
			}
		}
	})
}

// TestAwayStoreIsToldSeldom: a herd falls due while no definition can be read. The log is not flooded, and all runs once.
func TestAwayStoreIsToldSeldom(t *testing.T) {
	const herd = 30
	inWorld(t, func(t *testing.T, w *harness) {
		w.putMany(herd, "j%d", `{`+action+`, "startTime": "2000-01-01T00:01:00Z"}`)
		log := &noted{}
		st, away := without(w.store, "LoadJob LoadJobs")
		w.startWorker(func(c *engine.Config) { c.Store, c.Logger = st, slog.New(slog.NewTextHandler(log, nil)) })
		time.Sleep(2 * time.Minute)
		if n := log.count("baton put back for a moment"); n < 2 || n > 7 {
			t.Errorf("in a minute the log was told %d times", n)
		}
		away.Store(false)
		time.Sleep(time.Minute)
		w.wantCalls(herd)
	})
}

// TestUnrecordedAttemptsAreBounded has a run due every 100 ms while no attempt can be recorded: all but those of the first second
// wait until the store takes records again, and none is repeated.
func TestUnrecordedAttemptsAreBounded(t *testing.T) {
	const jobs = 150
	inWorld(t, func(t *testing.T, w *harness) {
		start := time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)
		for i := range jobs {
			at := start.Add(time.Duration(i) * 100 * time.Millisecond).Format(time.RFC3339Nano)
			w.put(fmt.Sprint("j", i), `{`+action+`, "startTime": "`+at+`"}`)
		}
		st, away := without(w.store, "Append")
		w.startWorker(func(c *engine.Config) { c.Store = st })
		time.Sleep(time.Until(start.Add(40 * time.Second)))
		if n := len(w.sink.seen()); n < 10 || n > 12 {
			t.Errorf("%d attempts have run without a record, want those of the first second: 11", n)
		}
		away.Store(false)
		time.Sleep(time.Minute)
		w.wantCalls(jobs)
	})
}

// TestStats has a worker that holds a baton, runs another one and has trouble with two: one of a job that cannot be read, and
// one of a job whose definition is gone.
func TestStats(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		none := map[engine.Trouble]uint64{
			engine.DamagedBaton: 0, engine.DamagedJob: 0, engine.LostDefinition: 0, engine.StoreUnavailable: 0, engine.OtherTrouble: 0,
		}
		if got := w.worker.Stats(); got.InFlight != 0 || got.Held != 0 || got.HoldMemory != 0 || got.HoldLimit != engine.DefaultHoldMemory {
			t.Errorf("at first: %+v", got)
		} else if diff := cmp.Diff(none, got.Troubles); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		answer := make(chan struct{})
		w.sink.answers(func(*call) (int, string) { <-answer; return http.StatusOK, "" })
		w.put("now", `{`+action+`, "timeout": "PT10S"}`)
		w.put("soon", `{`+action+`, "startTime": "`+time.Now().Add(1600*time.Millisecond).Format(time.RFC3339Nano)+`"}`)
		time.Sleep(1550 * time.Millisecond)
		if got := w.worker.Stats(); got.InFlight != 1 || got.Held != 1 || got.HoldMemory == 0 {
			t.Errorf("one runs, and one is about to: %+v", got)
		}
		close(answer)

		w.put("hurt", everyMinute)
		w.put("lost", everyMinute)
		w.stopWorker()
		w.damage("carillon-jobs", "default.hurt", damages["cut"])
		w.loseDefinitions("lost")
		w.startWorker()
		time.Sleep(2 * time.Minute)
		got := w.worker.Stats()
		if got.Troubles[engine.DamagedJob] == 0 || got.Troubles[engine.LostDefinition] == 0 || got.Troubles[engine.StoreUnavailable] > 0 {
			t.Errorf("troubles: %v", got.Troubles)
		}
		if got.InFlight != 0 || got.Queued != 0 {
			t.Errorf("in the end: %+v", got)
		}
	})
}

// TestRunning has three attempts, which begin one after the other and end in another order.
func TestRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		answers := map[string]chan struct{}{}
		for _, name := range []string{"a", "b", "c"} {
			answers[name] = make(chan struct{})
		}
		w.sink.answers(func(c *call) (int, string) {
			<-answers[c.key[len("default/"):len("default/")+1]]
			return http.StatusOK, ""
		})
		want := func(when string, names ...string) {
			t.Helper()
			var got []string
			for _, a := range w.worker.Running(9) {
				got = append(got, a.Job.Job)
			}
			if diff := cmp.Diff(names, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		want("at first")
		for _, name := range []string{"a", "b", "c"} {
			w.put(name, `{`+action+`, "timeout": "PT10M"}`)
			time.Sleep(time.Second)
		}
		want("all run", "a", "b", "c")
		if got := w.worker.Running(1); len(got) != 1 || got[0].Job != (scheduler.Key{Collection: "default", Job: "a"}) ||
			got[0].Try != 1 || got[0].Target == "" || time.Since(got[0].Started).Round(time.Second) != 3*time.Second ||
			got[0].Nominal.IsZero() {
			t.Errorf("the oldest: %+v", got)
		}
		for _, step := range []struct {
			ends string
			left []string
		}{{"b", []string{"a", "c"}}, {"c", []string{"a"}}, {"a", nil}} {
			close(answers[step.ends])
			time.Sleep(time.Second)
			want(step.ends+" ended", step.left...)
		}
		if got := w.worker.Troubled(); got != nil {
			t.Errorf("targets: %+v", got)
		}
	})
}
