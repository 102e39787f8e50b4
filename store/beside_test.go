package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestOpenBesideChangesNothing opens an existing store with different settings, and a missing one.
func TestOpenBesideChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		configs := func() map[string]jetstream.StreamConfig {
			all := map[string]jetstream.StreamConfig{}
			streams := w.js.ListStreams(t.Context())
			for info := range streams.Info() {
				all[info.Config.Name] = info.Config
			}
			w.must(streams.Err())
			return all
		}
		before := configs()
		cfg := store.Config{Lanes: 7, HistoryAge: time.Hour, HistoryPerJob: 3, ResultAge: time.Hour, AuditAge: time.Hour, EventAge: time.Hour, EventBytes: 1 << 20}
		for _, create := range []bool{false, true} {
			st := must.Get(store.OpenBeside(t.Context(), storetest.Connect(t, w.server), cfg, create))(t)
			if st.Lanes() != w.store.Lanes() {
				t.Errorf("it has %d lanes, want %d", st.Lanes(), w.store.Lanes())
			}
			if diff := cmp.Diff(before, configs()); diff != "" {
				t.Errorf("it has changed: %s", diff)
			}
		}
		cfg.Prefix = "absent"
		_, err := store.OpenBeside(t.Context(), storetest.Connect(t, w.server), cfg, false)
		mustBe(t, "one that is not there", err, scheduler.ErrNotFound)
		if diff := cmp.Diff(before, configs()); diff != "" {
			t.Errorf("it was made: %s", diff)
		}
		st := must.Get(store.OpenBeside(t.Context(), storetest.Connect(t, w.server), cfg, true))(t)
		if st.Lanes() != 7 || st.Prefix() != "absent" {
			t.Errorf("it was made with %d lanes and the prefix %s", st.Lanes(), st.Prefix())
		}
	})
}

// TestFindDetached finds batons of detached runs: a few, and so many that the server refuses a single request.
func TestFindDetached(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		find := func() (names []string, running int) {
			w.must(w.store.FindDetached(ctx, append([]scheduler.Key{job}, alike...), func(slot scheduler.BatonKey, st scheduler.Stored, runs bool) {
				if slot.Key != job || string(st.Data) != "d" || st.Revision == 0 {
					t.Errorf("found %v: %s", slot, st.Data)
				}
				names = append(names, slot.Detached)
				if runs {
					running++
				}
			}))
			slices.Sort(names)
			return names, running
		}
		w.must(w.store.ScheduleAt(ctx, own, []byte("own"), time.Now().Add(time.Hour), 0))
		w.must(w.store.ScheduleAt(ctx, beside("a"), []byte("d"), time.Now().Add(time.Hour), 0))
		w.must(w.store.Fire(ctx, beside("b"), []byte("d"), 0))
		if names, running := find(); !slices.Equal(names, []string{"a", "b"}) || running != 1 {
			t.Errorf("found %v, %d of them running", names, running)
		}
		for i := range 1100 {
			w.must(w.store.ScheduleAt(ctx, beside("x"+strconv.Itoa(i)), []byte("d"), time.Now().Add(time.Hour), 0))
		}
		if names, running := find(); len(names) != 2+1100 || running != 1 {
			t.Errorf("of very many, %d were found, %d of them running", len(names), running)
		}
		some, withRunning := 0, false
		w.must(w.store.SomeDetached(ctx, job, func(_ scheduler.BatonKey, _ scheduler.Stored, runs bool) {
			some, withRunning = some+1, withRunning || runs
		}))
		if some < 1000 || some > 1024 || !withRunning {
			t.Errorf("of very many, %d were found, the running one among them: %t", some, withRunning)
		}
		var slots []string
		w.must(w.store.FindSlots(ctx, []scheduler.BatonKey{beside("b"), beside("x7"), beside("none"), own}, func(slot scheduler.BatonKey, st scheduler.Stored, runs bool) {
			slots = append(slots, slot.Detached+" "+string(st.Data)+" "+strconv.FormatBool(runs))
		}))
		slices.Sort(slots)
		if want := []string{" own false", "b d true", "x7 d false"}; !slices.Equal(slots, want) {
			t.Errorf("the slots have %q, want %q", slots, want)
		}
		w.must(w.store.Clear(ctx, job, nil))
		if names, _ := find(); len(names) != 0 {
			t.Errorf("of very many, %d are left", len(names))
		}
	})
}
