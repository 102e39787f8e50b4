package natsmsg

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/pool"
)

// link is a connection and what belongs to it.
type link struct {
	nc    *nats.Conn // nil: not open yet
	js    jetstream.JetStream
	watch *watch

	connect func(context.Context, *watch) (*nats.Conn, error) // of a job's own servers
	stop    func() bool                                       // takes the connection from under the pool's context
}

var _ pool.Conn = (*link)(nil)

// ownLink returns a link over the scheduler's own connection.
func ownLink(nc *nats.Conn) *link {
	l := &link{watch: newWatch(nc.Opts.InboxPrefix)}
	l.watch.attach(nc)
	l.use(nc)
	return l
}

// linkTo returns a link to a job's own servers, not open yet.
func (c *Client) linkTo(who login) *link {
	return &link{watch: newWatch(""), connect: func(ctx context.Context, w *watch) (*nats.Conn, error) { return c.connect(ctx, who, w) }}
}

func (l *link) use(nc *nats.Conn) {
	l.nc = nc
	l.js, _ = jetstream.New(nc) // fails on options only
}

// connectTimeout bounds the opening of a connection, all its servers together.
const connectTimeout = 10 * time.Second

// Open implements [pool.Conn]. Attempts under way fail when ctx ends.
func (l *link) Open(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	nc, err := l.connect(opening, l.watch)
	l.connect = nil // it knows secrets
	if err != nil {
		return err
	}
	l.use(nc)
	l.stop = context.AfterFunc(ctx, nc.Close)
	return nil
}

// Usable implements [pool.Conn].
func (l *link) Usable() bool { return !l.nc.IsClosed() }

// Close implements [pool.Conn].
func (l *link) Close() {
	if l.nc != nil {
		l.stop()
		l.nc.Close()
	}
}
