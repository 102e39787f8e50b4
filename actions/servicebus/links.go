package servicebus

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/pool"
)

// account identifies a connection.
type account struct {
	place   place
	keyName string
	key     string
}

// destination identifies a link: a queue or topic, and a key.
type destination struct {
	account

	entity string
}

// links are the links of a client, and the connections below them.
type links struct {
	config Config
	times  times
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	pool   *pool.Pool[destination, *link]

	// ctx is what connections go by: not an attempt, as they outlive it.
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	connections map[account]*connection // what links may be opened on
}

func newLinks(config Config, times times) *links {
	ls := &links{
		config: config,
		times:  times,
		dial:   config.Guard.DialContext(config.Guard.Dialer(egress.DialTimeout)),
		pool: pool.New[destination, *link](pool.Config{
			Max:         config.MaxLinks,
			IdleTimeout: config.IdleAfter,
			RenewAfter:  times.renew,
			MaxAge:      times.most,
			Final:       func(err error) bool { return judge(err).Final },
		}),
		connections: make(map[account]*connection),
	}
	ls.ctx, ls.cancel = context.WithCancelCause(context.Background())
	return ls
}

// send sends m. It returns once the message is acknowledged or has failed, or soon after ctx is done.
//
// The reason with which the service closed a link can be outdated: a deleted queue may exist again. So send
// trusts an older link's error only after a new link reports the same one.
func (ls *links) send(ctx context.Context, to destination, m *azservicebus.AMQPAnnotatedMessage) error {
	start := time.Now()
	for again := true; ; again = false {
		lease, err := ls.acquire(ctx, to)
		if err != nil {
			return err
		}
		l := lease.Conn
		err = l.send(ctx, m, lease) // which releases it
		if err == nil || !again || l.made.After(start) || !judge(err).closed() {
			return err
		}
	}
}

// lease is one use of a link.
type lease = pool.Lease[destination, *link]

// acquire returns an open link to a destination, for the caller to release.
func (ls *links) acquire(ctx context.Context, to destination) (*lease, error) {
	lease, err := ls.pool.Get(ctx, to, func() (*link, error) { return ls.linkTo(to) })
	if wait, ok := errors.AsType[*pool.WaitError](err); ok {
		if wait.Full {
			return nil, &interruption{stage: "while all links were in use", waited: true}
		}
		return nil, &interruption{stage: "while connecting"}
	}
	return lease, err
}

// linkTo returns a link, not open yet, on the connection of its account.
func (ls *links) linkTo(to destination) (*link, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	c, ok := ls.connections[to.account]
	if !ok {
		var err error
		if c, err = newConnection(ls, to.account); err != nil {
			return nil, err
		}
		ls.connections[c.account] = c
	}
	c.links++
	return newLink(c, to), nil
}

// leave takes a link from its connection, and returns true for the last one.
func (ls *links) leave(c *connection) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	c.links--
	if c.links == 0 {
		ls.forget(c)
	}
	return c.links == 0
}

// forget takes c from later links.
func (ls *links) forget(c *connection) {
	if ls.connections[c.account] == c {
		delete(ls.connections, c.account)
	}
}

// drop takes c and its links from later attempts.
func (ls *links) drop(c *connection) {
	ls.mu.Lock()
	ls.forget(c)
	ls.mu.Unlock()
	ls.pool.Drop(func(l *link) bool { return l.connection == c })
}

// close drops all links and waits until they are closed.
func (ls *links) close() {
	ls.cancel(pool.ErrClosed)
	ls.pool.Close()
}
