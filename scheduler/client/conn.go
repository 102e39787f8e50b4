package client

import (
	"context"
	"net"
	"sync"
)

// conn is a connection that delays reads until the first write. Otherwise net/http logs the greeting of a server that
// speaks first, such as a NATS server, to stderr.
type conn struct {
	net.Conn

	once sync.Once
	open chan struct{} // closed after the first write, or by Close
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

// Write sends p and unblocks Read.
func (c *conn) Write(p []byte) (int, error) {
	defer c.begin()
	return c.Conn.Write(p)
}

// Close also ends a blocked Read.
func (c *conn) Close() error {
	defer c.begin()
	return c.Conn.Close()
}
