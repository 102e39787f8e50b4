package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// publishNow publishes an event in the default collection.
func (w *harness) publishNow(name, id, body string) {
	w.t.Helper()
	header := map[string][]string{}
	if id != "" {
		header["Nats-Msg-Id"] = []string{id}
	}
	_, _, err := w.store.PublishEvent(w.t.Context(), scheduler.Topic{Collection: scheduler.DefaultCollection, Name: name}, header, []byte(body))
	w.must(err)
}

// publish is publishNow, and waits until the event is matched.
func (w *harness) publish(name, id, body string) {
	w.t.Helper()
	w.publishNow(name, id, body)
	time.Sleep(100 * time.Millisecond)
}

// TestEvents publishes events for a job with a trigger, a second after it was put.
func TestEvents(t *testing.T) {
	type step struct {
		at      time.Duration // since the job was put
		event   string
		body    string
		history string // at the end of the step
	}
	for name, row := range map[string]struct {
		trigger string
		steps   []step
	}{
		"every event": {`{"on": {"source": "orders"}}`, []step{
			{time.Second, "orders", `{"total": 7}`, "completed"},
			{2 * time.Second, "orders", `{"total": 8}`, "completed completed"},
			{3 * time.Second, "others", `{}`, "completed completed"},
		}},
		"filter": {`{"on": {"source": "orders", "filter": "event.data.total > 10"}}`, []step{
			{time.Second, "orders", `{"total": 7}`, ""},
			{2 * time.Second, "orders", `{"total": 11}`, "completed"},
			{3 * time.Second, "orders", `{}`, "completed skipped(trigger 1)"},
		}},
		"delay": {`{"on": {"source": "orders"}, "delay": "PT10S"}`, []step{
			{time.Second, "orders", `{}`, ""},
			{2 * time.Second, "orders", `{}`, ""},
			{11500 * time.Millisecond, "", "", "completed"},
			{13 * time.Second, "", "", "completed completed"},
		}},
		"delay until": {`{"on": {"source": "orders"}, "delay": "event.data.due"}`, []step{
			{time.Second, "orders", `{"due": "2000-01-01T00:00:30Z"}`, ""},
			{29 * time.Second, "", "", ""},
			{31 * time.Second, "", "", "completed"},
			{32 * time.Second, "orders", `{"due": "soon"}`, "completed skipped(trigger 1)"},
		}},
		"debounce": {`{"on": {"source": "orders", "key": "event.data.id"}, "debounce": {"period": "PT10S", "max": "PT25S"}}`, []step{
			{1 * time.Second, "orders", `{"id": "a"}`, ""},
			{9 * time.Second, "orders", `{"id": "a"}`, ""},
			{10 * time.Second, "orders", `{"id": "b"}`, ""},
			{17 * time.Second, "orders", `{"id": "a"}`, ""},
			{21 * time.Second, "", "", "completed"},                  // b
			{25 * time.Second, "orders", `{"id": "a"}`, "completed"}, // until 26, the maximum
			{27 * time.Second, "", "", "completed completed"},
			{28 * time.Second, "orders", `{"id": "a"}`, "completed completed"},
			{39 * time.Second, "", "", "completed completed completed"},
		}},
		"batch": {`{"on": {"source": "orders"}, "batch": {"size": 3, "wait": "PT20S"}}`, []step{
			{1 * time.Second, "orders", `1`, ""},
			{2 * time.Second, "orders", `2`, ""},
			{3 * time.Second, "orders", `3`, "completed"},
			{4 * time.Second, "orders", `4`, "completed"},
			{25 * time.Second, "", "", "completed completed"},
		}},
		"once": {`{"on": {"source": "orders", "key": "event.data.id"}, "once": "PT10S"}`, []step{
			{1 * time.Second, "orders", `{"id": "a"}`, "completed"},
			{2 * time.Second, "orders", `{"id": "a"}`, "completed"},
			{3 * time.Second, "orders", `{"id": "b"}`, "completed completed"},
			{12 * time.Second, "orders", `{"id": "a"}`, "completed completed completed"},
		}},
		"rate limit": {`{"on": {"source": "orders"}, "rateLimit": {"runs": 2, "period": "PT10S"}}`, []step{
			{1 * time.Second, "orders", `1`, "completed"},
			{2 * time.Second, "orders", `2`, "completed completed"},
			{3 * time.Second, "orders", `3`, "completed completed skipped(trigger 1)"},
			{12 * time.Second, "orders", `4`, "completed completed skipped(trigger 1) completed"},
		}},
		"throttle": {`{"on": {"source": "orders"}, "throttle": {"runs": 2, "period": "PT10S"}}`, []step{
			{1 * time.Second, "orders", `1`, "completed"},
			{2 * time.Second, "orders", `2`, "completed completed"},
			{3 * time.Second, "orders", `3`, "completed completed"},
			{4 * time.Second, "orders", `4`, "completed completed"},
			{5 * time.Second, "orders", `5`, "completed completed"},
			{12 * time.Second, "", "", "completed completed completed completed"},
			{22 * time.Second, "", "", "completed completed completed completed completed"},
		}},
		"require all": {`{"on": [{"source": "orders", "key": "event.data"}, {"source": "payments", "key": "event.data"}],
			"require": "all", "within": "PT10S"}`, []step{
			{1 * time.Second, "orders", `1`, ""},
			{2 * time.Second, "orders", `1`, ""},
			{3 * time.Second, "payments", `2`, ""},
			{4 * time.Second, "payments", `1`, "completed"},
			{14 * time.Second, "", "", "completed skipped(trigger 1)"},
		}},
		"require all, or run with what came": {`{"on": [{"source": "orders"}, {"source": "payments"}],
			"require": "all", "within": "PT10S", "otherwise": "run"}`, []step{
			{1 * time.Second, "orders", `1`, ""},
			{12 * time.Second, "", "", "completed"},
		}},
		"unless": {`{"on": {"source": "orders", "key": "event.data.id"}, "delay": "PT10S", "unless": "event.data.paid"}`, []step{
			{1 * time.Second, "orders", `{"id": 1, "paid": false}`, ""},
			{2 * time.Second, "orders", `{"id": 2, "paid": false}`, ""},
			{3 * time.Second, "orders", `{"id": 1, "paid": true}`, "skipped(canceled 1)"},
			{13 * time.Second, "", "", "skipped(canceled 1) completed"},
			{14 * time.Second, "orders", `{"id": 2, "paid": true}`, "skipped(canceled 1) completed"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				begin := time.Now()
				w.putTriggered("a", `{`+action+`, "trigger": `+row.trigger+`}`)
				runs := 0
				for i, s := range row.steps {
					time.Sleep(time.Until(begin.Add(s.at)))
					if s.event != "" {
						w.publish(s.event, "", s.body)
					}
					if got := w.outcomes("a"); got != s.history {
						t.Errorf("step %d, after %s: history %q, want %q", i, s.at, got, s.history)
					}
				}
				for _, r := range w.history("a") {
					if r.Outcome == scheduler.OutcomeCompleted {
						runs++
					}
					if r.Cause == nil || r.Kind != scheduler.Triggered {
						t.Errorf("record without its cause: %+v", r)
					}
				}
				time.Sleep(time.Minute)
				w.wantState("a", scheduler.Enabled, runs)
				w.mustBeInOrder()
			})
		})
	}
}

