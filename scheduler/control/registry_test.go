package control_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
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

// TestAuditRegistry checks that a consistency check registers the trigger of a job without an entry, and removes the
// entry of a job that does not exist.
func TestAuditRegistry(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		ctx := t.Context()
		kept, lost := scheduler.Key{Collection: "default", Job: "kept"}, scheduler.Key{Collection: "default", Job: "lost"}
		gone, young := scheduler.Key{Collection: "default", Job: "gone"}, scheduler.Key{Collection: "default", Job: "young"}
		w.put(kept, onEvents(`{"source": "orders"}`))
		w.put(lost, onEvents(`{"source": "orders"}`))
		w.put(scheduler.Key{Collection: "default", Job: "plain"}, later)
		entries := w.store.Listeners()
		st := must.Get(entries.Load(ctx, "default.lost"))(t)
		must.Do(t, entries.Remove(ctx, "default.lost", st.Revision))
		must.Get(entries.Save(ctx, "default.gone", st.Data, 0))(t)
		storetest.Run(t, w.service.Run)
		time.Sleep(2 * time.Minute)
		must.Get(entries.Save(ctx, "default.young", st.Data, 0))(t)
		for _, fix := range []bool{false, true} {
			report := must.Get(w.service.Audit(ctx, fix))(t)
			if len(report.Findings) != 1 || report.Findings[0].Job != lost || report.Findings[0].Fixed != fix {
				t.Errorf("with fix %t, the check found %+v", fix, report.Findings)
			}
		}
		for k, want := range map[scheduler.Key]bool{kept: true, lost: true, gone: false, young: true} {
			if got := w.heard(k) != ""; got != want {
				t.Errorf("%s has an entry: %t", k, got)
			}
		}
	})
}

// TestDetachedOnEvents checks that the runs of events show these, and that of very many not all are read.
func TestDetachedOnEvents(t *testing.T) {
	w := newHarness(t)
	k, ctx := scheduler.Key{Collection: "default", Job: "job"}, t.Context()
	w.put(k, onEvents(`{"source": "orders", "key": "event.data.id"}`))
	from, uid := time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC), w.incarnation(k)
	const runs = 1100
	for n := range runs {
		b := scheduler.Baton{
			Kind: scheduler.Triggered, UID: uid, Revision: 1, Schedule: 1, Keyed: true, Nominal: from.Add(time.Duration(n) * time.Second),
			Cause: &scheduler.Cause{Event: "default.orders", Sequence: uint64(n + 1), Count: 1, Key: strconv.Itoa(n)},
		}
		b.Due = b.Nominal
		slot := scheduler.BatonKey{Key: k, Detached: scheduler.KeySlot(b.Cause.Key)}
		must.Do(t, w.store.ScheduleAt(ctx, slot, b.Encode(), b.Due, 0))
	}
	all := must.Get(w.service.DetachedRuns(ctx, k))(t)
	if len(all) != 256 || all[0].Cause != "the event default.orders (sequence 1), key 0" {
		t.Errorf("%d runs, the first: %+v", len(all), all[0])
	}
	a := must.Get(w.service.Why(ctx, k, from.Format(time.RFC3339)))(t)
	if a.Code != explain.Planned || !slices.Contains(a.Notes, "started by the event default.orders (sequence 1), key 0") {
		t.Errorf("why: %+v", a)
	}
}
