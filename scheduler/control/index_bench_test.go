package control_test

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// BenchmarkIndex starts a service among so many jobs: without a snapshot of its index, and with one.
func BenchmarkIndex(b *testing.B) {
	const jobs, writers = 200_000, 256
	nc := storetest.Connect(b, storetest.Server(b, func(o *server.Options) { o.StoreDir = b.TempDir() }))
	st := must.Get(store.Open(b.Context(), nc, store.Config{}))(b)
	start := func() *control.Service {
		return control.New(control.Config{Store: st, Actions: actions.New(web.New(web.Config{})), Logger: slog.New(slog.DiscardHandler)})
	}
	s := start()
	must.Do(b, s.EnsureDefault(b.Context()))
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < jobs; i += writers {
				_, _, err := s.Put(b.Context(), control.Edit{
					Key: scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%07d", i)},
					Body: fmt.Appendf(nil, `{"startTime": "2099-01-01T00:00:%02dZ", "recurrence": {"frequency": "Hour"}, "labels": {"team": "t%d"}, %s}`,
						i%60, i%100, callLater[len(`"startTime": "2099-01-01T00:00:00Z", `):]),
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	objects := must.Get(must.Get(jetstream.New(nc))(b).ObjectStore(b.Context(), "carillon-index"))(b)
	for _, name := range []string{"built", "loaded"} { // the end of the first one saves the snapshot
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if name == "built" {
					_ = objects.Delete(b.Context(), "jobs") // it may not be there
				}
				b.StartTimer()
				s := start()
				stop := storetest.Run(b, s.Run)
				for !s.Indexed() {
					time.Sleep(time.Millisecond)
				}
				b.StopTimer()
				stop()
				b.StartTimer()
			}
		})
	}
}
