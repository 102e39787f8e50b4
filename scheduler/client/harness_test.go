package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store/embedded"
)

// patience bounds every wait of a test that something happens.
const patience = 30 * time.Second

// harness is a scheduler on a NATS server of its own, with a target.
type harness struct {
	server *embedded.Server
	api    string // URL of the REST API
	target string // URL that answers with what it was sent
	nc     *nats.Conn
}

// newHarness starts one. stop ends it.
func newHarness(ctx context.Context) (w *harness, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "carillon-client-*")
	if err != nil {
		return nil, nil, err
	}
	w = &harness{}
	if w.server, err = embedded.Start(ctx, embedded.Config{Dir: dir, Addr: "127.0.0.1:0"}); err != nil {
		return nil, nil, err
	}
	if w.nc, err = nats.Connect(w.server.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(time.Millisecond)); err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	w.api = "http://" + l.Addr().String()
	w.target = w.api + "/echo"
	end, err := w.run(ctx, l)
	if err == nil {
		err = w.awaitService(ctx)
	}
	return w, func() error {
		err := end()
		w.nc.Close()
		w.server.Close()
		return errors.Join(err, os.RemoveAll(dir))
	}, err
}

// awaitService waits until the micro service has its last endpoint.
func (w *harness) awaitService(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		_, err := w.nc.RequestWithContext(ctx, "carillon.api.secret-delete.a.name.with.dots", nil)
		if !errors.Is(err, nats.ErrNoResponders) {
			return err
		}
	}
}

// run runs a scheduler until stop.
func (w *harness) run(ctx context.Context, l net.Listener) (stop func() error, err error) {
	nc, err := w.server.Connect()
	if err != nil {
		return nil, err
	}
	key, err := seal.NewKey("k1")
	if err != nil {
		return nil, err
	}
	n, err := node.Open(ctx, node.Config{Conn: nc, Listener: l, Keys: seal.NewKeyring(key), Handlers: map[string]http.Handler{"/echo": echo.Handler()}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Run(ctx, func() error { close(ready); return nil }) }()
	select {
	case <-ready:
	case err := <-ended:
		cancel()
		return nil, err
	}
	return func() error {
		cancel()
		err := <-ended
		node.CloseConn(nc)
		return err
	}, nil
}

// start runs a harness until the test ends.
func start(t *testing.T) *harness {
	t.Helper()
	w, stop, err := newHarness(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// each runs a test over either transport.
func (w *harness) each(t *testing.T, f func(t *testing.T, c *client.Client, prefix string)) {
	t.Helper()
	rest := must.Get(client.NewREST(client.RESTConfig{URL: w.api}))(t)
	t.Run("REST", func(t *testing.T) { f(t, rest, "rest") })
	t.Run("NATS", func(t *testing.T) { f(t, client.NewNATS(client.NATSConfig{Conn: w.nc}), "nats") })
}
