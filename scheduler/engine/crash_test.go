package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// TestCrashPoints kills a worker at every step of an occurrence, and lets
// another one take over. No occurrence is lost, none is recorded twice, only
// those whose record was not stored run again, under the same key, and the
// job never has two batons.
func TestCrashPoints(t *testing.T) {
	recurring := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "interval": 20, "count": 4}}`
	quick := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "count": 4}}`
	once := `{` + action + `}`
	retried := `{` + failing + `}}`
	overlapping := `{` + action + `, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 20, "count": 4}}`
	four := "completed completed completed completed"
	failed := "failed failed failed faulted"
	type death struct {
		job, point string
		before     bool
		skip       int32
		want       string
		repeats    int // calls beyond one for each attempt
	}
	inWorlds(t, map[string]death{
		"taken":                              {recurring, "take", true, 1, four, 0},
		"ran, not recorded":                  {recurring, "record completed", true, 1, four, 1},
		"recorded":                           {recurring, "record completed", false, 1, four, 0},
		"recorded, not passed on":            {recurring, "pass on", true, 1, four, 0},
		"passed on, not acknowledged":        {recurring, "pass on", false, 1, four, 0},
		"acknowledgement lost":               {recurring, "ack", true, 1, four, 0},
		"quick: ran, not recorded":           {quick, "record completed", true, 1, four, 1},
		"quick: passed on":                   {quick, "pass on", false, 1, four, 0},
		"quick: acknowledgement lost":        {quick, "ack", true, 1, four, 0},
		"one-shot: ran, not recorded":        {once, "record completed", true, 0, "completed", 1},
		"one-shot: recorded":                 {once, "record completed", false, 0, "completed", 0},
		"one-shot: end not written":          {once, "end", true, 0, "completed", 0},
		"one-shot: end written":              {once, "end", false, 0, "completed", 0},
		"retry: failure not recorded":        {retried, "record failed", true, 1, failed, 1},
		"retry: failure recorded":            {retried, "record failed", false, 1, failed, 0},
		"retry: passed on":                   {retried, "pass on", false, 1, failed, 0},
		"retry: faulted not recorded":        {retried, "record faulted", true, 0, failed, 0},
		"retry: end written":                 {retried, "end", false, 0, failed, 0},
		"overlapping: passed on":             {overlapping, "pass on", false, 1, four, 1},
		"overlapping: not passed on":         {overlapping, "pass on", true, 1, four, 1},
		"overlapping: detached run recorded": {overlapping, "record completed", false, 1, four, 1},
	}, func(t *testing.T, w *harness, test death) {
		m := w.startMortal(&mortal{point: test.point, before: test.before, skip: test.skip})
		w.sink.answers(func(*call) (int, string) {
			if test.want == failed {
				return http.StatusInternalServerError, ""
			}
			return http.StatusOK, ""
		})
		w.put("job", test.job)
		m.awaitDeath(t)
		w.startWorker()
		time.Sleep(2 * time.Minute)
		if test.point == "end" { // written behind: what was lost with the process is the audit's, and shows before
			if v := w.get("job"); !v.Job.State.Final() {
				t.Errorf("state %s before the audit", v.Job.State)
			}
			w.finish(map[bool]int{true: 1, false: 0}[test.before])
		}
		w.wantHistory("job", test.want)
		keys := map[string]bool{}
		for _, c := range w.sink.seen() {
			keys[c.key+"#"+c.try] = true
		}
		// A detached run may have happened, unrecorded, before its job's baton was passed on.
		if got := len(w.sink.seen()) - len(keys); got != test.repeats && (got != 0 || test.job != overlapping) {
			t.Errorf("%d repeated calls, want %d", got, test.repeats)
		}
		if v := w.get("job"); !v.Job.State.Final() || v.Status.Executions != len(keys) {
			t.Errorf("state %s, status %+v, want final with %d executions", v.Job.State, v.Status, len(keys))
		}
		if st, err := w.store.LoadJob(t.Context(), key("job")); err != nil || !scheduler.StoredState(st.Data).Final() {
			t.Errorf("stored as %s, %v", scheduler.StoredState(st.Data), err)
		}
		w.mustBeInOrder()
	})
}