// putTriggered puts a job, and waits until every process knows what it listens to.
func (w *harness) putTriggered(name, body string) {
	w.t.Helper()
	w.put(name, body)
	time.Sleep(100 * time.Millisecond)
}

// TestChain runs three jobs one after the other, and a fourth after a failure.
func TestChain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if c.n == 0 && len(c.key) > 10 && c.key[:10] == "default/c@" {
				return 500, ""
			}
			return 200, "fine"
		})
		w.putTriggered("b", `{`+action+`, "trigger": {"on": {"job": "a"}}}`)
		w.putTriggered("c", `{`+actionOnce+`, "trigger": {"on": {"job": "default/b", "filter": "event.data.statusCode == 200"}}}`)
		w.putTriggered("d", `{`+action+`, "trigger": {"on": {"job": "c", "outcome": "faulted"}}}`)
		w.putTriggered("e", `{`+action+`, "trigger": {"on": {"job": "c"}}}`)
		w.put("a", `{`+action+`}`)
		time.Sleep(5 * time.Second)
		for name, want := range map[string]string{"a": "completed", "b": "completed", "c": "failed faulted", "d": "completed", "e": ""} {
			w.wantHistory(name, want)
		}
		if d := w.history("d"); len(d) == 1 {
			if c := d[0].Cause; c.Depth != 3 || c.Upstream != w.history("c")[0].Occurrence {
				t.Errorf("cause %+v", c)
			}
		}
		w.mustBeInOrder()
	})
}

