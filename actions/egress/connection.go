package egress

import (
	"net"
	"net/netip"
	"sync/atomic"
)

// connection is one that a guard let pass, and ends when it would no more.
type connection struct {
	net.Conn

	guard   *Guard
	refused atomic.Pointer[RefusedError] // why the guard has ended it; nil: it has not
}

// Replace lets other networks pass in place of those that [NewGuard] was given, from now on. What stands with an address
// that does not pass any more is ended; it returns how many connections these are. What [Guard.AllowAddr] allowed stays
// so. It does nothing to a nil Guard.
func (g *Guard) Replace(allow ...netip.Prefix) (ended int) {
	if g == nil {
		return 0
	}
	g.allow.Store(canonical(allow))
	g.mu.Lock()
	open := make([]*connection, 0, len(g.open))
	for c := range g.open {
		open = append(open, c)
	}
	g.mu.Unlock()
	for _, c := range open {
		if c.check() != nil {
			ended++
		}
	}
	return ended
}

// keep returns a connection as one that can be ended. The networks may have been replaced since its address was checked,
// so that is done again once [Guard.Replace] can find it.
func (g *Guard) keep(conn net.Conn) (net.Conn, error) {
	c := &connection{Conn: conn, guard: g}
	g.mu.Lock()
	g.open[c] = struct{}{}
	g.mu.Unlock()
	if refused := c.check(); refused != nil {
		return nil, refused
	}
	return c, nil
}

// check ends the connection if its address does not pass; nil if it does.
func (c *connection) check() error {
	addr, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil // a dialer of ours opens no other
	}
	err := c.guard.CheckAddrPort(addr.AddrPort())
	if err == nil {
		return nil
	}
	refused, _ := err.(*RefusedError) //nolint:errorlint // the guard's own, and no other
	c.refused.Store(refused)
	_ = c.Close() // whoever uses it is told why
	return err
}

// Read reads, unless the guard has ended the connection.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.reason(err)
}

// Write writes, unless the guard has ended the connection.
func (c *connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.reason(err)
}

// Close closes the connection.
func (c *connection) Close() error {
	c.guard.mu.Lock()
	delete(c.guard.open, c)
	c.guard.mu.Unlock()
	return c.Conn.Close()
}

// reason is why a connection that the guard has ended cannot be used, in place of what the network says of it.
func (c *connection) reason(err error) error {
	if err == nil {
		return nil
	}
	if refused := c.refused.Load(); refused != nil {
		return refused
	}
	return err
}