// finish audits, finds so many jobs that have ended and nothing wrong, and writes their ends.
func (w *harness) finish(ended int) {
	w.t.Helper()
	rep, err := w.service.Audit(w.t.Context(), true)
	if err != nil || rep.Ended != ended || len(rep.Findings) > 0 {
		w.t.Fatalf("audit: %v; %d ended, want %d; findings: %+v", err, rep.Ended, ended, rep.Findings)
	}
	w.must(w.service.Finish(w.t.Context(), rep))
}

// TestCrashAfterEditWhileHeld has a job edited while its baton is held. The
// attempt runs under the new definition, and so does what follows it, also when
// its worker dies before the next baton is stored.
func TestCrashAfterEditWhileHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		m := w.startMortal(&mortal{point: "pass on", before: true})
		w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
		start := time.Now().Add(20 * time.Second).UTC().Format(time.RFC3339Nano)
		put := func(policy string) {
			w.put("job", `{"startTime": "`+start+`", "action": `+retried("target", policy)+`}`)
		}
		put(`"retryType": "none"`)
		time.Sleep(19600 * time.Millisecond)
		put(`"retryInterval": "PT1S", "retryCount": 2`)
		m.awaitDeath(t)
		w.startWorker()
		time.Sleep(time.Minute)
		w.wantHistory("job", "failed failed failed faulted")
	})
}

// TestDisabledAfterDetaching disables a job with overlap allow whose worker stopped between starting a run and passing the
// job's own baton on: the occurrence has one end, whichever of its two messages arrives first.
func TestDisabledAfterDetaching(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		m := w.startMortal(&mortal{point: "pass on", before: true})
		w.sink.answers(after(time.Minute, http.StatusOK))
		w.put("job", `{`+action+`, "overlap": "allow", "timeout": "PT5M", "recurrence": {"frequency": "Minute"}}`)
		m.awaitDeath(t)
		w.must(w.service.Disable(t.Context(), key("job")))
		w.startWorker()
		time.Sleep(5 * time.Minute)
		w.wantHistory("job", "skipped(disabled 1)")
		w.mustBeInOrder()
	})
}

// composite is a one-shot with a list of errorActions, the first of which has one of its own.
var composite = `{"action": ` + to("main", `, "errorAction": [`+to("first", `, "errorAction": `+to("inner", ""))+`,`+to("second", "")+`]`) + `}`

// TestCrashAtEveryErrorAction kills a worker at steps of an occurrence with several errorActions: each runs, and only
// one whose record was not stored runs again, under the same key.
func TestCrashAtEveryErrorAction(t *testing.T) {
	for _, test := range []struct {
		point   string
		before  bool
		skips   []int32
		repeats int
	}{
		{"take", true, []int32{2}, 0},
		{"record failed", true, []int32{0, 1, 2, 3}, 1},
		{"record failed", false, []int32{1, 3}, 0},
		{"pass on", true, []int32{0}, 0},
		{"pass on", false, []int32{2}, 0},
		{"record faulted", true, []int32{0}, 0},
		{"record faulted", false, []int32{0}, 0},
	} {
		for _, skip := range test.skips {
			t.Run(fmt.Sprintf("%s, before %t, %d", test.point, test.before, skip), func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *harness) {
					m := w.startMortal(&mortal{point: test.point, before: test.before, skip: skip})
					w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
					w.put("job", composite)
					m.awaitDeath(t)
					w.startWorker()
					time.Sleep(time.Minute)
					w.wantHistory("job", "failed failed/error failed/error failed/error faulted")
					order := slices.Compact(strings.Fields(told(w.sink.seen())))
					if diff := cmp.Diff([]string{"main", "first/error", "inner/error-2", "second/error-3"}, order); diff != "" {
						t.Error("called (-want +got)\n" + diff)
					}
					if got := len(w.sink.seen()) - len(order); got != test.repeats {
						t.Errorf("%d repeated calls, want %d", got, test.repeats)
					}
					w.mustBeInOrder()
				})
			})
		}
	}
}

