package servicebus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/pool"
)

// connection is a client of the SDK with one network connection: when that
// ends, the client is of no use any more.
//
// The SDK lets its user open the network connection only when that is a
// WebSocket; but it treats it like any other, so a plain or TLS connection
// serves as well. So the connection goes through the guard's dialer, and can be
// cut.
type connection struct {
	owner   *Client
	account account
	client  *azservicebus.Client

	ctx    context.Context //nolint:containedctx // ends with the connection, on which links are opened at any time
	cancel context.CancelCauseFunc

	links int // not closed; guarded by the mutex of its owner

	mu   sync.Mutex
	net  net.Conn // nil: not yet connected
	over bool     // it was connected, or must not be any more
	lost error    // the first error of the network
}

// errBadKey reports a key that the SDK cannot parse.
var errBadKey = errors.New("the key or its name has a character that is not allowed")

// newConnection returns a connection that is dialled when its first link is
// opened.
func newConnection(owner *Client, a account, retries azservicebus.RetryOptions) (*connection, error) {
	c := &connection{owner: owner, account: a}
	client, err := azservicebus.NewClientFromConnectionString(a.connectionString(), &azservicebus.ClientOptions{
		ApplicationID: "Carillon/" + owner.config.Version,
		RetryOptions:  retries,
		NewWebSocketConn: func(ctx context.Context, _ azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
			return c.dial(ctx)
		},
	})
	if err != nil {
		return nil, errBadKey // the SDK's error might show it
	}
	c.client = client
	c.ctx, c.cancel = context.WithCancelCause(owner.ctx)
	return c, nil
}

// ended is the error of a second dial. It stops the SDK's retries.
type ended struct{ error }

// NonRetriable marks errors for the SDK.
func (ended) NonRetriable() {}

var errEnded = ended{errors.New("connection lost")}

// dial connects, once.
func (c *connection) dial(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over {
		return nil, errEnded
	}
	conn, err := c.connect(ctx)
	if err != nil {
		c.note(err)
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		_ = conn.Close()
		return nil, errEnded
	}
	c.over, c.net = true, conn
	return &watched{Conn: conn, connection: c}, nil
}

// connect makes the network connection.
func (c *connection) connect(ctx context.Context) (net.Conn, error) {
	conn, err := c.owner.dial(ctx, "tcp", c.account.place.address())
	if err != nil {
		return nil, err
	}
	if c.account.place.plain {
		return conn, nil
	}
	return c.secure(ctx, conn)
}

// note remembers the first network error.
func (c *connection) note(err error) {
	if err == nil || errors.Is(err, net.ErrClosed) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = cmp.Or(c.lost, err)
}

// explain replaces an error of the SDK that hides the network's error. sent reports whether a message was in
// flight.
func (c *connection) explain(err error, sent bool) error {
	if classify(err).answered() {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		return err
	}
	return &lostError{sent: sent, cause: c.lost}
}

// secure speaks TLS on conn, which it closes if that fails.
func (c *connection) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	config := &tls.Config{}
	if c.owner.config.TLS != nil {
		config = c.owner.config.TLS.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, c.account.place.host)
	ctx, cancel := context.WithTimeoutCause(ctx, egress.TLSTimeout, errHandshakeTimeout)
	defer cancel()
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if errors.Is(context.Cause(ctx), errHandshakeTimeout) {
			err = errHandshakeTimeout
		}
		return nil, err
	}
	return secured, nil
}

var errHandshakeTimeout = errors.New("TLS handshake timeout")

// cut closes the connection abruptly. Pending calls in the SDK fail.
func (c *connection) cut() {
	c.owner.drop(c)
	c.mu.Lock()
	conn := c.net
	c.over = true
	c.mu.Unlock()
	c.cancel(errEnded)
	if conn != nil {
		_ = conn.Close()
	}
}

// close closes the connection gracefully if the service responds in time.
func (c *connection) close() {
	c.cancel(pool.ErrClosed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), closeTimeout)
	defer cancel()
	defer time.AfterFunc(2*closeTimeout, c.cut).Stop()
	_ = c.client.Close(ctx) // closed regardless of the error
}

// watched is a network connection that reports when it is closed. The SDK closes it when it breaks.
type watched struct {
	net.Conn

	connection *connection
	framing    framing
}

// Close implements [net.Conn].
func (w *watched) Close() error {
	w.connection.owner.drop(w.connection)
	return w.Conn.Close()
}

// Read implements [net.Conn].
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if wrong := w.framing.feed(b[:n]); wrong != nil {
		n, err = 0, wrong
	}
	w.connection.note(err)
	return n, err
}

// Write implements [net.Conn].
func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.connection.note(err)
	return n, err
}

// maxFrame limits a frame of a service, in bytes. The SDK announces 64 KiB, but buffers up to 2 GiB.
const maxFrame = 1 << 20

// framing parses the frames that a service sends (AMQP 1.0, section 2.3.1).
type framing struct {
	head []byte // of a frame, or of the protocol, as far as it has come
	left int64  // bytes of the present frame that are still to come
}

const headLength = 8

// feed parses received bytes. Its error says why the SDK must not see them.
func (f *framing) feed(b []byte) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, int64(len(b)))
			f.left -= n
			b = b[n:]
			continue
		}
		n := min(headLength-len(f.head), len(b))
		f.head = append(f.head, b[:n]...)
		b = b[n:]
		if len(f.head) < headLength {
			return nil
		}
		size := int64(binary.BigEndian.Uint32(f.head))
		switch {
		case bytes.HasPrefix(f.head, []byte("AMQP")):
			size = headLength
		case size > maxFrame:
			return fmt.Errorf("the service sends a frame of more than %d bytes", maxFrame)
		}
		f.head, f.left = f.head[:0], size-headLength
	}
	return nil
}