// TestShortForm runs jobs that others name: a fan-out after a success, a branch after a failure, and a chain of 20 jobs,
// of which only the first has a schedule.
func TestShortForm(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			return map[bool]int{true: 500, false: 200}[strings.HasPrefix(c.key, "default/c20@")], ""
		})
		for i := 20; i > 0; i-- {
			next := fmt.Sprintf(`"onSuccess": ["c%d"]`, i+1)
			if i == 20 {
				next = `"onSuccess": ["never"], "onFailure": ["alert", "default/page"]`
			}
			w.put(fmt.Sprint("c", i), `{`+actionOnce+`, "trigger": {}, `+next+`}`)
		}
		for _, name := range []string{"alert", "never"} {
			w.put(name, `{`+action+`, "trigger": {}}`)
		}
		w.put("page", `{`+action+`, "recurrence": {"frequency": "Month"}, "startTime": "2030-01-01T00:00:00Z"}`)
		w.put("a", `{`+action+`, "onSuccess": ["c1", "gone"], "onFailure": ["never"]}`)
		time.Sleep(time.Minute)
		for name, want := range map[string]string{
			"a": "completed", "c1": "completed", "c19": "completed", "c20": "failed faulted", "alert": "completed", "page": "completed", "never": "",
		} {
			w.wantHistory(name, want)
		}
		if all := w.history("page"); len(all) == 1 {
			if c := all[0].Cause; c.Depth != 21 || !strings.HasPrefix(c.Upstream, "default/c20@") {
				t.Errorf("cause %+v", c)
			}
		}
		w.wantState("page", scheduler.Enabled, 1)
		w.mustBeInOrder()
	})
}

