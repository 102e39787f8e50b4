package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// turnCollection enables or disables the default collection, and waits until workers have heard of it.
func (w *world) turnCollection(state scheduler.State) {
	w.t.Helper()
	_, _, err := w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "`+string(state)+`"}}`))
	w.must(nil, err)
	time.Sleep(100 * time.Millisecond)
}

// The jobs that these tests have in a collection that is disabled.
const (
	everySecond = `{` + action + `, "recurrence": {"frequency": "Second"}}`
	everyMinute = `{` + action + `, "recurrence": {"frequency": "Minute"}}`
	justOnce    = `{` + action + `}`
)

// TestClosedCollectionIsShown shows what is told of the jobs of a disabled collection: they wait for it, and are not running.
func TestClosedCollectionIsShown(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.turnCollection(scheduler.Disabled)
		jobs := map[string]string{"often": everySecond, "minutely": everyMinute, "once": justOnce}
		for name, body := range jobs {
			if v := w.put(name, body); v.Status.WaitsFor == "" || !v.Status.Next.IsZero() {
				t.Errorf("%s, as it was put: %+v", name, v.Status)
			}
		}
		for range 70 {
			time.Sleep(time.Second)
			for name := range jobs {
				v := w.get(name)
				if s := v.Status; s.WaitsFor != "collection default, which is disabled" || s.Running || !s.Next.IsZero() || v.Job.State != scheduler.Enabled {
					t.Fatalf("%s: state %s, status %+v", name, v.Job.State, s)
				}
			}
		}
		if shown := string(view.JSON(w.get("once"))); !strings.Contains(shown, `"waitsFor":"collection default, which is disabled"`) {
			t.Errorf("shown as %s", shown)
		}
		w.turnCollection(scheduler.Enabled)
		for name := range jobs {
			if s := w.get(name).Status; s.WaitsFor != "" || s.Next.IsZero() {
				t.Errorf("%s, when the collection is enabled: %+v", name, s)
			}
		}
	})
}

// TestRunInClosedCollection runs jobs by hand whose collection is disabled, at any moment: a run by hand does not wait for it, and
// the schedule goes on waiting.
func TestRunInClosedCollection(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.turnCollection(scheduler.Disabled)
		jobs := []string{"often", "minutely", "once"}
		w.put("often", everySecond)
		w.put("minutely", everyMinute)
		w.put("once", justOnce)
		time.Sleep(40 * time.Second)
		for i, name := range jobs {
			if _, err := w.service.Trigger(t.Context(), key(name)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(700 * time.Millisecond)
			if got := len(w.sink.seen()); got != i+1 {
				t.Errorf("%s: %d calls", name, got)
			}
		}
		time.Sleep(2 * time.Minute)
		if got := len(w.sink.seen()); got != len(jobs) {
			t.Errorf("%d calls in a disabled collection", got)
		}
		w.wantHistory("once", "postponed completed/manual")
		w.turnCollection(scheduler.Enabled)
		time.Sleep(62 * time.Second)
		w.wantHistory("once", "postponed completed/manual completed")
		w.mustBeInOrder()
		w.mustTellAll("often", time.Second)
		w.mustTellAll("minutely", time.Minute)
	})
}

// mustTellAll fails the test unless the history has every instant of a job that recurs every so often, each once.
func (w *world) mustTellAll(name string, every time.Duration) {
	w.t.Helper()
	var next time.Time
	n := 0
	for _, r := range w.history(name) {
		if r.Kind.IsManual() || r.Outcome == scheduler.OutcomeFailed {
			continue
		}
		from, to := r.From, r.To
		if from.IsZero() {
			from, to = r.Nominal, r.Nominal
		}
		if !next.IsZero() && !from.Equal(next) {
			w.t.Fatalf("%s: record %d, %s, begins with %s, want %s", name, n, r.Outcome, from, next)
		}
		if count := int(to.Sub(from)/every) + 1; count != max(1, r.Count) {
			w.t.Fatalf("%s: record %d, %s, has %d instants from %s to %s", name, n, r.Outcome, r.Count, from, to)
		}
		next = to.Add(every)
		n++
	}
	if late := time.Since(next); late > time.Second+every {
		w.t.Errorf("%s: recorded up to %s, %s ago", name, next, late)
	}
}

// TestClosedCollectionIsToldInRanges has a job of every second in a collection that is disabled for ninety minutes, with a run by
// hand, edits and a crash meanwhile: every second has its record, of which there are few.
func TestClosedCollectionIsToldInRanges(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(w *world)
		most      int // records
		gone      bool
	}{
		"nothing": {func(*world) {}, 5, false},
		"an edit": {func(w *world) { w.put("job", strings.Replace(everySecond, `"x"`, `"y"`, 1)) }, 5, false},
		"the job is disabled": {func(w *world) {
			w.must(w.service.Disable(w.t.Context(), key("job")))
			w.must(w.service.Enable(w.t.Context(), key("job")))
		}, 8, false},
		"a run by hand":     {func(w *world) { w.must(w.service.Trigger(w.t.Context(), key("job"))) }, 8, false},
		"no worker":         {func(w *world) { w.stopWorker(); time.Sleep(5 * time.Minute); w.startWorker() }, 6, false},
		"its baton is lost": {func(w *world) { w.loseTimers() }, 7, false},
		"another schedule":  {func(w *world) { w.put("job", `{"startTime": "2040-01-01T00:00:00Z", `+action+`}`) }, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.put("job", everySecond)
				time.Sleep(3 * time.Second)
				w.turnCollection(scheduler.Disabled)
				before := len(w.history("job"))
				time.Sleep(50*time.Minute + 20500*time.Millisecond)
				test.meanwhile(w)
				if test.gone {
					w.mustTellAll("job", time.Second)
				} else {
					time.Sleep(40 * time.Minute)
					calls := len(w.sink.seen())
					w.turnCollection(scheduler.Enabled)
					time.Sleep(62 * time.Second)
					if len(w.sink.seen()) == calls {
						t.Error("it does not go on when the collection is enabled")
					}
					w.mustTellAll("job", time.Second)
				}
				records := 0
				for _, r := range w.history("job")[before:] {
					if r.Outcome == scheduler.OutcomePostponed || r.Outcome == scheduler.OutcomeSkipped {
						records++
					}
				}
				if records == 0 || records > test.most {
					t.Errorf("%d records, want at most %d: %s", records, test.most, w.outcomes("job"))
				}
				w.mustBeInOrder()
			})
		})
	}
}
