package control_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// triggered returns a job with a trigger.
func triggered(trigger string) string {
	return `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "trigger": {` + trigger + `}}`
}

// wait lets a run wait in the slot of the empty key of a job, with an event of a sequence.
func (w *harness) wait(k scheduler.Key, sequence uint64, spent bool) {
	w.t.Helper()
	now := time.Now().UTC()
	e, err := json.Marshal([]scheduler.Event{{Sequence: sequence, Time: now}})
	must.Do(w.t, err)
	b := scheduler.Baton{
		Kind: scheduler.Triggered, UID: w.incarnation(k), Nominal: now, Due: now.Add(time.Hour), Keyed: true, Spent: spent, Events: e,
		Cause: &scheduler.Cause{Event: "default.orders", Sequence: sequence, Count: 1, Since: now},
	}
	slot := scheduler.BatonKey{Key: k, Detached: scheduler.KeySlot("")}
	must.Do(w.t, w.store.ScheduleAt(w.t.Context(), slot, b.Encode(), b.Due, 0))
}

// instants are the times in a message.
var instants = regexp.MustCompile(`\d{4}-[0-9T:-]+Z`)

// TestTestEvent checks the effect of an event on triggers of all kinds, and on the run that waits for its key.
func TestTestEvent(t *testing.T) {
	w := newHarness(t)
	w.collection("sales", `{}`)
	orders := scheduler.Topic{Collection: "default", Name: "orders"}
	k := scheduler.Key{Collection: "default", Job: "early"}
	must.Get(w.service.PublishEvent(t.Context(), orders, nil, []byte(`{"total": 1}`)))(t)
	must.Get(w.service.PublishEvent(t.Context(), scheduler.Topic{Collection: "sales", Name: "orders"}, nil, nil))(t)
	const on, seven, total = `"on": {"source": "orders"}`, `{"data": {"total": 7}}`, `"on": {"source": "orders", "filter": "event.data.total > 100"}`
	for i, c := range []struct {
		name, trigger, request string
		waits                  uint64 // sequence of an event of the run that waits; 0: none
		want                   string // verdict, key, effect, events and message
	}{
		{"a run", on, seven, 0, "matches  starts 1 a run starts immediately"},
		{"a key", `"on": {"source": "orders", "key": "event.data.total"}`, seven, 0, "matches 7 starts 1 a run starts immediately"},
		{"a filter", total, seven, 0, "ignores  none 0 filter was false: event.data.total is 7"},
		{"another event", total, `{"event": "files"}`, 0, "ignores  none 0 no listener of the job selects it"},
		{"no data", total, `{}`, 0, "refuses  skipped 0 the run is skipped: trigger.on[0].filter: event.data is null"},
		{"a delay", on + `, "delay": "PT10M"`, seven, 0, "matches  waits 1 a run waits until T"},
		{"a debounce", on + `, "debounce": {"period": "PT10M"}`, seven, 2, "matches  waits 2 a run waits until T with 2 events"},
		{"a batch", on + `, "batch": {"size": 2, "wait": "PT1H"}`, seven, 2, "matches  starts 2 a run starts immediately with 2 events"},
		{"replaced", `"on": {"source": "orders", "key": "''"}, "delay": "PT10M"`, seven, 2, "matches  waits 2 a run waits until T with 2 events, in place of the run that waits until T"},
		{"a first run", on + `, "rateLimit": {"runs": 2, "period": "PT1H"}`, seven, 0, "matches  starts 1 a run starts immediately: run 1 of 2 until T"},
		{"limited", on + `, "rateLimit": {"runs": 1, "period": "PT1H"}`, seven, 2, "matches  skipped 0 the run is skipped: trigger.rateLimit allows no further run before T"},
		{"once", on + `, "once": "PT1H"`, seven, 2, "matches  none 0 no run starts before T: trigger.once"},
		{"unless", `"on": {"source": "orders", "key": "''"}, "delay": "PT1H", "unless": "event.data.total == 7"`, seven, 2, "cancels  cancels 0 the run that waits until T is canceled"},
		{"nothing to cancel", `"on": {"source": "orders", "key": "''"}, "delay": "PT1H", "unless": "true"`, seven, 0, "cancels  none 0 no run waits that it could cancel"},
		{"stored before the job", on, `{"sequence": 1}`, 0, "ignores  none 0 the event is older than the job"},
		{"stored in another collection", on, `{"sequence": 2}`, 0, "event 2: not found among the events of collection default and of the trigger"},
		{"not stored", on, `{"sequence": 9}`, 0, "event 9: not found"},
		{"two events", on, `{"sequence": 1, "data": 1}`, 0, "data: does not go with sequence: the stored event has it"},
		{"only jobs", `"on": {"job": "extract"}`, seven, 0, "event: is required: the job listens to other jobs only"},
		{"a wrong name", on, `{"event": "a b"}`, 0, `event: "a b" must not contain ' ': letters, digits, - and _ are allowed`},
	} {
		k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("job%d", i)}
		w.put(k, triggered(c.trigger))
		if c.waits > 0 {
			w.wait(k, c.waits, strings.Contains(c.trigger, "rateLimit") || strings.Contains(c.trigger, "once"))
		}
		v, err := w.service.TestEvent(t.Context(), k, []byte(c.request))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s %s %s %d %s", v.Verdict, v.Key, v.Effect, v.Events, instants.ReplaceAllString(v.Message, "T"))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if err == nil && (v.Waiting != nil) != (c.waits > 0) {
			t.Errorf("%s: waiting is %+v", c.name, v.Waiting)
		}
	}
	w.put(k, later)
	if _, err := w.service.TestEvent(t.Context(), k, []byte(seven)); !errors.Is(err, scheduler.ErrConflict) {
		t.Errorf("without a trigger: %v", err)
	}
}
