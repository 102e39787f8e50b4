// Package wire makes connections on which many goroutines write little at a time:
// what they write goes out together, in the order in which it was written.
//
// A system call costs as much as making a message, and the other side has one for
// each of ours. The client library of NATS has the system called whenever there is
// something to write, and keeps everybody else from writing meanwhile. Here whoever
// writes leaves what it has, and goes on; one goroutine calls the system, after those
// that are about to run have had their turn. With nothing else to do that is at once.
//
// Guarantees:
//
//  1. What is written goes out in its order, once, or the connection ends.
//  2. At most 256 KB wait, or one message that is longer; who writes more waits for
//     room.
//  3. A connection that takes nothing for a minute ends, and so does one that breaks:
//     its reader is told as well as who writes next.
//  4. Close sends what waits before it ends the connection, if it is taken within a
//     quarter of a second.
package wire

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// The bounds of what is written and not sent yet.
const (
	most = 256 << 10 // bytes
	keep = 1 << 20   // of a buffer that is used again

	patience = time.Minute            // that a connection may take nothing, as the client library has it
	closing  = 250 * time.Millisecond // that closing may take
)

// Dialer makes connections as [net.Dialer] does. Timeout bounds the making of one.
type Dialer struct{ Timeout time.Duration }

// Dial connects to an address.
func (d Dialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: d.Timeout}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	return New(c), nil
}

// conn is a connection that gathers what is written to it.
type conn struct {
	net.Conn

	mu      sync.Mutex
	changed sync.Cond // something waits, or was sent, or the connection ended
	waiting []byte
	sending bool // something that was waiting is on its way
	closed  bool
	err     error // that sending ended with
}

// New returns a connection that gathers what is written to c, which is its own from
// now on.
func New(c net.Conn) net.Conn {
	g := &conn{Conn: c}
	g.changed.L = &g.mu
	go g.send()
	return g
}

// Write leaves b to be sent. The error is that of an earlier one.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 && len(c.waiting)+len(b) > most && c.err == nil && !c.closed {
		c.changed.Wait()
	}
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.err != nil:
		return 0, c.err
	case len(b) == 0:
		return 0, nil
	}
	if len(c.waiting) == 0 {
		c.changed.Broadcast()
	}
	c.waiting = append(c.waiting, b...)
	return len(b), nil
}

// send sends what waits until the connection ends.
func (c *conn) send() {
	var spare []byte
	for {
		c.mu.Lock()
		for len(c.waiting) == 0 && !c.closed && c.err == nil {
			c.changed.Wait()
		}
		if len(c.waiting) == 0 || c.err != nil {
			c.mu.Unlock()
			return
		}
		c.sending = true
		c.mu.Unlock()

		runtime.Gosched() // who is about to run may have more
		c.mu.Lock()
		b := c.waiting
		c.waiting = spare[:0]
		c.changed.Broadcast()
		c.mu.Unlock()
		err := c.write(b)
		if spare = b; cap(spare) > keep {
			spare = nil
		}
		c.mu.Lock()
		c.sending, c.err = false, err
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			_ = c.Conn.Close() // so that the reader is told
			return
		}
	}
}

func (c *conn) write(b []byte) error {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := c.Conn.Write(b)
	return err
}

// Close sends what waits and ends the connection.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	late := time.AfterFunc(closing, func() { _ = c.Conn.Close() })
	for (c.sending || len(c.waiting) > 0) && c.err == nil {
		c.changed.Wait()
	}
	c.mu.Unlock()
	late.Stop()
	return c.Conn.Close()
}

// SetWriteDeadline does nothing: [conn.Write] does not wait for the other side.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
