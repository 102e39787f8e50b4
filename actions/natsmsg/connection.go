package natsmsg

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/pool"
)

// Limits of connecting to one server, within connectTimeout.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
	writeTimeout     = 5 * time.Second
)

// connect opens a connection to a job's own servers. It never reconnects, so nothing runs in the background
// after an attempt; the next attempt opens a new connection.
func (c *Client) connect(ctx context.Context, who login, w *watch) (*nats.Conn, error) {
	d := &dialer{ctx: ctx, dialer: c.guard.Dialer(dialTimeout), guard: c.guard, servers: who.servers, roots: c.roots, hostile: w.hostile}
	o := nats.GetDefaultOptions()
	o.Name = "carillon"
	o.AllowReconnect = false
	o.NoRandomize = true             // the first server is the job's first choice
	o.IgnoreDiscoveredServers = true // they are not the job's choice
	o.SkipHostLookup = true          // the dialer resolves the names that it checks
	o.CustomDialer = d
	o.Timeout = handshakeTimeout
	o.FlusherTimeout = writeTimeout
	o.AsyncErrorCB = w.failed
	o.DisconnectedErrCB = w.lost
	if err := who.apply(&o); err != nil {
		return nil, err
	}
	o.Servers = nil
	for _, server := range who.servers {
		o.Servers = append(o.Servers, withoutTLS.Replace(server))
	}
	nc, err := o.Connect()
	d.end()
	if err != nil {
		return nil, d.explain(err)
	}
	return nc, nil
}

// dialer dials for one connection under its context.
type dialer struct {
	ctx    context.Context //nolint:containedctx // nats.CustomDialer has no other way
	dialer *net.Dialer
	guard  *egress.Guard
	conns  []func() bool

	servers []string       // the job's, with their schemes
	roots   *x509.CertPool // see [Config]
	hostile func(error)    // receives protocol violations of the server

	refused error // a server's address, by the guard; nil: none
	failed  error // to connect to another server, lately; nil: none has
	reached bool  // a server, or one would have been
}

// Dial implements [nats.CustomDialer]. A connection that is still shaking
// hands when the context ends is closed.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := d.guard.DialContext(d.dialer)(d.ctx, network, address)
	if refused, ok := errors.AsType[*egress.RefusedError](err); ok {
		d.refused = refused
		return nil, err
	}
	d.reached = true
	if err != nil {
		d.failed = err
		return nil, err
	}
	d.conns = append(d.conns, context.AfterFunc(d.ctx, func() { _ = conn.Close() }))
	return d.socket(conn, address), nil
}

// SkipTLSHandshake reports that the connections do the TLS handshake themselves.
func (*dialer) SkipTLSHandshake() bool { return true }

// socket returns the connection to the server at an address.
func (d *dialer) socket(conn net.Conn, address string) net.Conn {
	host, _, _ := net.SplitHostPort(address)
	s := &socket{
		Conn: conn, ctx: d.ctx, inspect: &inspector{}, refused: d.hostile,
		config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.roots, ServerName: host},
	}
	for _, server := range d.servers {
		scheme, at, _ := strings.Cut(server, "://")
		if at != address {
			continue
		}
		switch scheme {
		case "tls":
			s.secure = true
		case "wss":
			s.upgrade = true
			fallthrough
		case "ws":
			s.web, s.inspect = true, &frames{}
		}
	}
	return s
}

// withoutTLS replaces the schemes of servers: the client must not add TLS to a [socket].
var withoutTLS = strings.NewReplacer("tls://", "nats://", "wss://", "ws://")

// end takes the connections from under the context.
func (d *dialer) end() {
	for _, stop := range d.conns {
		stop()
	}
}

// explain returns why no server could be used: the error of the last one. A refusal by the guard counts only if
// it is the single server, because a retry may reach another. The client itself hides refused connections.
func (d *dialer) explain(err error) error {
	isRefusal := egress.IsRefused(err)
	switch {
	case d.refused != nil && !d.reached:
		return d.refused
	case d.ctx.Err() != nil:
		return fmt.Errorf("no connection within %v", connectTimeout)
	case d.failed != nil && (isRefusal || errors.Is(err, nats.ErrNoServers)):
		return d.failed
	case isRefusal:
		return errors.New("the other servers cannot be used, and " + err.Error())
	}
	return err
}

// connection is a connection to NATS with its state.
type connection struct {
	nc    *nats.Conn // nil: not open yet
	js    jetstream.JetStream
	watch *watch

	connect func(context.Context, *watch) (*nats.Conn, error) // of a job's own servers
	stop    func() bool                                       // takes the connection from under the pool's context
}

var _ pool.Conn = (*connection)(nil)

// ownConnection returns the state of the scheduler's own connection.
func ownConnection(nc *nats.Conn) *connection {
	conn := &connection{watch: newWatch(nc.Opts.InboxPrefix)}
	conn.watch.attach(nc)
	conn.use(nc)
	return conn
}

func (conn *connection) use(nc *nats.Conn) {
	conn.nc = nc
	conn.js, _ = jetstream.New(nc) // fails on options only
}

// connectTimeout bounds the opening of a connection, all its servers together.
const connectTimeout = 10 * time.Second

// Open implements [pool.Conn]. Attempts under way fail when ctx ends.
func (conn *connection) Open(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	nc, err := conn.connect(opening, conn.watch)
	conn.connect = nil // it knows secrets
	if err != nil {
		return err
	}
	conn.use(nc)
	conn.stop = context.AfterFunc(ctx, nc.Close)
	return nil
}

// Usable implements [pool.Conn].
func (conn *connection) Usable() bool { return !conn.nc.IsClosed() }

// Close implements [pool.Conn].
func (conn *connection) Close() {
	if conn.nc != nil {
		conn.stop()
		conn.nc.Close()
	}
}
