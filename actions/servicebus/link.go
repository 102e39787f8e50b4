package servicebus

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// times are the times of links. Tests have shorter ones.
type times struct {
	// open is how long opening a link may take, with dialling and
	// authorization. It goes on when the attempt that began it has ended, for
	// the sake of others.
	open time.Duration

	// renew is the age at which a link that is in use gets a successor, and
	// most the age at which a link is dropped in any case. The SDK renews a
	// link's token when it is five minutes old; if the service answers that
	// with an error which may pass, it asks again and again without a pause,
	// because its retries, which would pause, are off. A new link has a new
	// token.
	renew, most time.Duration

	// linger is for how long the SDK may hold a call whose context has ended,
	// which it does where it waits for a lock that another call holds. Then
	// the connection is cut, which ends them all.
	linger time.Duration
}

var defaultTimes = times{open: 30 * time.Second, renew: 4 * time.Minute, most: 4*time.Minute + 30*time.Second, linger: 30 * time.Second}

// closeTimeout is how long the service may take to agree to a close.
const closeTimeout = time.Second

// maxUnsettled is how many messages may wait for their acknowledgement on one
// link. The service grants more than that; it bounds the goroutines.
const maxUnsettled = 512

// link is a sender of the SDK, opening or open.
//
// The SDK opens one link for each of the calls that come before there is one,
// so no call is made before the link is open.
type link struct {
	pool       *pool
	connection *connection
	to         destination
	made       time.Time
	slots      chan struct{} // has one element for each message under way

	ctx    context.Context //nolint:containedctx // ends with the link; calls come from many attempts
	cancel context.CancelCauseFunc

	ready  chan struct{} // closed when it is open, or cannot be opened
	sender *azservicebus.Sender
	err    error // why it is not open

	// Guarded by the mutex of the pool.
	users   int
	used    time.Time // when the last one ended
	next    *link     // its successor, while that is opening
	before  *link     // whose successor it is, while it is opening
	dropped bool
}

func newLink(p *pool, c *connection, to destination) *link {
	l := &link{
		pool:       p,
		connection: c,
		to:         to,
		made:       time.Now(),
		slots:      make(chan struct{}, maxUnsettled),
		ready:      make(chan struct{}),
	}
	l.ctx, l.cancel = context.WithCancelCause(c.ctx)
	return l
}

var errOpenTimeout = errors.New("no link within " + defaultTimes.open.String())

// open opens the link. What comes of it is for wait.
func (l *link) open() {
	defer l.pool.release(l)
	// A deadline would become that of single writes to the connection, which
	// break it when they miss it; a canceled context does not.
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	defer time.AfterFunc(l.pool.times.open, func() { cancel(errOpenTimeout) }).Stop()
	defer time.AfterFunc(l.pool.times.open+l.pool.times.linger, l.connection.cut).Stop()

	l.sender, l.err = l.connection.client.NewSender(l.to.entity, nil)
	if l.err == nil {
		// To make a batch needs the link, for the limit of its size.
		_, l.err = l.sender.NewMessageBatch(ctx, nil)
	}
	if l.err != nil {
		l.err = l.connection.explain(l.err, false)
		if ctx.Err() != nil {
			l.err = context.Cause(ctx)
		}
		if judge(l.err).connection {
			l.pool.dropConnection(l.connection)
		}
		l.pool.dropLink(l)
	}
	close(l.ready)
	l.pool.succeed(l)
}

// wait waits until the link is open.
func (l *link) wait(ctx context.Context) error {
	select {
	case <-l.ready:
		return l.err
	case <-ctx.Done():
		return &interruption{stage: "while connecting"}
	}
}

// send sends a message and releases the link, when the SDK has let go of it.
func (l *link) send(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage) error {
	select {
	case l.slots <- struct{}{}:
	case <-l.ctx.Done():
		l.pool.release(l)
		return l.cause()
	case <-ctx.Done():
		l.pool.release(l)
		return &interruption{stage: "while waiting for earlier messages"}
	}
	done, cancel := l.begin(m) //nolint:contextcheck // what the SDK does not end in time outlives the attempt
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
		time.AfterFunc(l.pool.times.linger, func() {
			if len(done) == 0 { // it still runs
				l.connection.cut()
			}
		})
	}
	return &interruption{stage: "while waiting for the acknowledgement; the message may have arrived"}
}

// begin begins to send a message, which has a slot. The channel gets what
// comes of it.
func (l *link) begin(m *azservicebus.AMQPAnnotatedMessage) (chan error, context.CancelFunc) {
	ctx, cancel := context.WithCancel(l.ctx) // without a deadline: see open
	done := make(chan error, 1)
	go func() {
		defer l.pool.release(l)
		defer cancel()
		err := l.sender.SendAMQPAnnotatedMessage(ctx, m, nil)
		<-l.slots
		switch {
		case err == nil:
		case l.ctx.Err() != nil:
			err = l.cause()
		case ctx.Err() == nil: // it was not the attempt that ended
			err = l.broken(err)
		}
		done <- err
	}()
	return done, cancel
}

// cause is why the link has ended.
func (l *link) cause() error { return context.Cause(l.ctx) }

// broken returns why a message was not sent, and drops the link if it is not
// the message's fault.
func (l *link) broken(err error) error {
	err = l.connection.explain(err, true)
	v := judge(err)
	if v.link {
		l.pool.dropLink(l)
	}
	if v.link && v.final {
		l.cancel(err) // the others need not find out by themselves, one after the other
	}
	return err
}

// close closes the link.
func (l *link) close() {
	l.cancel(errClosed)
	if l.sender == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.pool.base, closeTimeout)
	defer cancel()
	defer time.AfterFunc(2*closeTimeout, l.connection.cut).Stop()
	_ = l.sender.Close(ctx) // it is gone whatever comes of it
}
