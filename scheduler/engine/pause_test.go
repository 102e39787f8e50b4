package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// pause pauses a job, as somebody.
func (w *harness) pause(name, until string) {
	w.t.Helper()
	ctx := auth.With(w.t.Context(), &auth.Principal{Name: "ann", Via: auth.ViaToken})
	v := must.Get(w.service.Pause(ctx, key(name), until))(w.t)
	if v.Job.State != scheduler.Enabled || !v.Job.PausedAt(time.Now()) {
		w.t.Fatalf("state %s, paused until %s", v.Job.State, v.Job.PausedUntil)
	}
}

// TestPauseEnds early, is made longer, and the job runs by hand meanwhile: every instant has one record.
func TestPauseEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(5 * time.Second)
		w.pause("job", "1h")
		time.Sleep(60 * time.Second)
		w.must(w.service.Trigger(t.Context(), key("job")))
		time.Sleep(60 * time.Second)
		w.pause("job", "2h")
		time.Sleep(60 * time.Second)
		w.must(w.patch("job", `{"pausedUntil": null}`))
		time.Sleep(6 * time.Second)
		w.pause("job", "2h")
		time.Sleep(20 * time.Second)
		w.must(w.service.Enable(t.Context(), key("job")))
		time.Sleep(10 * time.Second)
		want := "completed skipped(paused 6) completed/manual skipped(paused 6) skipped(paused 6) completed skipped(paused 2) completed"
		w.wantHistory("job", want)
	})
}

// TestPauseWhileHeld pauses a job whose baton a worker holds: the answer does not wait for the worker, which then does not run it.
// The answer does not wait either when somebody ends the pause.
func TestPauseWhileHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, `+every10s+`}`)
		hold := func() (began time.Time) {
			time.Sleep(time.Until(w.get("job").Status.Next.Add(-200 * time.Millisecond)))
			w.must(w.store.Running(t.Context(), scheduler.BatonKey{Key: key("job")}))
			return time.Now()
		}
		mustBeQuick := func(began time.Time) {
			if took := time.Since(began); took > 50*time.Millisecond {
				t.Errorf("it took %s", took)
			}
		}
		time.Sleep(15 * time.Second)
		began := hold()
		w.pause("job", w.get("job").Status.Next.Add(30*time.Second).Format(time.RFC3339))
		mustBeQuick(began)
		time.Sleep(11 * time.Second)
		w.wantCalls(2)
		time.Sleep(5 * time.Second)
		began = hold()
		v, err := w.service.Enable(t.Context(), key("job"))
		if err != nil || v.Result != v1.Updated {
			t.Fatalf("%s, %v", v.Result, err)
		}
		mustBeQuick(began)
		time.Sleep(5 * time.Second)
		w.wantHistory("job", "completed completed skipped(paused 3) completed")
		w.mustBeInOrder()
	})
}

// TestPauseSurvives that its process ends, that the batons are lost, that its job is disabled and enabled, and a put that does not name it.
func TestPauseSurvives(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const often = `{` + action + `, "startTime": "2000-01-01T00:10:00Z", "recurrence": {"frequency": "Minute", "interval": 10}}`
		w.put("job", often)
		w.put("limited", `{`+action+`, "startTime": "2000-01-01T00:10:00Z", "recurrence": {"frequency": "Minute", "interval": 10, "count": 3}}`)
		at := func(clock string) { time.Sleep(time.Until(timeOfDay(t, clock))) }
		at("00:15:00")
		w.pause("job", "2000-01-01T00:55Z")
		w.pause("limited", "2000-01-01T00:55Z")
		w.stopWorker()
		at("00:25:00")
		w.startWorker()
		w.loseTimers()
		w.put("job", often)
		at("00:35:00")
		w.must(w.service.Disable(t.Context(), key("job")))
		at("00:45:00")
		w.must(w.patch("job", `{"state": "enabled"}`))
		at("01:25:00")
		w.wantHistory("job", "completed skipped(paused 2) skipped(disabled 1) skipped(paused 1) completed completed completed")
		w.wantHistory("limited", "completed skipped(paused 4) completed completed")
	})
}

// TestPauseIsForeseen in the forecast, the coming runs and dry runs.
func TestPauseIsForeseen(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("cron", `{`+action+`, "recurrence": {"cron": "30 * * * *"}}`)
		w.put("hour", `{`+action+`, "startTime": "2000-01-01T00:10:00Z", "recurrence": {"frequency": "Hour"}}`)
		w.put("count", `{`+action+`, "startTime": "2000-01-01T00:20:00Z", "recurrence": {"frequency": "Hour", "count": 30}}`)
		w.put("jitter", `{`+action+`, "startTime": "2000-01-01T00:40:00Z", "jitter": "PT5M", "recurrence": {"frequency": "Hour"}}`)
		w.put("once", `{`+action+`, "startTime": "2000-01-01T01:00:00Z"}`)
		names := []string{"cron", "hour", "count", "jitter", "once"}
		for _, name := range names {
			w.pause(name, "2000-01-01T12:00Z")
		}
		time.Sleep(2 * time.Hour)
		report := must.Get(w.service.Forecast(t.Context(), control.ForecastQuery{Hours: 24}))(t)
		if report.Runs != 4*14+1 {
			t.Errorf("%d runs are foreseen, want %d", report.Runs, 4*14+1)
		}
		w.sameForecast(control.ForecastQuery{Hours: 24})
		for _, name := range names {
			for _, q := range []control.RunsQuery{{Key: key(name)}, {Key: scheduler.Key{Collection: "default"}}} {
				q.Days, q.Most = 2, 100
				runs := must.Get(w.service.Runs(t.Context(), q))(t)
				if len(runs) == 0 || runs[0].Due.Before(timeOfDay(t, "12:00:00")) {
					t.Errorf("%s: %d runs, the first of %+v", name, len(runs), runs[:min(1, len(runs))])
				}
			}
		}
		dry := must.Get(w.service.Patch(t.Context(), control.Edit{Key: key("hour"), Body: []byte(`{"pausedUntil": "2000-01-01T06:00:00Z"}`), DryRun: true}))(t)
		if got := fmt.Sprint(dry.DryRun.NextRuns[0].Format("15:04"), dry.DryRun.Before[0].Format(" 15:04 "), dry.DryRun.Changes[0].Path); got != "06:10 12:10 properties.pausedUntil" {
			t.Errorf("the dry run says %s", got)
		}
	})
}

// TestPauseAskedBefore: a pause that is carried out later than it was asked for ends when it would have, and is none when that
// is over.
func TestPauseAskedBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, `+every10s+`}`)
		asked := time.Now()
		time.Sleep(20 * time.Minute)
		v, err := w.service.PauseAt(t.Context(), key("job"), "1h", asked)
		if end := asked.Add(time.Hour).Truncate(time.Second); err != nil || !v.Job.PausedUntil.Equal(end) {
			t.Errorf("paused until %v (%v), want %s", v, err, end)
		}
		clock := asked.UTC().Add(10 * time.Minute).Format("15:04:05") // on the job's clock
		if _, err := w.service.PauseAt(t.Context(), key("job"), clock, asked); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("until %s, which has passed: %v", clock, err)
		}
	})
}

