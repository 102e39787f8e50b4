// Package clustertest starts NATS clusters within the process of a test.
package clustertest

import (
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
)

// patience is the maximum start time of a server on a busy machine.
const patience = 30 * time.Second

// Options returns the options of a cluster of three servers, each with its own route port and directory. It skips the
// test in -short mode, because an election takes seconds.
func Options(t *testing.T) []*server.Options {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster takes seconds to choose who leads it; run it without -short")
	}
	var (
		options []*server.Options
		routes  []*url.URL
	)
	for i := range 3 {
		port := freeport.Pick(t)
		routes = append(routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))})
		options = append(options, &server.Options{
			ServerName: "n" + strconv.Itoa(i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(), Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port},
		})
	}
	for _, o := range options {
		o.Routes = routes
	}
	return options
}

// Begin starts a server without waiting until it is ready. The server ends with the test. It may store as much as the
// streams of a test reserve: the server's default is three quarters of the free space of the disk.
func Begin(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.JetStreamMaxStore = 1 << 50
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// Ready waits until clients can connect to a server.
func Ready(t *testing.T, s *server.Server) {
	t.Helper()
	if !s.ReadyForConnections(patience) {
		t.Fatal("a server does not get ready")
	}
}
