// Package wire provides connections that coalesce the small writes of many goroutines, in order.
//
// A system call costs as much as creating a message, and causes another one on the other side. The NATS client library
// makes a system call whenever data is available, and blocks other writers in the meantime. Here, [conn.Write] only
// appends to a buffer. One goroutine writes the buffer after the runnable goroutines have had their turn; on an idle
// system, that is immediately:
//
//	Write ─▶ buffer (at most 256 KB) ─▶ one system call for many writes ─▶ peer
//
// Guarantees:
//
//  1. Data is sent in order and once, or the connection ends.
//  2. The buffer holds at most 256 KB, or one larger message. Write blocks while it is full.
//  3. A connection that accepts less than 64 KB of waiting data in five seconds ends, as does a broken one. Both its reader
//     and the next writer get the error.
//  4. Close sends the buffered data before it ends the connection, if the peer accepts it within a quarter of a second.
package wire

import (
	"net"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Limits of buffering and sending.
const (
	most = 256 << 10 // bytes in the buffer
	keep = 1 << 20   // bytes; larger buffers are not reused

	chunk    = 64 << 10               // bytes that the peer must accept within patience
	patience = 5 * time.Second        // if the buffer is full, the client library cannot send pings or close meanwhile
	closing  = 250 * time.Millisecond // maximum duration of Close
)

// Dialer dials like [net.Dialer]. Timeout limits a dial.
type Dialer struct{ Timeout time.Duration }

// Dial connects to an address.
func (d Dialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: d.Timeout}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	return New(c), nil
}

// conn is a connection that buffers writes.
type conn struct {
	net.Conn

	mu      sync.Mutex
	changed sync.Cond // broadcast when waiting, sending, closed or err changes
	waiting []byte
	sending bool // a write is in progress
	closed  bool
	err     error // of the failed write
}

// New returns a connection that buffers writes to c. It takes ownership of c.
func New(c net.Conn) net.Conn {
	g := &conn{Conn: c}
	g.changed.L = &g.mu
	go g.send()
	return g
}

// Write appends b to the buffer. It returns the error of an earlier write.
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

// send writes the buffer until the connection ends.
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

		runtime.Gosched() // runnable goroutines may have more
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
			_ = c.Conn.Close() // so that the reader gets an error
			return
		}
	}
}

func (c *conn) write(b []byte) error {
	for part := range slices.Chunk(b, chunk) {
		if err := c.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := c.Conn.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// Close sends the buffer and closes the connection.
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

// SetWriteDeadline does nothing, because [conn.Write] does not wait for the peer.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