// The jobs that these tests have in a collection that is disabled.
const (
	everySecond = `{` + action + `, "recurrence": {"frequency": "Second"}}`
	everyMinute = `{` + action + `, "recurrence": {"frequency": "Minute"}}`
	justOnce    = `{` + action + `}`
)

// TestClosedCollectionIsShown shows what is told of the jobs of a disabled collection: they wait for it, and are not running.
func TestClosedCollectionIsShown(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
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
		if shown := string(v1.JSON(w.get("once"))); !strings.Contains(shown, `"waitsFor":"collection default, which is disabled"`) {
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
	inBubble(t, func(t *testing.T, w *harness) {
		w.turnCollection(scheduler.Disabled)
		jobs := []string{"often", "minutely", "once"}
		w.put("often", everySecond)
		w.put("minutely", everyMinute)
		w.put("once", justOnce)
		time.Sleep(40 * time.Second)
		for i, name := range jobs {
			w.must(w.service.Trigger(t.Context(), key(name)))
			time.Sleep(700 * time.Millisecond)
			w.wantCalls(i + 1)
		}
		time.Sleep(2 * time.Minute)
		w.wantCalls(len(jobs)) // and none by the schedule
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
func (w *harness) mustTellAll(name string, every time.Duration) {
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

// TestClosedCollectionIsToldInRanges has jobs of every second in a collection that is disabled for over an hour, with a run by
// hand, edits and a crash meanwhile: every second has its record, of which there are few.
func TestClosedCollectionIsToldInRanges(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		tests := map[string]struct {
			meanwhile func(name string)
			most      int // records
			gone      bool
		}{
			"nothing": {func(string) {}, 7, false},
			"edit":    {func(name string) { w.put(name, strings.Replace(everySecond, `"x"`, `"y"`, 1)) }, 8, false},
			"disabled": {func(name string) {
				w.must(w.service.Disable(t.Context(), key(name)))
				w.must(w.service.Enable(t.Context(), key(name)))
			}, 10, false},
			"by-hand":  {func(name string) { w.must(w.service.Trigger(t.Context(), key(name))) }, 10, false},
			"schedule": {func(name string) { w.put(name, `{"startTime": "2040-01-01T00:00:00Z", `+action+`}`) }, 3, true},
		}
		before := map[string]int{}
		for name := range tests {
			w.put(name, everySecond)
		}
		time.Sleep(3 * time.Second)
		w.turnCollection(scheduler.Disabled)
		for name := range tests {
			before[name] = len(w.history(name))
		}
		time.Sleep(30*time.Minute + 20500*time.Millisecond)
		for name, test := range tests {
			test.meanwhile(name)
			if test.gone {
				w.mustTellAll(name, time.Second)
			}
		}
		time.Sleep(15 * time.Minute)
		w.stopWorker()
		time.Sleep(5 * time.Minute)
		w.startWorker()
		time.Sleep(90 * time.Second) // between two looks
		w.loseTimers()
		time.Sleep(20 * time.Minute)
		calls := len(w.sink.seen())
		w.turnCollection(scheduler.Enabled)
		time.Sleep(62 * time.Second)
		if len(w.sink.seen()) < calls+len(tests)-1 {
			t.Error("they do not continue when the collection is enabled")
		}
		for name, test := range tests {
			if !test.gone {
				w.mustTellAll(name, time.Second)
			}
			records := 0
			for _, r := range w.history(name)[before[name]:] {
				if r.Outcome == scheduler.OutcomePostponed || r.Outcome == scheduler.OutcomeSkipped {
					records++
				}
			}
			if records == 0 || records > test.most {
				t.Errorf("%s: %d records, want at most %d: %s", name, records, test.most, w.outcomes(name))
			}
		}
		w.mustBeInOrder()
	})
}
