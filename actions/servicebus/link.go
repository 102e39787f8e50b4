package servicebus

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/pool"
)

// times are the times of links. Tests have shorter ones.
type times struct {
	// open limits how long opening a link takes, including dialing and authorization. Opening continues after the
	// attempt that started it has ended, because others wait for it.
	open time.Duration

	// renew is the age at which a link that is in use gets a successor, and most the age at which a link is dropped
	// in any case. The SDK renews a link's token when it is five minutes old; after a transient error of the service,
	// it retries without a pause, because its own retries, which would pause, are off. A new link has a new token.
	renew, most time.Duration

	// linger limits the time for which the SDK can block a call whose context has ended, while it waits for a lock of
	// another call. After that, the connection is cut, which ends all calls.
	linger time.Duration
}

var defaultTimes = times{open: 30 * time.Second, renew: 4 * time.Minute, most: 4*time.Minute + 30*time.Second, linger: 30 * time.Second}

// closeTimeout limits the wait for the service to confirm a close.
const closeTimeout = time.Second

// maxUnsettled limits the unacknowledged messages of a link. The service grants more than that; it bounds the
// goroutines.
const maxUnsettled = 512

// link is a sender of the SDK, opening or open.
//
// The SDK opens one link for each of the calls that come before there is one,
// so no call is made before the link is open.
type link struct {
	connection *connection
	to         destination
	made       time.Time
	slots      chan struct{} // has one element for each message under way
	sender     *azservicebus.Sender

	ctx    context.Context //nolint:containedctx // ends with the link; calls come from many attempts
	cancel context.CancelCauseFunc
}

var _ pool.Conn = (*link)(nil)

var errOpenTimeout = errors.New("no link within " + defaultTimes.open.String())

// Open implements [pool.Conn]. It uses the context of the link, which ends with its connection or the client.
func (l *link) Open(context.Context) error {
	return l.open() //nolint:contextcheck // see above
}

func (l *link) open() error {
	// A deadline would apply to single writes, and a missed one breaks the connection. A canceled context does not.
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	times := l.connection.owner.times
	defer time.AfterFunc(times.open, func() { cancel(errOpenTimeout) }).Stop()
	defer time.AfterFunc(times.open+times.linger, l.connection.cut).Stop()

	var err error
	if l.sender, err = l.connection.client.NewSender(l.to.entity, nil); err == nil {
		// To make a batch needs the link, for the limit of its size.
		_, err = l.sender.NewMessageBatch(ctx, nil)
	}
	if err == nil {
		return nil
	}
	err = l.connection.explain(err, false)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if classify(err).connection {
		l.connection.owner.drop(l.connection)
	}
	return err
}

// Usable implements [pool.Conn].
func (l *link) Usable() bool { return l.ctx.Err() == nil }

// send sends a message under a lease of the link, which it releases when the
// SDK has let go of it.
func (l *link) send(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage, lease *lease) error {
	select {
	case l.slots <- struct{}{}:
	case <-l.ctx.Done():
		lease.Release()
		return l.cause()
	case <-ctx.Done():
		lease.Release()
		return &interruption{stage: "while waiting for earlier messages"}
	}
	done, cancel := l.begin(m, lease) //nolint:contextcheck // a call that the SDK does not end in time outlives the attempt
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	cancel()
	select {
	case err := <-done:
		if err == nil {
			return nil
		}
	default:
		time.AfterFunc(l.connection.owner.times.linger, func() {
			if len(done) == 0 { // it still runs
				l.connection.cut()
			}
		})
	}
	return &interruption{stage: "while waiting for the acknowledgement; the message may have arrived"}
}

// begin starts to send a message, which holds a slot. The channel receives the outcome.
func (l *link) begin(m *azservicebus.AMQPAnnotatedMessage, lease *lease) (chan error, context.CancelFunc) {
	ctx, cancel := context.WithCancel(l.ctx) // without a deadline: see open
	done := make(chan error, 1)
	go func() {
		defer lease.Release()
		defer cancel()
		err := l.sender.SendAMQPAnnotatedMessage(ctx, m, nil)
		<-l.slots
		switch {
		case err == nil:
		case l.ctx.Err() != nil:
			err = l.cause()
		case ctx.Err() == nil: // it was not the attempt that ended
			err = l.broken(err, lease)
		}
		done <- err
	}()
	return done, cancel
}

