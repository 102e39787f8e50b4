// Package nodetest runs a scheduler with a target in the process of a test, as `carillon dev` does.
package nodetest

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store/embedded"
)

// Scheduler is a running scheduler.
type Scheduler struct {
	Node *node.Node
	Conn *nats.Conn   // its own
	NATS string       // where its dedicated server is
	API  string       // where its REST API is; its target is at /echo
	Stop func() error // stops it, waits for its end and returns its error, which is the test's otherwise
}

// Start runs a scheduler with a dedicated server as [Run] does, with a connection to it.
func Start(tb testing.TB, cfg node.Config, ready func() error) *Scheduler {
	tb.Helper()
	s, err := embedded.Start(tb.Context(), embedded.Config{Dir: tb.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	if cfg.Conn, err = s.Connect(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { node.CloseConn(cfg.Conn) })
	running := Run(tb, cfg, ready)
	running.NATS = s.URL()
	return running
}

// Run runs a scheduler on the connection in cfg until the test ends. It sets the listener and the target in cfg. It
// calls ready, if not nil, once the scheduler is ready; an error of ready ends the scheduler.
func Run(tb testing.TB, cfg node.Config, ready func() error) *Scheduler {
	tb.Helper()
	var err error
	if cfg.Listener, err = new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	cfg.Handlers = map[string]http.Handler{"/echo": echo.Handler()}
	n, err := node.Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- n.Run(ctx, func() error {
			close(begun)
			if ready == nil {
				return nil
			}
			return ready()
		})
	}()
	<-begun
	asked := false
	stop := func() error {
		asked = true
		cancel()
		err := <-ended
		ended <- err
		return err
	}
	tb.Cleanup(func() {
		known := asked
		if err := stop(); err != nil && !known {
			tb.Error(err)
		}
	})
	return &Scheduler{Node: n, Conn: cfg.Conn, API: "http://" + cfg.Listener.Addr().String(), Stop: stop}
}

// Put puts a job into the default collection.
func (s *Scheduler) Put(tb testing.TB, job, body string) {
	tb.Helper()
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: job}
	if _, _, err := s.Node.Service().Put(tb.Context(), control.Edit{Key: k, Body: []byte(body)}); err != nil {
		tb.Fatalf("%s: %v", job, err)
	}
}
