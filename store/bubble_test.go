package store_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// harness is a store on a real server, on fake time.
type harness struct {
	t      *testing.T
	server *server.Server
	nc     *nats.Conn // of the store
	store  *store.Store
	js     jetstream.JetStream // of another connection: the server's content
}

// inBubble runs f on fake time, with a store that retains history for 2 h and final jobs for 3 h.
func inBubble(t *testing.T, f func(t *testing.T, w *harness)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) {
		w := &harness{t: t, server: storetest.Server(t)}
		w.nc, w.store = w.open()
		js, err := jetstream.New(storetest.Connect(t, w.server))
		if err != nil {
			t.Fatal(err)
		}
		w.js = js
		f(t, w)
	})
}

// open opens the store on a separate connection, like another process.
func (w *harness) open() (*nats.Conn, *store.Store) {
	w.t.Helper()
	nc := storetest.Connect(w.t, w.server)
	st, err := open(w.t, nc, store.Config{HistoryAge: 2 * time.Hour, FinalAge: 3 * time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	return nc, st
}

// must fails the test on an error that is not under test.
func (w *harness) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// mustBe fails the test unless err is exactly of the kind want; nil wants no error.
func mustBe(t *testing.T, what string, err, want error) {
	t.Helper()
	if want == nil && err != nil {
		t.Errorf("%s: %v", what, err)
	}
	for _, kind := range []error{scheduler.ErrConflict, scheduler.ErrNotFound, scheduler.ErrUnavailable} {
		if got := errors.Is(err, kind); got != errors.Is(want, kind) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
}

// messages returns the number of messages in a stream.
func (w *harness) messages(stream string) uint64 {
	w.t.Helper()
	st, err := w.js.Stream(w.t.Context(), stream)
	w.must(err)
	return st.CachedInfo().State.Msgs
}

// running reports whether a goroutine of this process runs a function.
func running(function string) bool {
	buf := make([]byte, 1<<20)
	return strings.Contains(string(buf[:runtime.Stack(buf, true)]), function)
}

// job is the job under test; alike are jobs with similar names.
var (
	job   = scheduler.Key{Collection: "c", Job: "job"}
	alike = []scheduler.Key{{Collection: "c", Job: "job2"}, {Collection: "c", Job: "jo"}, {Collection: "c2", Job: "job"}}
	own   = scheduler.BatonKey{Key: job}
)

// beside returns the slot of a detached run of the job.
func beside(name string) scheduler.BatonKey { return scheduler.BatonKey{Key: job, Detached: name} }