// TestNamedBeforeEdit removes onSuccess from the only job that has it, during its run: an edit applies from the next
// attempt, so the run starts the other job. Afterwards, no records are delivered any more.
func TestNamedBeforeEdit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(20*time.Second, 200))
		w.put("b", `{`+action+`, "trigger": {}}`)
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}, "onSuccess": ["b"]}`)
		w.publish("orders", "", "{}")
		time.Sleep(10 * time.Second)
		w.put("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		consumers := func() int { return must.Get(w.stream("CARILLON_HISTORY").Info(t.Context()))(t).State.Consumers }
		delivers := consumers()
		time.Sleep(time.Minute)
		w.wantHistory("b", "completed")
		time.Sleep(time.Hour)
		if left := consumers(); left != delivers-1 {
			t.Errorf("%d consumers of records, then %d, want one less", delivers, left)
		}
	})
}

// TestRecovered runs a job after another one that completes, faults twice and completes twice.
func TestRecovered(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		fails := false
		w.sink.answers(func(*call) (int, string) { return map[bool]int{true: 500, false: 200}[fails], "" })
		w.putTriggered("a", `{`+actionOnce+`, "trigger": {"on": {"source": "orders"}}}`)
		w.putTriggered("b", `{`+action+`, "trigger": {"on": {"job": "a", "outcome": "recovered", "filter": "event.data.recovered"}}}`)
		w.putTriggered("c", `{`+action+`, "trigger": {"on": {"job": "a", "filter": "!has(event.data.recovered)"}}}`)
		for i, want := range []string{"", "", "", "completed", "completed"} {
			fails = i == 1 || i == 2
			w.publish("orders", "", "{}")
			time.Sleep(time.Second)
			if got := w.outcomes("b"); got != want {
				t.Errorf("after run %d: %q, want %q", i, got, want)
			}
		}
		w.wantHistory("a", "completed failed faulted failed faulted completed completed")
		w.wantHistory("c", "completed completed completed") // it sees the event as it is without the other job
	})
}

// TestRecordedTwice stores a record again, as after a lost acknowledgement, and that of another process that has made the
// same attempt: the end of the occurrence starts one run of each job.
func TestRecordedTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.putTriggered("b", `{`+action+`, "trigger": {"on": {"job": "a"}}}`)
		w.putTriggered("c", `{`+action+`, "trigger": {"on": {"job": "a"}, "debounce": {"period": "PT2S"}}}`)
		w.putTriggered("d", `{`+action+`, "trigger": {"on": {"job": "a"}, "delay": "PT5S"}}`)
		w.put("a", `{`+action+`}`)
		time.Sleep(time.Second)
		r := w.history("a")[0]
		w.must(w.store.Append(t.Context(), r))
		r.Ended = r.Ended.Add(time.Millisecond)
		w.must(w.store.Append(t.Context(), r))
		time.Sleep(time.Minute)
		w.wantHistory("b", "completed")
		w.wantHistory("c", "completed")
		w.wantHistory("d", "completed")
		if c := w.history("c"); len(c) == 1 && c[0].Cause.Count != 1 {
			t.Errorf("cause %+v", c[0].Cause)
		}
	})
}

const actionOnce = `"action": {"type": "Http", "request": {"uri": "http://target.example/hook", "method": "POST", "body": "x"},
	"retryPolicy": {"retryType": "none"}}`

// TestEventFaults has one of two processes die, or lose a write or its answer, at each of the writes that follow an
// event. Every event has its effect, and no effect is doubled: each run has one end, counted once.
func TestEventFaults(t *testing.T) {
	most := 12
	if testing.Short() {
		most = 4
	}
	for name, row := range map[string]struct {
		trigger string
		runs    int // of 4 events
	}{
		"every event": {`{"on": {"source": "orders"}}`, 4},
		"delay":       {`{"on": {"source": "orders"}, "delay": "PT3S"}`, 4},
		"debounce":    {`{"on": {"source": "orders"}, "debounce": {"period": "PT2S"}}`, 1},
		"batch":       {`{"on": {"source": "orders"}, "batch": {"size": 2, "wait": "PT1M"}}`, 2},
		"chain":       {`{"on": {"job": "first"}}`, 4},
		"count":       {`{"on": {"source": "orders"}, "count": 4}`, 4},
		"queue":       {`{"on": {"source": "orders"}, "overlap": "queue"}`, 4},
		"queued":      {`{"on": {"source": "orders"}, "overlap": "queue", "delay": "PT1S"}`, 4},
		"cancelOther": {`{"on": {"source": "orders"}, "overlap": "cancelOther"}`, 4},
	} {
		most, stride := most, 1
		if strings.Contains(row.trigger, "overlap") {
			most *= 3 // up to the ends of the runs
			if bubble.RaceDetector {
				stride = 5 // without -race, all
			}
		}
		for how := dieBefore; how <= loseAnswer; how++ {
			for after := 0; after < most; after += stride {
				t.Run(fmt.Sprintf("%s, %s write %d", name, how, after), func(t *testing.T) {
					inWorld(t, func(_ *testing.T, w *harness) { w.eventFault(row.trigger, row.runs, fault{after, how}) })
				})
			}
		}
	}
}

func (w *harness) eventFault(trigger string, runs int, f fault) {
	t := w.t
	target := &tally{}
	var all []*process
	start := func() {
		i := len(all)
		all = append(all, newProcess(w, target, func(scheduler.Key, []byte) {}, func(f string, args ...any) {
			if testing.Verbose() {
				t.Logf("%s %d: "+f, append([]any{time.Since(epoch), i}, args...)...)
			}
		}))
	}
	start()
	start()
	w.putTriggered("first", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
	act := action
	if strings.Contains(trigger, "overlap") {
		act = strings.ReplaceAll(action, "target.example", "slow.example")
	}
	w.putTriggered("a", `{`+act+`, "trigger": `+trigger+`}`)
	for i := range 4 {
		if i == 1 {
			all[0].store.strike(f)
			all[1].store.strike(f)
		}
		w.publish("orders", fmt.Sprint("id-", i), `{}`)
	}
	time.Sleep(time.Second)
	start()
	time.Sleep(time.Minute)
	ended, events, attempts := map[string]int{}, 0, 0
	var last *scheduler.Record
	for _, r := range w.history("a") {
		if r.Succeeded() || r.Outcome == scheduler.OutcomeFailed {
			attempts++
		}
		if r.Outcome != scheduler.OutcomeFailed {
			ended[r.Occurrence]++
			events += r.Cause.Count
			if last == nil || r.Nominal.After(last.Nominal) {
				last = r
			}
		}
	}
	if strings.Contains(trigger, "overlap") {
		w.wantNoLedger("a", "")
		w.wantInTurn(target)
		if last == nil || !last.Succeeded() {
			t.Errorf("the run of the last event: %+v", last)
		}
	}
	if late := strings.Contains(trigger, "debounce") && len(ended) > 1; late {
		runs = len(ended) // an event that is delivered again later than the period starts another run
	}
	if len(ended) != runs || events != 4 {
		t.Errorf("%d runs of %d events, want %d of 4: %s", len(ended), events, runs, w.outcomes("a"))
	}
	for id, n := range ended {
		if n != 1 {
			t.Errorf("%s has ended %d times", id, n)
		}
	}
	state := scheduler.Enabled
	if strings.Contains(trigger, "count") {
		state = scheduler.Completed
	}
	w.wantState("a", state, attempts)
	for _, p := range all {
		p.stop()
		p.ended.Wait()
	}
	w.mustBeInOrder()
}

// wantInTurn fails the test if calls of processes that have not died overlap.
func (w *harness) wantInTurn(target *tally) {
	w.t.Helper()
	var before *visit
	for _, c := range target.calls {
		if _, dead := c.by.dead(); dead || strings.HasPrefix(c.id, "default/first") {
			continue
		}
		if before != nil && (before.ended.IsZero() || c.at.Before(before.ended)) {
			w.t.Errorf("%s was called at %s, %s until %s", c.id, c.at, before.id, before.ended)
		}
		if before = c; c.ended.IsZero() { // canceled
			before = nil
		}
	}
}

// lateStore is a store whose listeners are announced late.
type lateStore struct{ scheduler.Store }

func (s lateStore) Listeners() scheduler.Bucket { return lateBucket{s.Store.Listeners()} }

type lateBucket struct{ scheduler.Bucket }

func (b lateBucket) Watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	return b.Bucket.Watch(ctx, ready, func(name string, revision uint64, data []byte) {
		time.Sleep(300 * time.Millisecond)
		changed(name, revision, data)
	})
}

// TestEventAfterPut publishes events immediately after a job was put: the worker knows of the event before the trigger.
func TestEventAfterPut(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = lateStore{w.store} })
		w.putTriggered("other", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		time.Sleep(time.Second)
		w.put("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		w.put("b", `{`+action+`, "trigger": {"on": {"job": "other"}}}`)
		w.publish("orders", "", "{}")
		w.publish("orders", "", "{}")
		time.Sleep(time.Minute)
		for _, name := range []string{"other", "a", "b"} {
			w.wantHistory(name, "completed completed")
		}
		w.wantNoRepeats()
	})
}

// lateJobs is a store whose definitions are announced late.
type lateJobs struct{ scheduler.Store }

func (s lateJobs) WatchJobs(ctx context.Context, ready func(), changed func(scheduler.Key, uint64)) error {
	return s.Store.WatchJobs(ctx, ready, func(k scheduler.Key, revision uint64) {
		time.Sleep(300 * time.Millisecond)
		changed(k, revision)
	})
}

// TestEventAfterEdit publishes events immediately after a job was enabled, or its filter was changed, or a job that another
// one starts was enabled: the worker knows of the event before the edit.
func TestEventAfterEdit(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = lateJobs{w.store} })
		const on = `{` + action + `, "trigger": {"on": {"source": "orders", "filter": "event.data > 5"}}`
		w.putTriggered("a", on+`}`)
		w.putTriggered("b", strings.Replace(on, "> 5", "> 9", 1)+`}`)
		w.putTriggered("started", `{`+action+`, "trigger": {}}`)
		w.putTriggered("starter", `{`+action+`, "trigger": {"on": {"source": "orders"}}, "onSuccess": ["started"]}`)
		must.Get(w.service.Disable(t.Context(), key("a")))(t)
		must.Get(w.service.Disable(t.Context(), key("started")))(t)
		time.Sleep(10 * time.Second)
		w.publish("orders", "", "7") // now the definitions are cached
		must.Get(w.service.Enable(t.Context(), key("a")))(t)
		must.Get(w.service.Enable(t.Context(), key("started")))(t)
		w.put("b", on+`}`)
		w.publish("orders", "", "7")
		w.publish("orders", "", "9")
		time.Sleep(time.Minute)
		for _, name := range []string{"a", "b", "started"} {
			w.wantHistory(name, "completed completed")
		}
		w.wantNoRepeats()
	})
}

// TestUnkeyedEdit publishes an event immediately after a trigger has lost its debounce: the worker matches the event by the
// old trigger, and again by the new one. It starts one run.
func TestUnkeyedEdit(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = lateJobs{w.store} })
		const on = `{` + action + `, "trigger": {"on": {"source": "orders"}`
		w.putTriggered("a", on+`, "debounce": {"period": "PT10S"}}}`)
		w.publish("orders", "", "1") // now the definition is cached
		time.Sleep(time.Minute)
		w.put("a", on+`}}`)
		w.publish("orders", "", "2")
		time.Sleep(time.Minute)
		w.wantHistory("a", "completed completed")
		w.wantNoRepeats()
	})
}

// TestDebouncedWithoutStore has a debounced run due while the store takes no batons: other runs start on time, and the worker stops.
func TestDebouncedWithoutStore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		st, away := without(w.store, "Fire")
		away.Store(false)
		w.startWorker(func(c *engine.Config) { c.Store = st })
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "debounce": {"period": "PT10S"}}}`)
		w.put("b", `{"startTime": "2000-01-01T00:01:00Z", `+action+`}`)
		w.publish("orders", "", "1")
		time.Sleep(5 * time.Second)
		away.Store(true)
		time.Sleep(time.Minute)
		w.wantHistory("b", "completed")
		w.wantHistory("a", "")
		began := time.Now()
		w.stopWorker()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the worker stopped after %v", took)
		}
		w.startWorker()
		time.Sleep(time.Minute)
		w.wantHistory("a", "completed")
	})
}

