package conn

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// startServer starts a NATS server for the test. change sets its options (nil: none). It returns a function that
// connects.
func startServer(tb testing.TB, change func(*server.Options)) (connect func() *nats.Conn) {
	tb.Helper()
	options := &server.Options{DontListen: true, NoLog: true, NoSigs: true}
	if change != nil {
		change(options)
	}
	srv := must.Get(server.NewServer(options))(tb)
	srv.Start()
	tb.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	return func() *nats.Conn {
		tb.Helper()
		nc := must.Get(nats.Connect("", nats.InProcessServer(srv)))(tb)
		tb.Cleanup(nc.Close)
		return nc
	}
}
