package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// templated is an action whose request has the data of the event.
const templated = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "POST", "template": true,
	"body": "{{.Event.Data.key}} {{.Event.Data.n}}"}}`

// TestQueue runs 100 events of three keys: per key in order, and never more at the same time than allowed.
func TestQueue(t *testing.T) {
	for _, concurrency := range []int{1, 2} {
		t.Run(strconv.Itoa(concurrency), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				w.sink.answers(after(time.Second, 200))
				w.putTriggered("a", fmt.Sprintf(`{%s, "trigger": {"on": {"source": "orders", "key": "event.data.key"}, "concurrency": %d}}`, templated, concurrency))
				for n := range 100 {
					w.publishNow("orders", "", fmt.Sprintf(`{"key": "k%d", "n": %d}`, n%3, n))
				}
				time.Sleep(5 * time.Minute)
				w.wantState("a", scheduler.Enabled, 100)
				calls := map[string][]*call{}
				for _, c := range w.sink.seen() {
					key, _, _ := strings.Cut(c.body, " ")
					calls[key] = append(calls[key], c)
				}
				for key, of := range calls {
					last := -1
					for i, c := range of {
						n, _ := strconv.Atoi(strings.TrimPrefix(c.body, key+" "))
						if concurrency == 1 && n < last {
							t.Errorf("key %s: event %d ran after %d", key, n, last)
						}
						last = n
						if i >= concurrency && c.at.Sub(of[i-concurrency].at) < time.Second {
							t.Errorf("key %s: call %d at %s, call %d at %s", key, i-concurrency, of[i-concurrency].at, i, c.at)
						}
						if i > 0 && c.at.Sub(of[i-1].at) > 1200*time.Millisecond {
							t.Errorf("key %s: call %d is %s after the one before", key, i, c.at.Sub(of[i-1].at))
						}
					}
				}
				w.wantNoLedger("k0", "k1", "k2")
				w.mustBeInOrder()
			})
		})
	}
}

// wantNoLedger fails the test if the runs of a key of the job a are still in a ledger.
func (w *harness) wantNoLedger(keys ...string) {
	w.t.Helper()
	for _, k := range keys {
		if st, err := w.store.Waiting(w.t.Context(), scheduler.BatonKey{Key: key("a"), Detached: scheduler.LedgerSlot(k)}); err == nil {
			w.t.Errorf("key %q has a ledger: %s", k, st.Data)
		}
	}
}

// TestOverlapOfEvents publishes an event each second, whose runs take 2.5 seconds.
func TestOverlapOfEvents(t *testing.T) {
	for name, row := range map[string]struct {
		trigger string
		history string
	}{
		"skip":        {`"overlap": "skip"`, "skipped(overlap 1) skipped(overlap 1) completed skipped(overlap 1) completed"},
		"skip, two":   {`"overlap": "skip", "concurrency": 2`, "skipped(overlap 1) completed completed completed completed"},
		"cancelOther": {`"overlap": "cancelOther"`, "failed faulted failed faulted failed faulted failed faulted completed"},
		"queue":       {`"overlap": "queue"`, "completed completed completed completed completed"},
		"delay":       {`"delay": "PT1S", "overlap": "skip"`, "skipped(overlap 1) skipped(overlap 1) completed skipped(overlap 1) completed"},
		"batch":       {`"batch": {"size": 2, "wait": "PT5S"}, "overlap": "skip"`, "skipped(overlap 1) completed completed"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				w.sink.answers(after(2500*time.Millisecond, 200))
				w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, `+row.trigger+`}}`)
				for range 5 {
					w.publish("orders", "", `{}`)
					time.Sleep(900 * time.Millisecond)
				}
				time.Sleep(20 * time.Second)
				w.wantHistory("a", row.history)
				for _, r := range w.history("a") {
					if r.Outcome == scheduler.OutcomeSkipped && !strings.Contains(r.Message, "trigger.overlap: the run default/a@2000") {
						t.Errorf("message %q", r.Message)
					}
					if r.Outcome == scheduler.OutcomeFaulted && r.Reason != scheduler.ReasonCanceled {
						t.Errorf("reason %q", r.Reason)
					}
				}
				w.wantNoLedger("")
				w.mustBeInOrder()
			})
		})
	}
}