// TestLostAcknowledgementIsNoBaton has a worker die before its acknowledgement of a baton is sent that it has passed on. What
// follows runs to the job's end, or to that of the schedule which an edit gives it, before the message comes again. Nothing but
// the history tells of the end then: nobody writes it. No run is repeated.
func TestLostAcknowledgementIsNoBaton(t *testing.T) {
	quick := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "count": 4}}`
	once := `{` + action + `}`
	tried := `{"action": ` + retried("down", `"retryInterval": "PT1S", "retryCount": 2`) + `}`
	type loss struct {
		job  string
		lost int32 // acknowledgements before the one that is lost
		edit string
		want string
	}
	inWorlds(t, map[string]loss{
		"of the second run":            {quick, 1, "", "completed completed completed completed"},
		"of a one-shot":                {once, 0, "", "completed"},
		"of a one-shot that is edited": {once, 0, `{` + action + `, "startTime": "2000-01-01T00:00:01Z"}`, "completed completed"},
		"of a try":                     {tried, 1, "", "failed failed failed faulted"},
	}, func(t *testing.T, w *harness, test loss) {
		endless := func(c *engine.Config) { c.Store, c.Logger = refusing(c.Store, "EndJobs"), nil }
		m := w.startMortal(&mortal{point: "ack", before: true, skip: test.lost}, endless)
		w.sink.answers(failingAt("down"))
		w.put("job", test.job)
		m.awaitDeath(t)
		w.startWorker(endless)
		if test.edit != "" {
			w.put("job", test.edit)
		}
		time.Sleep(time.Minute)
		w.wantHistory("job", test.want)
		if v := w.get("job"); !v.Job.State.Final() {
			t.Errorf("it is %s", v.Job.State)
		}
		w.wantNoRepeats()
	})
}

// TestLostAnswerIsNoRefusal has a run detached and its job's baton passed on, and the answers lost. Before each is tried again, the
// run fails, waits for its retry, and is counted in on the baton that waits already. Nothing is run twice, and nothing taken back.
func TestLostAnswerIsNoRefusal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("down"))
		var passed, fired sync.Once
		w.startWorker(func(c *engine.Config) {
			c.Logger, c.Store = nil, &hooked{w.store, func(o op, do func() error) error {
				err := do()
				lose := func(late time.Duration) func() {
					return func() { time.Sleep(late); err = scheduler.ErrUnavailable }
				}
				switch {
				case o.name == "Fire":
					fired.Do(lose(2 * time.Second))
				case o.name == "Reschedule" && o.slot.Detached == "":
					passed.Do(lose(15 * time.Second))
				}
				return err
			}}
		})
		w.put("job", `{"action": `+retried("down", `"retryInterval": "PT10S", "retryCount": 1`)+`, "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 9}}`)
		time.Sleep(90 * time.Second)
		w.wantHistory("job", "failed failed faulted failed failed faulted")
		if v := w.get("job"); v.Status.Executions != 4 {
			t.Errorf("%d executions are counted", v.Status.Executions)
		}
	})
}

// TestDetachedRunTakenOverBesideItsBaton kills a worker while a run is detached, so
// that the detached run and the job's own baton are delivered again at once, and
// has the run end its attempt while the baton is looked at. Nothing runs twice, and
// the run is counted once.
func TestDetachedRunTakenOverBesideItsBaton(t *testing.T) {
	type death struct {
		job     string
		status  int
		before  bool // dies before the baton is passed on, otherwise right after
		want    string
		counted int // executions
	}
	inWorlds(t, map[string]death{
		"passed on, and it has ended": {
			`{` + action + `, "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 2}}`,
			http.StatusOK, false, "completed completed", 2,
		},
		"not passed on, and it waits for its retry": {
			`{"action": ` + retried("target", `"retryInterval": "PT10S", "retryCount": 1`) + `, "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 2}}`,
			http.StatusInternalServerError, true, "failed failed faulted failed failed faulted", 4,
		},
	}, func(t *testing.T, w *harness, test death) {
		m := w.startMortal(&mortal{point: "pass on", before: test.before})
		w.sink.answers(after(200*time.Millisecond, test.status))
		w.put("job", test.job)
		m.awaitDeath(t)
		w.startWorker(func(c *engine.Config) { c.Store = slow(slow(w.store, time.Second, "Append"), 5*time.Second, "Fire") })
		time.Sleep(5 * time.Minute)
		w.wantHistory("job", test.want)
		if got := len(w.sink.seen()); got != test.counted && got != test.counted+1 {
			t.Errorf("%d calls, want %d, and at most one of them repeated", got, test.counted)
		}
		if v := w.get("job"); !v.Job.State.Final() || v.Status.Executions != test.counted {
			t.Errorf("state %s, status %+v, want final with %d executions", v.Job.State, v.Status, test.counted)
		}
	})
}

