package store_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// TestLanesAreFoundAgain deletes the settings bucket: the number of lanes is that of the existing streams, so every
// baton stays in its lane.
func TestLanesAreFoundAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		cfg := store.Config{Storage: jetstream.MemoryStorage, Prefix: "other", Lanes: 3}
		st := must.Get(store.Open(t.Context(), w.nc, cfg))(t)
		for _, cfg.Lanes = range []int{0, 3} {
			w.must(w.js.DeleteKeyValue(t.Context(), "other-settings"))
			again := must.Get(store.Open(t.Context(), w.nc, cfg))(t)
			k := scheduler.Key{Collection: "c", Job: "job"}
			if again.Lanes() != 3 || again.Lane(k) != st.Lane(k) {
				t.Errorf("%d lanes", again.Lanes())
			}
		}
		w.must(w.js.DeleteKeyValue(t.Context(), "other-settings"))
		cfg.Lanes = 2
		if _, err := store.Open(t.Context(), w.nc, cfg); err == nil {
			t.Error("another number of lanes is taken")
		}
	})
}
