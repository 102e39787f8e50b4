package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// Limits of a connection.
const (
	maxFrame   = 64 << 10
	maxChannel = 65535
	// maxSessions limits the cost of a client that only begins sessions.
	maxSessions = 8192
	// maxLinks does the same for links.
	maxLinks = 10_000
	// maxUnsettled limits the messages of a session that the client has neither settled nor released.
	maxUnsettled = 50_000
	// maxUnderway limits the bytes of messages that wait for the broker; beyond it, the connection is not read.
	maxUnderway = 16 << 20
	// maxHeld limits in addition the messages that have arrived in part, since a client can begin one on every link.
	// Links beyond the limit take turns.
	maxHeld = 64 << 20
	// grace limits the time to write the last bytes.
	grace = time.Second
	// tokenTime limits the time of a connection without a valid token.
	tokenTime = time.Minute
	// lingering limits the wait for the client to close its side.
	lingering = 200 * time.Millisecond
)

// A conn is one connection. Its goroutine reads frames and acts on them; a second one writes.
type conn struct {
	server *Server
	socket net.Conn
	reader *amqp.Reader
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // ends with the connection, whose methods are called from many places
	cancel context.CancelFunc

	name      string        // the client's container id
	host      string        // the server name used by the client; may be empty
	peerFrame int           // the largest frame the client takes
	peerIdle  time.Duration // idle timeout of the client; 0: none

	woken   chan struct{} // wakes the writer
	written chan struct{} // closed when the writer has ended
	ready   readyLinks
	taken   []*outgoing // the writer's, kept for its memory
	scratch []byte      // the writer's, for the payload of a message

	completed completions

	mu       sync.Mutex
	space    *sync.Cond // the output has become shorter
	out      []byte
	closing  bool // out holds the last bytes
	links    int  // of all sessions
	held     int  // bytes of messages from the client, whole or not
	largest  int  // bytes that a message on one of its links may have
	underway int  // bytes of whole messages that have no answer yet
	sessions map[uint16]*session
	ended    map[uint16]bool      // channels of sessions that the client has ended
	replies  map[string]*outgoing // links that take answers, by address and by name
	locked   map[string]string    // ids of the sessions that links have, by the link's name
	tokens   map[string]permit    // what may be done with which path
	txns     transactions
}

func newConn(server *Server, socket net.Conn) *conn {
	ctx, cancel := context.WithCancel(server.ctx)
	c := &conn{
		server:   server,
		socket:   socket,
		reader:   amqp.NewReader(socket, maxFrame),
		log:      server.config.Logger.With(slog.String("client", socket.RemoteAddr().String())),
		ctx:      ctx,
		cancel:   cancel,
		woken:    make(chan struct{}, 1),
		written:  make(chan struct{}),
		sessions: map[uint16]*session{},
		ended:    map[uint16]bool{},
		replies:  map[string]*outgoing{},
		locked:   map[string]string{},
		tokens:   map[string]permit{},
		txns:     transactions{},
		scratch:  make([]byte, 0, 4<<10),
	}
	c.space = sync.NewCond(&c.mu)
	return c
}

// run serves the connection until it ends, and returns why.
func (c *conn) run() error {
	defer c.cancel()
	stop := context.AfterFunc(c.ctx, func() { c.socket.Close() })
	if err := c.handshake(); err != nil {
		c.explainEnd("a connection", err)
		stop()
		c.socket.Close()
		return err
	}
	stop()
	defer c.later(tokenTime, c.askToken).Stop()
	c.server.config.Opened(c.socket.RemoteAddr())
	go c.write()
	err := c.read()
	c.mu.Lock()
	if !c.closing { // the closer has reported the reason
		c.explainEnd("to continue a connection", err)
	}
	c.close(farewell(err))
	c.mu.Unlock()
	c.wake()
	<-c.written
	return err
}

// askToken ends a connection that has shown neither token nor key by now, where these are looked at.
func (c *conn) askToken() {
	if c.server.config.Keys.Mode == auth.Strict && len(c.tokens) == 0 {
		reason := amqp.Errorf(condUnauthorized, "no good token was shown within %v", tokenTime)
		c.explain("to continue a connection", "", reason)
		c.close(reason)
		_ = c.socket.SetReadDeadline(time.Now())
	}
}

// read acts on frames until the client closes the connection or breaks the rules.
func (c *conn) read() error {
	for {
		if !c.reader.Ready() {
			c.wake() // the client has no more to say for now: answer
			if err := c.await(); err != nil {
				return err
			}
		}
		frame, err := c.reader.Frame()
		if err != nil {
			return err
		}
		if frame.Kind != amqp.FrameAMQP {
			return fmt.Errorf("%w: a frame of type %d", amqp.ErrMalformed, frame.Kind)
		}
		if len(frame.Body) == 0 {
			continue // a heartbeat
		}
		performative, payload, err := amqp.Decode(frame.Body)
		if err != nil {
			return err
		}
		if done, err := c.handle(frame.Channel, performative, payload); done || err != nil {
			return err
		}
	}
}

// await gives the client time to say something.
func (c *conn) await() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return net.ErrClosed
	}
	return c.socket.SetReadDeadline(time.Now().Add(2 * c.server.config.IdleTimeout))
}