// TestFilterEdited edits the constant that a filter compares, and publishes events immediately afterwards.
func TestFilterEdited(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = lateStore{w.store} })
		want := ""
		for _, step := range []struct{ filter, events, runs string }{
			{`, "filter": "event.data.type == 'x'"`, `{"type": "x"} {"type": "y"} {"type": 7}`, "completed"},
			{`, "filter": "event.data.type == 'x'"`, `{} {"type": null}`, "skipped(trigger 1)"},
			{`, "filter": "event.data.type == 'y' && event.data.n > 0"`, `{"type": "y", "n": 1} {"type": "x"}`, "completed"},
			{``, `{"type": "x"}`, "completed"},
			{`, "filter": "event.data.type == 7.0"`, `{"type": 7} {"type": "7"}`, "completed"},
		} {
			w.put("a", `{`+action+`, "trigger": {"on": {"source": "orders"`+step.filter+`}}}`)
			for _, body := range strings.SplitAfter(step.events, "} ") {
				w.publish("orders", "", body)
			}
			time.Sleep(time.Minute)
			want = strings.TrimSpace(want + " " + step.runs)
			w.wantHistory("a", want)
		}
		w.wantNoRepeats()
	})
}

// TestUsedUpReadsNothing publishes events for a job whose count is used up, and then raises the count.
func TestUsedUpReadsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		var reads atomic.Int32
		w.startWorker(func(c *engine.Config) {
			c.Store = on(w.store, "Waiting LoadJob", func(do func() error) error { reads.Add(1); return do() })
		})
		const twice = `{` + action + `, "trigger": {"on": {"source": "orders"}, "count": 2}}`
		w.putTriggered("a", twice)
		for range 3 {
			w.publish("orders", "", "{}")
		}
		time.Sleep(time.Minute)
		w.wantState("a", scheduler.Completed, 2)
		w.publish("orders", "", "{}") // now the final form is cached
		reads.Store(0)
		for range 5 {
			w.publish("orders", "", "{}")
		}
		if got := reads.Load(); got != 0 {
			t.Errorf("%d reads", got)
		}
		w.putTriggered("a", strings.Replace(twice, "2", "3", 1))
		w.publish("orders", "", "{}")
		w.wantHistory("a", "completed completed completed")
		w.mustBeInOrder()
	})
}

