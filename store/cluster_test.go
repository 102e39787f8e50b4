package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/embedded/clustertest"
	"github.com/carillon-sched/carillon/store/storetest"
)

// patience is the timeout for background changes on a busy machine.
const patience = 30 * time.Second

// startCluster starts a NATS cluster of three servers in this process.
func startCluster(t *testing.T) (servers []*server.Server) {
	t.Helper()
	for _, o := range clustertest.Options(t) {
		servers = append(servers, clustertest.Begin(t, o))
	}
	for _, s := range servers {
		clustertest.Ready(t, s)
	}
	return servers
}

// openReplicated opens the store on a server of a cluster, once that is possible.
func openReplicated(t *testing.T, s *server.Server) (*store.Store, *nats.Conn) {
	t.Helper()
	nc := must.Get(nats.Connect(s.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond)))(t)
	t.Cleanup(nc.Close)
	return openPatiently(t, nc, store.Config{Replicas: 3}), nc
}

// openPatiently opens a store like a process does: it retries while the error is transient.
func openPatiently(t *testing.T, nc *nats.Conn, cfg store.Config) *store.Store {
	t.Helper()
	tick := time.Tick(100 * time.Millisecond)
	for deadline := time.Now().Add(2 * patience); ; <-tick {
		ctx, cancel := context.WithTimeout(t.Context(), patience/3) // a forming cluster does not answer some requests
		st, err := store.Open(ctx, nc, cfg)
		cancel()
		if err == nil {
			return st
		}
		if !conn.IsTransient(err) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestNoStaleDefinitionInCluster edits a job repeatedly while leaders change and a server fails. Another process
// eventually has the latest edit.
func TestNoStaleDefinitionInCluster(t *testing.T) {
	t.Parallel()
	storetest.DropTimers() // timers left by bubbles
	servers := startCluster(t)
	writer, nc := openReplicated(t, servers[0])
	reader, _ := openReplicated(t, servers[1])
	js := must.Get(jetstream.New(nc))(t)
	mirror := jobcache.New(jobcache.Config[scheduler.Key, scheduler.Stored]{
		Watch: func(ctx context.Context, ready func(), changed func(scheduler.Key, uint64, []byte)) error {
			return reader.WatchJobs(ctx, ready, func(k scheduler.Key, revision uint64) { changed(k, revision, nil) })
		},
		Load: reader.LoadJob, Revision: func(st scheduler.Stored) uint64 { return st.Revision },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); mirror.Run(ctx, func(error) {}) }()
	defer func() { stop(); <-ended }()

	var last uint64
	tick := time.Tick(20 * time.Millisecond)
	write := func() {
		t.Helper()
		for deadline := time.Now().Add(patience); ; <-tick {
			revision, err := writer.SaveJob(t.Context(), job, []byte("{}"), last, false)
			if err == nil {
				last = revision
				return
			}
			if st, lerr := writer.LoadJob(t.Context(), job); lerr == nil { // it may have been stored without a response
				last = max(last, st.Revision)
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	known := func(when string) {
		t.Helper()
		began := time.Now()
		for ; ; <-tick {
			st, err := mirror.Current(t.Context(), job, 0)
			if err == nil && st.Revision >= last {
				return
			}
			if time.Since(began) > patience {
				t.Fatalf("%s: it is at revision %d, %v, and not at %d", when, st.Revision, err, last)
			}
		}
	}
	for i := range 10 {
		write()
		if i%2 == 0 {
			known("before the leader steps down")
		}
		// With a context, because the client's other requests share timers with the bubbles of other tests.
		stepping, stop := context.WithTimeout(t.Context(), patience)
		_, err := nc.RequestWithContext(stepping, "$JS.API.STREAM.LEADER.STEPDOWN.KV_carillon-jobs", nil)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		write()
		known("after it stepped down")
	}
	servers[2].Shutdown() // possibly the stream's leader
	write()
	known("with a server less")
	if st, err := js.Stream(t.Context(), "KV_carillon-jobs"); err != nil || st.CachedInfo().Config.RePublish == nil {
		t.Errorf("the changes are not told: %v", err)
	}
}
