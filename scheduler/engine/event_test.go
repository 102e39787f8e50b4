package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// publish publishes an event in the default collection, and waits until it is matched.
func (w *harness) publish(name, id, body string) uint64 {
	w.t.Helper()
	header := map[string][]string{}
	if id != "" {
		header["Nats-Msg-Id"] = []string{id}
	}
	sequence, _, err := w.store.PublishEvent(w.t.Context(), scheduler.Topic{Collection: scheduler.DefaultCollection, Name: name}, header, []byte(body))
	w.must(err)
	time.Sleep(100 * time.Millisecond)
	return sequence
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

// putTriggered puts a job with what it listens to.
func (w *harness) putTriggered(name, body string) {
	w.t.Helper()
	w.put(name, body)
	j := must.Get(jobcache.NewJobs(w.store, w.actions(), w.vault).Load(w.t.Context(), key(name)))(w.t)
	data, _ := json.Marshal(j.Def.Hears(key(name)))
	must.Get(w.store.Listeners().Save(w.t.Context(), "default."+name, data, 0))(w.t)
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

// TestEventCrash stops a worker right after it has stored the effect of an event: the next one does not double it.
func TestEventCrash(t *testing.T) {
	for name, trigger := range map[string]string{
		"every event": `{"on": {"source": "orders"}}`,
		"debounce":    `{"on": {"source": "orders"}, "debounce": {"period": "PT2S"}}`,
		"batch":       `{"on": {"source": "orders"}, "batch": {"size": 2, "wait": "PT1M"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				w.putTriggered("a", `{`+action+`, "trigger": `+trigger+`}`)
				for i := range 4 {
					w.publish("orders", fmt.Sprint("id-", i), `{}`)
					w.publish("orders", fmt.Sprint("id-", i), `{}`) // a duplicate
				}
				time.Sleep(10 * time.Second)
				w.wantNoRepeats()
				want := map[string]int{"every event": 4, "debounce": 1, "batch": 2}[name]
				w.wantCalls(want)
			})
		})
	}
}