// TestEventResubmitted repeats a failed run with its events, and refuses that when they are no longer stored.
func TestEventResubmitted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(*call) (int, string) {
			return map[bool]int{true: 500, false: 200}[time.Since(epoch) < time.Minute], ""
		})
		const action = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "POST", "template": true, "body": "{{.Event.Data.id}} of {{.Trigger.Count}}"},
			"retryPolicy": {"retryType": "none"}}`
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "batch": {"size": 2, "wait": "PT1H"}}}`)
		w.putTriggered("b", `{`+action2+`, "trigger": {"on": {"job": "a", "outcome": "faulted"}}}`)
		w.publish("orders", "", `{"id": 1}`)
		w.publish("orders", "", `{"id": 2}`)
		time.Sleep(time.Minute)
		w.wantHistory("a", "failed faulted")
		for _, name := range []string{"a", "b"} {
			must.Get(w.service.Resubmit(t.Context(), key(name), []byte(`{"force": true, "occurrence": "`+w.history(name)[0].Occurrence+`"}`)))(t)
		}
		time.Sleep(10 * time.Second)
		w.wantHistory("a", "failed faulted completed/manual")
		bodies := []string{}
		for _, c := range w.sink.seen() {
			bodies = append(bodies, c.body)
		}
		if got := strings.Join(bodies, ", "); got != "2 of 2, default/a, 2 of 2, default/a" {
			t.Errorf("bodies %q", got)
		}
		w.must(w.stream("CARILLON_EVENTS").Purge(t.Context()))
		_, err := w.service.Resubmit(t.Context(), key("a"), []byte(`{"force": true, "occurrence": "`+w.history("a")[0].Occurrence+`"}`))
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "no longer stored") {
			t.Errorf("without the events: %v", err)
		}
	})
}

