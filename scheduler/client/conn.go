package client

import (
	"context"
	"net"
	"sync"
)

// conn is a connection that is not read from before something was written. A
// server that speaks first, as those of NATS do, is else told by net/http on
// stderr, in its own words, when it is fast.
type conn struct {
	net.Conn

	once sync.Once
	open chan struct{} // closed when there is something to read, or nothing will be
}

// dial connects to a server.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, open: make(chan struct{})}, nil
}

func (c *conn) begin() { c.once.Do(func() { close(c.open) }) }

// Read waits for the first write.
func (c *conn) Read(p []byte) (int, error) {
	<-c.open
	return c.Conn.Read(p)
}

// Write writes.
func (c *conn) Write(p []byte) (int, error) {
	defer c.begin()
	return c.Conn.Write(p)
}

// Close ends a read that waits, too.
func (c *conn) Close() error {
	defer c.begin()
	return c.Conn.Close()
}