// handle acts on one performative. An error, or done, ends the connection.
func (c *conn) handle(channel uint16, performative amqp.Performative, payload []byte) (done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaitSpace()
	if c.closing {
		return true, nil
	}
	switch p := performative.(type) {
	case *amqp.Close:
		return true, nil
	case *amqp.Begin:
		return false, c.begin(channel, p)
	case *amqp.Open:
		return false, violation("a second open")
	}
	s := c.sessions[channel]
	switch {
	case s == nil && c.ended[channel] && late(performative):
		return false, nil
	case s == nil:
		return false, violation("%T on channel %d, which has no session", performative, channel)
	case s.ended:
		if _, ok := performative.(*amqp.End); ok {
			c.forget(channel)
		}
		return false, nil // sent before the client knew
	}
	if err := s.handle(performative, payload); err != nil {
		s.end(err)
	}
	if c.held > max(maxHeld, maxUnderway+c.largest) {
		return false, amqp.Errorf(broker.ResourceLimitExceeded, "too many messages begun and not ended")
	}
	return false, nil
}

// forget takes a session that has ended on both sides out.
func (c *conn) forget(channel uint16) {
	delete(c.sessions, channel)
	c.ended[channel] = true
}

// late reports whether a performative may belong to an ended session: multi-threaded clients, such as .NET's, settle
// messages while they end the session. The server ignores it, and the other sessions continue.
func late(performative amqp.Performative) bool {
	switch performative.(type) {
	case *amqp.Disposition, *amqp.Flow, *amqp.Detach, *amqp.End:
		return true
	default:
		return false
	}
}

// begin opens a session on the client's channel number, which is used in both directions.
func (c *conn) begin(channel uint16, p *amqp.Begin) error {
	if c.sessions[channel] != nil {
		return violation("a second begin on channel %d", channel)
	}
	if len(c.sessions) >= maxSessions {
		return amqp.Errorf(broker.ResourceLimitExceeded, "more than %d sessions on a connection", maxSessions)
	}
	s := newSession(c, channel, p)
	c.sessions[channel] = s
	delete(c.ended, channel)
	c.send(channel, &amqp.Begin{
		RemoteChannel:  amqp.Some(uint32(channel)),
		NextOutgoingID: s.nextOutgoing,
		IncomingWindow: sessionWindow,
		OutgoingWindow: sessionWindow,
		HandleMax:      maxHandle,
	}, nil)
	return nil
}

// close ends all that the connection has and says goodbye. The caller holds c.mu.
func (c *conn) close(reason *amqp.Error) {
	if c.closing {
		return
	}
	for _, s := range c.sessions {
		if reason != nil && reason.Condition == condForced {
			s.stop(&amqp.Error{Condition: condDetached, Description: reason.Description})
		}
		s.release()
	}
	c.txns.abandon()
	c.out = amqp.AppendFrame(c.out, amqp.FrameAMQP, 0, &amqp.Close{Error: reason}, nil)
	c.closing = true
	c.space.Broadcast()
}

// abort ends the connection without a word.
func (c *conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

// cut is abort for a caller that holds c.mu.
func (c *conn) cut() {
	c.close(nil)
	c.out = nil
	c.socket.Close()
	c.wake()
}

// shut ends the connection from outside: the client receives the reason if it reads within the grace period.
func (c *conn) shut(reason *amqp.Error) {
	c.mu.Lock()
	c.close(reason)
	c.mu.Unlock()
	_ = c.socket.SetWriteDeadline(time.Now().Add(grace))
	c.wake()
}

// violation returns the error for a violation of the standard.
func violation(format string, args ...any) error {
	return amqp.Errorf(condFraming, format, args...)
}

// farewell returns the AMQP error for a connection that ends with err.
func farewell(err error) *amqp.Error {
	if reason, ok := errors.AsType[*amqp.Error](err); ok {
		return reason
	}
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return amqp.Errorf(condForced, "the client has been silent for too long")
	case errors.Is(err, amqp.ErrMalformed), errors.Is(err, amqp.ErrFrameTooLarge):
		return &amqp.Error{Condition: condFraming, Description: err.Error()}
	default:
		return nil
	}
}

// guard runs an operation or its configured fault: it calls proceed with nil or an error, immediately or after a delay,
// or cuts the connection. c.mu is held during guard and proceed.
func (c *conn) guard(entity string, operation fault.Operation, proceed func(error)) {
	befallen, ok := c.server.config.Broker.Faults().Take(entity, operation)
	switch {
	case !ok:
		proceed(nil)
	case befallen.Delay > 0:
		c.later(befallen.Delay, func() { c.suffer(befallen, proceed) })
	default:
		c.suffer(befallen, proceed)
	}
}

func (c *conn) suffer(befallen fault.Fault, proceed func(error)) {
	if befallen.Drop {
		c.cut()
		return
	}
	proceed(befallen.Err())
}

// later calls f with c.mu held after a delay, unless the connection ends before.
func (c *conn) later(delay time.Duration, f func()) *time.Timer {
	return time.AfterFunc(delay, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closing {
			f()
			c.wake()
		}
	})
}
