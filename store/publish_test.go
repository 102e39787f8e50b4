package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestPublishAcrossRestart restarts the server during writes: acknowledged records are in the history, and the others
// are reported as in doubt.
func TestPublishAcrossRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *harness) {
		dir := t.TempDir()
		persistent := func(o *server.Options) { o.StoreDir = dir }
		r := &relay{}
		old := storetest.Server(t, persistent)
		r.to.Store(old)
		nc := connect(t, r, nats.MaxReconnects(-1))
		s := must.Get(store.Open(t.Context(), nc, store.Config{}))(t)

		var all sync.WaitGroup
		var mu sync.Mutex
		acked, doubtful := map[string]bool{}, 0
		until := time.Now().Add(20 * time.Second)
		for i := range 20 {
			all.Go(func() {
				for n := 0; time.Now().Before(until); n++ {
					k := scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d-%d", i, n)}
					err := s.Append(t.Context(), &scheduler.Record{Job: k, Outcome: scheduler.OutcomeCompleted, Nominal: time.Now()})
					mu.Lock()
					if acked[k.Job] = err == nil; err != nil {
						delete(acked, k.Job)
						doubtful++
					}
					mu.Unlock()
					if err != nil && !errors.Is(err, scheduler.ErrUnavailable) {
						t.Errorf("%s: %v", k, err)
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		time.Sleep(5*time.Second + time.Millisecond/2)
		old.Shutdown()
		old.WaitForShutdown()
		r.to.Store(storetest.Server(t, persistent))
		all.Wait()

		js := must.Get(jetstream.New(nc))(t)
		history := must.Get(js.Stream(t.Context(), "CARILLON_HISTORY"))(t)
		info := must.Get(history.Info(t.Context(), jetstream.WithSubjectFilter("carillon.history.>")))(t)
		there := map[string]bool{}
		for subject := range info.State.Subjects {
			there[strings.Split(subject, ".")[3]] = true
		}
		for name := range acked {
			if !there[name] {
				t.Errorf("the record of %s was acknowledged, and is missing", name)
			}
		}
		if len(acked) < 20*100 || len(there) > len(acked)+doubtful {
			t.Errorf("%d were acknowledged, %d are in doubt, %d are there", len(acked), doubtful, len(there))
		}
	})
}
