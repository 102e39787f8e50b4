package specs_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/specs"
	"github.com/carillon-sched/carillon/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestResultsTogether: concurrent spec results are each stored once, with a fraction of the acknowledgements.
func TestResultsTogether(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Second) }) // last: the server's file writers end shortly after the server
		nc := storetest.Connect(t, storetest.Server(t, func(o *server.Options) { o.SyncAlways = true }))
		c := must.Get(conn.New(nc, conn.Config{SyncAlways: true}))(t)
		s := specs.New(c)
		must.Do(t, c.Open(t.Context()))
		must.Do(t, s.Open(t.Context()))
		const callers, each = 200, 10
		before := nc.Stats().InMsgs
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for n := range each {
					if err := s.PublishResult(t.Context(), "accepted", fmt.Sprintf("c.j%d", i*each+n), []byte("{}")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if heard := nc.Stats().InMsgs - before; heard > callers*each/2 {
			t.Errorf("%d acknowledgements for %d results", heard, callers*each)
		}
		results := must.Get(c.JS.Stream(t.Context(), "CARILLON_SPEC_RESULTS"))(t)
		info := must.Get(results.Info(t.Context(), jetstream.WithSubjectFilter("carillon.spec-result.accepted.>")))(t)
		if n, of := info.State.Msgs, len(info.State.Subjects); n != callers*each || of != callers*each {
			t.Errorf("%d results of %d specs are stored, want %d", n, of, callers*each)
		}
	})
}