// TestQueueLosesRun loses the baton of the run in progress: the next one starts nevertheless.
func TestQueueLosesRun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker()
		w.sink.answers(func(c *call) (int, string) {
			return map[bool]int{true: 200, false: 500}[strings.HasSuffix(c.body, " 1")], ""
		})
		w.putTriggered("a", `{`+templated+`, "trigger": {"on": {"source": "orders"}, "overlap": "queue"}}`)
		w.publish("orders", "", `{"key": "k", "n": 0}`)
		w.publish("orders", "", `{"key": "k", "n": 1}`)
		lost := 0
		w.must(w.store.FindDetached(t.Context(), []scheduler.Key{key("a")}, func(slot scheduler.BatonKey, st scheduler.Stored, _ bool) {
			if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.Begun() {
				lost++
				w.must(w.store.Cancel(t.Context(), slot, st.Revision))
			}
		}))
		time.Sleep(3 * time.Minute)
		if got := w.outcomes("a"); lost != 1 || !strings.HasSuffix(got, "completed") {
			t.Errorf("%d lost; history %q", lost, got)
		}
		w.wantNoLedger("")
	})
}

// TestQueueLate lets a run wait only after its turn has come.
func TestQueueLate(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = slow(w.store, 3*time.Second, "Reschedule") })
		w.sink.answers(after(time.Second, 200))
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "overlap": "queue"}}`)
		w.publish("orders", "", `{}`)
		w.publish("orders", "", `{}`)
		time.Sleep(10 * time.Second)
		w.wantHistory("a", "completed completed")
	})
}

// TestQueueEdited lets waiting runs start when an edit ends the limit.
func TestQueueEdited(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(10*time.Second, 200))
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "overlap": "queue"}}`)
		for range 5 {
			w.publish("orders", "", `{}`)
			time.Sleep(900 * time.Millisecond)
		}
		places := must.Get(w.service.DetachedRuns(t.Context(), key("a")))(t)
		if len(places) != 5 || places[0].Ledger != "runs: 1 in progress, 4 queued" {
			t.Errorf("runs: %+v", places)
		}
		if a := must.Get(w.service.Why(t.Context(), key("a"), places[4].Nominal.Format(time.RFC3339Nano)))(t); a.Code != explain.Waits {
			t.Errorf("why: %s: %s", a.Code, a.Answer)
		}
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}}}`)
		time.Sleep(21 * time.Second) // the first run ends, and then the others
		w.wantHistory("a", "completed completed completed completed completed")
		w.wantNoLedger("")
	})
}

// TestQueueCanceled cancels a run that waits, and one in progress.
func TestQueueCanceled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, 200))
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "overlap": "queue"}}`)
		for range 4 {
			w.publish("orders", "", `{}`)
		}
		runs := must.Get(w.service.DetachedRuns(t.Context(), key("a")))(t)
		for _, i := range []int{2, 0} {
			id := scheduler.OccurrenceID(key("a"), runs[i].Nominal)
			must.Get(w.service.Cancel(t.Context(), key("a"), []byte(`{"occurrence": "`+id+`"}`)))(t)
			time.Sleep(time.Second)
		}
		time.Sleep(11 * time.Second)
		w.wantHistory("a", "skipped(canceled 1) failed faulted completed completed")
		w.wantNoLedger("")
		w.mustBeInOrder()
	})
}

// TestQueueDisabled disables a job whose runs wait: they are recorded as skipped.
func TestQueueDisabled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(5*time.Second, 200))
		w.putTriggered("a", `{`+action+`, "trigger": {"on": {"source": "orders"}, "overlap": "queue"}}`)
		for range 3 {
			w.publish("orders", "", `{}`)
		}
		w.must(w.service.Disable(t.Context(), key("a")))
		time.Sleep(time.Minute)
		words := strings.Fields(w.outcomes("a"))
		slices.Sort(words)
		if got := strings.Join(words, " "); got != "1) 1) completed skipped(disabled skipped(disabled" {
			t.Errorf("history %q", got)
		}
		w.wantNoLedger("")
		w.mustBeInOrder()
	})
}
