package control_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestReplayEvent checks which stored events start a run, regardless of when the trigger lets a new event run.
func TestReplayEvent(t *testing.T) {
	w := newHarness(t)
	k := scheduler.Key{Collection: "default", Job: "job"}
	must.Get(w.service.PublishEvent(t.Context(), scheduler.Topic{Collection: "default", Name: "orders"}, nil, []byte(`{"total": 7}`)))(t)
	const on = `"on": {"source": "orders", "key": "event.data.total"}`
	disable := func() { must.Get(w.service.Disable(t.Context(), k))(t) }
	for i, c := range []struct {
		name, trigger, request string
		before                 func()
		want                   string // whether a run starts, key and message; or the error
	}{
		{"older than the job", on, `{"sequence": 1}`, nil, "true 7 "},
		{"a delay", on + `, "delay": "PT1H"`, `{"sequence": 1}`, nil, "true 7 "},
		{"a batch", on + `, "batch": {"size": 9, "wait": "PT1H"}`, `{"sequence": 1}`, nil, "true 7 "},
		{"a filter", `"on": {"source": "orders", "filter": "event.data.total > 9"}`, `{"sequence": 1}`, nil, "false  filter was false: event.data.total is 7"},
		{"unless", on + `, "delay": "PT1H", "unless": "true"`, `{"sequence": 1}`, nil, "false 7 trigger.unless is true"},
		{"an error", `"on": {"source": "orders", "filter": "event.data.x"}`, `{"sequence": 1}`, nil, "false  trigger.on[0].filter: event.data.x is missing"},
		{"no sequence", on, `{}`, nil, "sequence: is required"},
		{"an old request", on, `{"sequence": 1, "at": "2001-01-01T00:00:00Z"}`, nil, "at: is the time of the request: it must be within PT1H of now"},
		{"disabled", on, `{"sequence": 1}`, disable, "job default/job: conflict: it is disabled, so no event starts it"},
	} {
		if i > 0 {
			must.Do(t, w.service.Delete(t.Context(), k, 0))
		}
		w.put(k, triggered(c.trigger))
		if c.before != nil {
			c.before()
		}
		v, err := w.service.ReplayEvent(t.Context(), k, []byte(c.request), false)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%t %s %s", v.Starts, v.Key, v.Message)
		}
		if got != c.want || err == nil && v.Starts != (v.Occurrence != "") {
			t.Errorf("%s: got %s %+v, want %s", c.name, got, v, c.want)
		}
	}
}

// TestReplayRequest checks that a repeated request starts one run, and a dry run none.
func TestReplayRequest(t *testing.T) {
	w := newHarness(t)
	k := scheduler.Key{Collection: "default", Job: "job"}
	for range 2 {
		must.Get(w.service.PublishEvent(t.Context(), scheduler.Topic{Collection: "default", Name: "orders"}, nil, nil))(t)
	}
	w.put(k, onEvents(`{"source": "orders"}`))
	at := time.Now().UTC().Format(time.RFC3339Nano)
	occurrences := map[string]bool{}
	for _, sequence := range []int{1, 1, 2} {
		body := fmt.Appendf(nil, `{"sequence": %d, "at": %q}`, sequence, at)
		if v := must.Get(w.service.ReplayEvent(t.Context(), k, body, true))(t); !v.Starts || v.Occurrence != "" {
			t.Errorf("the dry run is %+v", v)
		}
		occurrences[must.Get(w.service.ReplayEvent(t.Context(), k, body, false))(t).Occurrence] = true
	}
	runs := 0
	must.Do(t, w.store.FindDetached(t.Context(), []scheduler.Key{k}, func(slot scheduler.BatonKey, st scheduler.Stored, _ bool) {
		b := must.Get(scheduler.DecodeBaton(st.Data))(t)
		runs++
		if !b.Suspect || !b.Cause.Replay || b.Kind != scheduler.Triggered || !occurrences[scheduler.OccurrenceID(k, b.Nominal)] || !b.Rides(slot.Detached) {
			t.Errorf("the run is %+v", b)
		}
	}))
	if runs != 2 || len(occurrences) != 2 {
		t.Errorf("%d runs, of %v", runs, occurrences)
	}
	w.put(k, later)
	if _, err := w.service.ReplayEvent(t.Context(), k, []byte(`{"sequence": 1}`), false); !errors.Is(err, scheduler.ErrConflict) {
		t.Errorf("without a trigger: %v", err)
	}
}