// TestEventsResubmitted repeats runs of several events: with those that the first run carried, and none that is too large.
func TestEventsResubmitted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const action = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "POST", "template": true,
			"body": "{{.Event.Data.id}} of {{.Trigger.Count}}, carries {{len .Events}}"}}`
		w.putTriggered("debounced", `{`+action+`, "trigger": {"on": {"source": "a"}, "debounce": {"period": "PT10S"}}}`)
		w.putTriggered("full", `{`+action+`, "trigger": {"on": {"source": "b"}, "batch": {"size": 100, "wait": "PT1H"}}}`)
		on, large := []string{}, strings.Repeat("x", 60<<10)
		for n := range 10 {
			on = append(on, fmt.Sprintf(`{"source": "c%d"}`, n))
		}
		w.putTriggered("large", `{`+action+`, "trigger": {"on": [`+strings.Join(on, ",")+`], "require": "all", "within": "PT1H"}}`)
		w.putTriggered("replaced", `{`+action+`, "trigger": {"on": {"source": "d", "key": "'k'"}, "delay": "PT10S"}}`)
		w.putTriggered("both", `{`+action+`, "trigger": {"on": [{"source": "e"}, {"source": "f"}], "require": "all", "within": "PT1H"}}`)
		for n, name := range []string{"e", "e", "f"} {
			w.publish("d", "", fmt.Sprintf(`{"id": "d%d"}`, n))
			w.publish(name, "", fmt.Sprintf(`{"id": "%s%d"}`, name, n))
		}
		for n := range 10 {
			w.publish("a", "", fmt.Sprintf(`{"id": %d}`, n))
			w.publish(fmt.Sprintf("c%d", n), "", fmt.Sprintf(`{"id": "c", "text": %q}`, large))
		}
		for range 5 {
			w.publish("b", "", fmt.Sprintf(`{"id": "b", "text": %q}`, large))
		}
		time.Sleep(time.Minute)
		for name, want := range map[string]error{
			"debounced": nil, "full": nil, "replaced": nil, "both": nil, "large": scheduler.ErrConflict,
		} {
			w.wantHistory(name, "completed")
			_, err := w.service.Resubmit(t.Context(), key(name), []byte(`{"force": true, "occurrence": "`+w.history(name)[0].Occurrence+`"}`))
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		time.Sleep(10 * time.Second)
		bodies := map[string]int{}
		for _, c := range w.sink.seen() {
			bodies[c.body]++
		}
		want := map[string]int{
			"9 of 10, carries 1": 2, "b of 5, carries 5": 2, "d2 of 3, carries 1": 2, "f2 of 3, carries 2": 2, "c of 10, carries 10": 1,
		}
		if diff := cmp.Diff(want, bodies); diff != "" {
			t.Error("the bodies:", diff)
		}
	})
}

const action2 = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "POST",
	"template": true, "body": "{{.Upstream.Job.Collection}}/{{.Upstream.Job.Name}}"}, "retryPolicy": {"retryType": "none"}}`

// TestEventHerdMerged starts many runs of a job at the same time, in a store that is slower than the patience of a merge
// used to be: the runs are counted together, and do not conflict with each other.
func TestEventHerdMerged(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = slow(w.store, 300*time.Millisecond, "ScheduleAt") })
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		const runs = 200
		for i := range runs {
			w.publishNow("orders", strconv.Itoa(i), `{}`)
		}
		time.Sleep(5 * time.Second)
		w.wantState("a", scheduler.Enabled, runs)
	})
}