// cause is why the link has ended.
func (l *link) cause() error { return context.Cause(l.ctx) }

// broken returns why a message was not sent, and drops the link if it is not
// the message's fault.
func (l *link) broken(err error, lease *lease) error {
	err = l.connection.explain(err, true)
	f := classify(err)
	if f.link {
		lease.Drop()
	}
	if f.link && f.Final {
		l.cancel(err) // the others need not find out by themselves, one after the other
	}
	return err
}

// Close implements [pool.Conn]. It closes the connection if that has no other
// link.
func (l *link) Close() {
	l.cancel(pool.ErrClosed)
	if l.connection.owner.leave(l.connection) {
		l.connection.close()
		return
	}
	if l.sender == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), closeTimeout)
	defer cancel()
	defer time.AfterFunc(2*closeTimeout, l.connection.cut).Stop()
	_ = l.sender.Close(ctx) // closed regardless of the error
}

// account identifies a connection.
type account struct {
	place   place
	keyName string
	key     string
}

// connectionString returns the account in the form that the SDK reads.
func (a account) connectionString() string {
	text := "Endpoint=sb://" + a.place.authority() + ";SharedAccessKeyName=" + a.keyName + ";SharedAccessKey=" + a.key
	if a.place.plain {
		text += ";UseDevelopmentEmulator=true"
	}
	return text
}

// destination identifies a link: a queue or topic, and a key.
type destination struct {
	account

	entity string
}

// send sends m. It returns once the message is acknowledged or has failed, or soon after ctx is done.
//
// The reason for which the service closed a link can be outdated: a deleted queue may exist again. So send trusts an
// older link's error only after a new link reports the same one.
func (c *Client) send(ctx context.Context, to destination, m *azservicebus.AMQPAnnotatedMessage) error {
	start := time.Now()
	for again := true; ; again = false {
		lease, err := c.acquire(ctx, to)
		if err != nil {
			return err
		}
		l := lease.Conn
		err = l.send(ctx, m, lease) // which releases it
		if err == nil || !again || l.made.After(start) || !classify(err).closed() {
			return err
		}
	}
}

// lease is one use of a link.
type lease = pool.Lease[destination, *link]

// acquire returns an open link to a destination, for the caller to release.
func (c *Client) acquire(ctx context.Context, to destination) (*lease, error) {
	lease, err := c.pool.Get(ctx, to, func() (*link, error) { return c.linkTo(to) })
	if wait, ok := errors.AsType[*pool.WaitError](err); ok {
		if wait.Full {
			return nil, &interruption{stage: "while all links were in use", waited: true}
		}
		return nil, &interruption{stage: "while connecting"}
	}
	return lease, err
}

// linkTo returns a link, not open yet, on the connection of its account.
func (c *Client) linkTo(to destination) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on, ok := c.connections[to.account]
	if !ok {
		var err error
		if on, err = newConnection(c, to.account, azservicebus.RetryOptions{MaxRetries: -1}); err != nil {
			return nil, err
		}
		c.connections[to.account] = on
	}
	on.links++
	l := &link{connection: on, to: to, made: time.Now(), slots: make(chan struct{}, maxUnsettled)}
	l.ctx, l.cancel = context.WithCancelCause(on.ctx)
	return l, nil
}

// leave takes a link from its connection, and returns true for the last one.
func (c *Client) leave(on *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	on.links--
	if on.links == 0 {
		c.forget(on)
	}
	return on.links == 0
}

// forget takes a connection from later links.
func (c *Client) forget(on *connection) {
	if c.connections[on.account] == on {
		delete(c.connections, on.account)
	}
}

// drop takes a connection and its links from later attempts.
func (c *Client) drop(on *connection) {
	c.mu.Lock()
	c.forget(on)
	c.mu.Unlock()
	c.pool.Drop(func(l *link) bool { return l.connection == on })
}
