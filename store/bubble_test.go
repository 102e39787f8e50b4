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

	"github.com/carillon-sched/carillon/integration/testkit/must"
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
		w.js = must.Get(jetstream.New(storetest.Connect(t, w.server)))(t)
		f(t, w)
	})
}

// inBubbles runs f for each row, each in a bubble.
func inBubbles[T any](t *testing.T, rows map[string]T, f func(t *testing.T, w *harness, row T)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) { f(t, w, row) })
		})
	}
}

// open opens the store on a separate connection, like another process.
func (w *harness) open() (*nats.Conn, *store.Store) {
	w.t.Helper()
	nc := storetest.Connect(w.t, w.server)
	st := must.Get(open(w.t, nc, store.Config{HistoryAge: 2 * time.Hour, FinalAge: 3 * time.Hour}))(w.t)
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

// mustEnd fails the test unless a watch ends within d, with an error of the kind want.
func mustEnd(t *testing.T, ended <-chan error, d time.Duration, want error) {
	t.Helper()
	select {
	case err := <-ended:
		mustBe(t, "the watch", err, want)
	case <-time.After(d):
		t.Error("the watch goes on")
	}
}

// mustStop fails the test unless a listing ends with the first error of the function that it calls.
func mustStop(t *testing.T, list func(f func() error) error) {
	t.Helper()
	enough, n := errors.New("enough"), 0
	if err := list(func() error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("went on %d times after an error: %v", n, err)
	}
}

// messages returns the number of messages in a stream.
func (w *harness) messages(stream string) uint64 {
	w.t.Helper()
	return must.Get(w.js.Stream(w.t.Context(), stream))(w.t).CachedInfo().State.Msgs
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
