// Package storetest runs a NATS server in the process of a test, optionally on fake time. All tests that need a real
// store use it.
package storetest

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// patience is the timeout of every wait.
const patience = time.Minute

// Main is the TestMain of packages with servers in synctest bubbles. It starts the server's access-time ticker outside
// every bubble: a goroutine that waits on it inside a bubble would stop fake time.
func Main(m *testing.M) {
	ats.Register()
	os.Exit(m.Run()) //nolint:revive // of TestMain
}

// Test runs f on fake time.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	stale.Store(true) // also after tests without bubbles, whose timers follow the real clock
	DropTimers()
	defer stale.Store(true)
	bubble.Test(t, f)
}

// stale reports whether the timer pool of the NATS client may hold timers of a bubble.
var stale atomic.Bool

// DropTimers empties the process-wide timer pool of the NATS client, because a timer of one bubble must not be used
// outside it. A sync.Pool is empty after two collections.
func DropTimers() {
	if stale.Swap(false) {
		runtime.GC() //nolint:revive // see above
		runtime.GC() //nolint:revive // see above
	}
}

// Server starts a server with JetStream and without sockets. It ends with the test. change functions set further
// options; nil ones are ignored.
func Server(tb testing.TB, change ...func(*server.Options)) *server.Server {
	tb.Helper()
	DropTimers()
	options := &server.Options{DontListen: true, JetStream: true, NoLog: true, NoSigs: true}
	for _, f := range change {
		if f != nil {
			f(options)
		}
	}
	if options.StoreDir == "" {
		options.StoreDir = tb.TempDir()
	}
	s, err := server.NewServer(options)
	if err != nil {
		tb.Fatal(err)
	}
	s.Start()
	tb.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		tb.Fatal("the NATS server does not start")
	}
	return s
}

// Connect connects to a server and waits until JetStream answers, shortly after the server is ready. The connection
// ends with the test.
func Connect(tb testing.TB, s *server.Server, options ...nats.Option) *nats.Conn {
	tb.Helper()
	nc, err := nats.Connect("", append(options, nats.InProcessServer(s))...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		tb.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err = js.AccountInfo(tb.Context()); err == nil {
			return nc
		}
		if time.Now().After(end) {
			tb.Fatal(err)
		}
	}
}

// Run runs a component until the test ends or stop is called. stop waits for its end, and fails the test if it returns an error.
// Calling stop again does nothing.
func Run(tb testing.TB, run func(context.Context) error) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(stop)
	return stop
}

// Logger returns a logger that writes to the test's log.
func Logger(tb testing.TB) *slog.Logger {
	tb.Helper()
	return slog.New(slog.NewTextHandler(tb.Output(), nil))
}