// TestKilledAmidHerd kills one of two workers in the middle of a herd. Nothing is
// lost, the last job is at most four seconds late, each is recorded once, and what
// is called again was in flight, and is called under its key.
func TestKilledAmidHerd(t *testing.T) {
	const (
		herd     = 400
		slots    = 32
		inFlight = 2 * slots // those that are called, and those that have answered and are not recorded
	)
	inWorld(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(50*time.Millisecond, http.StatusOK))
		small := func(c *engine.Config) {
			c.Concurrency, c.PerTarget, c.HoldMemory = slots, slots, 2*herd*scheduler.UsualHeldBytes
		}
		m := w.startMortal(&mortal{point: "record completed", before: true, skip: herd / 8}, small)
		w.startWorker(small)
		due := time.Now().Add(20 * time.Second)
		w.putMany(herd, "job-%d", `{`+action+`, "startTime": "`+due.UTC().Format(time.RFC3339Nano)+`"}`)
		m.awaitDeath(t)
		killed := time.Now()
		time.Sleep(time.Minute)
		first, calls := map[string]*call{}, w.sink.seen()
		for _, c := range calls {
			if first[c.key] == nil {
				first[c.key] = c
			}
			if c.at.Before(due) {
				t.Errorf("%s was called %s early", c.key, due.Sub(c.at))
			}
		}
		var last time.Time
		for _, c := range first {
			if c.at.After(last) {
				last = c.at
			}
		}
		if len(first) != herd {
			t.Errorf("%d of %d were called", len(first), herd)
		}
		if late := last.Sub(due); late > 4*time.Second || !last.After(killed.Add(time.Second)) {
			t.Errorf("the last was called %s late; the worker was killed after %s", late, killed.Sub(due))
		}
		if again := len(calls) - len(first); again < 1 || again > inFlight {
			t.Errorf("%d were called again, want those in flight, at most %d", again, inFlight)
		}
		for i := range herd {
			w.wantHistory(fmt.Sprintf("job-%d", i), "completed")
		}
	})
}

// afterUnrecordedCall kills a worker between the call of a job of every minute and its record, and has f do the rest.
func afterUnrecordedCall(t *testing.T, f func(t *testing.T, w *harness)) {
	t.Helper()
	inWorld(t, func(t *testing.T, w *harness) {
		m := w.startMortal(&mortal{point: "record completed", before: true})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		m.awaitDeath(t)
		f(t, w)
	})
}

// TestDisabledBeforeTakeover kills a worker between the call of a job and its record, and
// disables the job before another worker takes it over. The job is not called again, and the
// record of what was skipped says that it may have been called.
func TestDisabledBeforeTakeover(t *testing.T) {
	afterUnrecordedCall(t, func(t *testing.T, w *harness) {
		w.must(w.service.Disable(t.Context(), key("job")))
		w.startWorker()
		time.Sleep(5 * time.Minute)
		w.wantCalls(1)
		records := w.history("job")
		if len(records) != 1 || records[0].Reason != scheduler.ReasonDisabled || !strings.Contains(records[0].Message, "may have been called") {
			t.Errorf("the history is %s", w.outcomes("job"))
		}
	})
}

// TestDoubtEnds kills a worker amid a run. The one that takes the run over asks the history; the runs
// that follow are not doubted any more.
func TestDoubtEnds(t *testing.T) {
	afterUnrecordedCall(t, func(t *testing.T, w *harness) {
		w.startWorker()
		time.Sleep(5 * time.Minute)
		st := must.Get(w.store.Waiting(t.Context(), scheduler.BatonKey{Key: key("job")}))(t)
		if b, err := scheduler.DecodeBaton(st.Data); err != nil || b.Suspect || b.Runs < 4 {
			t.Errorf("the baton is %+v, %v", b, err)
		}
	})
}
