package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	} {
		for how := dieBefore; how <= loseAnswer; how++ {
			for after := range most {
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
	w.putTriggered("a", `{`+action+`, "trigger": `+trigger+`}`)
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
	ended, events := map[string]int{}, 0
	for _, r := range w.history("a") {
		if r.Outcome == scheduler.OutcomeCompleted {
			ended[r.Occurrence]++
			events += r.Cause.Count
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
	w.wantState("a", scheduler.Enabled, runs)
	for _, p := range all {
		p.stop()
		p.ended.Wait()
	}
	w.mustBeInOrder()
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
