package natsmsg

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/pool"
)

// connection is a connection to NATS and what belongs to it.
type connection struct {
	nc    *nats.Conn // nil: not open yet
	js    jetstream.JetStream
	watch *watch

	connect func(context.Context, *watch) (*nats.Conn, error) // of a job's own servers
	stop    func() bool                                       // takes the connection from under the pool's context
}

var _ pool.Conn = (*connection)(nil)

// ownConnection returns what belongs to the scheduler's own connection.
func ownConnection(nc *nats.Conn) *connection {
	conn := &connection{watch: newWatch(nc.Opts.InboxPrefix)}
	conn.watch.attach(nc)
	conn.use(nc)
	return conn
}

// connectionTo returns a connection to a job's own servers, not open yet.
func (c *Client) connectionTo(who login) *connection {
	return &connection{watch: newWatch(""), connect: func(ctx context.Context, w *watch) (*nats.Conn, error) {
		return c.connect(ctx, who, w)
	}}
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
