package control_test

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
)

// onEvents returns a job that runs on events, with further fields.
func onEvents(on string) string {
	return `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "trigger": {"on": ` + on + `}}`
}

// heard returns the entry of a job, "" for none.
func (w *harness) heard(k scheduler.Key) string {
	w.t.Helper()
	name := must.Get(k.MarshalText())(w.t)
	st, err := w.store.Listeners().Load(w.t.Context(), string(name))
	if errors.Is(err, scheduler.ErrNotFound) {
		return ""
	}
	must.Do(w.t, err)
	return string(st.Data)
}

// TestRegistry checks what the entry of a job contains after each change of the job.
func TestRegistry(t *testing.T) {
	w := newHarness(t)
	w.collection("other", `{}`)
	k, ctx := scheduler.Key{Collection: "default", Job: "job"}, t.Context()
	patch := func(body string) func() error {
		return func() error {
			_, err := w.service.Patch(ctx, control.Edit{Key: k, Body: []byte(body)})
			return err
		}
	}
	put := func(body string) func() error {
		return func() error {
			_, _, err := w.service.Put(ctx, control.Edit{Key: k, Body: []byte(body)})
			return err
		}
	}
	const orders, both = `{"topics":["default.orders"]}`, `{"topics":["default.orders"],"jobs":["other.extract"]}`
	for _, step := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"no trigger", put(later), ""},
		{"a patch adds a trigger", patch(`{"startTime": null, "trigger": {"on": {"source": "orders"}}}`), orders},
		{"disabled", func() error { _, err := w.service.Disable(ctx, k); return err }, orders},
		{"enabled", func() error { _, err := w.service.Enable(ctx, k); return err }, orders},
		{"another listener", put(onEvents(`[{"source": "orders"}, {"job": "other/extract"}]`)), both},
		{"one less", put(onEvents(`[{"source": "orders"}]`)), orders},
		{"a patch removes the trigger", patch(`{"trigger": null, "startTime": "2100-01-01T00:00:00Z"}`), ""},
		{"put again", put(onEvents(`{"subject": "default.orders"}`)), orders},
		{"deleted", func() error { return w.service.Delete(ctx, k, 0) }, ""},
		{"created again", put(onEvents(`{"source": "orders"}`)), orders},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := w.heard(k); got != step.want {
			t.Errorf("%s: the entry is %q, want %q", step.name, got, step.want)
		}
	}
	in := scheduler.Key{Collection: "other", Job: "job"}
	w.put(in, onEvents(`{"source": "orders"}`))
	must.Do(t, w.service.DeleteCollection(ctx, "other", false))
	if got := w.heard(in); got != "" {
		t.Errorf("after the deletion of the collection, the entry is %q", got)
	}
}

// crashing is a store that dies before or after it stores a definition.
type crashing struct {
	*store.Store

	after bool
}

var errCrash = errors.New("crash")

func (c *crashing) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	if c.after {
		if _, err := c.Store.SaveJob(ctx, k, data, replaces, final); err != nil {
			return 0, err
		}
	}
	return 0, errCrash
}

// TestRegistryCrash checks that after a crash at any point, an entry has the listeners of the stored definition.
func TestRegistryCrash(t *testing.T) {
	const orders, refunds = `{"source": "orders"}`, `{"source": "refunds"}`
	for name, c := range map[string]struct {
		before, put string
		after       bool
		want        string
	}{
		"created, not stored":         {"", onEvents(orders), false, `{"topics":["default.orders"]}`},
		"created, stored":             {"", onEvents(orders), true, `{"topics":["default.orders"]}`},
		"changed, not stored":         {onEvents(orders), onEvents(refunds), false, `{"topics":["default.orders","default.refunds"]}`},
		"changed, stored":             {onEvents(orders), onEvents(refunds), true, `{"topics":["default.orders","default.refunds"]}`},
		"trigger removed, not stored": {onEvents(orders), later, false, `{"topics":["default.orders"]}`},
		"trigger removed, stored":     {onEvents(orders), later, true, `{"topics":["default.orders"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t)
			k := scheduler.Key{Collection: "default", Job: "job"}
			if c.before != "" {
				w.put(k, c.before)
			}
			dying := w.over(&crashing{Store: w.store, after: c.after})
			if _, _, err := dying.Put(t.Context(), control.Edit{Key: k, Body: []byte(c.put)}); !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if got := w.heard(k); got != c.want {
				t.Errorf("the entry is %q, want %q", got, c.want)
			}
			w.put(k, onEvents(`{"source": "last"}`))
			if got := w.heard(k); got != `{"topics":["default.last"]}` {
				t.Errorf("after another put, the entry is %q", got)
			}
		})
	}
}
