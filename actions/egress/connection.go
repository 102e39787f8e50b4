package egress

import (
	"net"
	"net/netip"
	"sync/atomic"
)

// connection is a connection that a guard allowed and can close later.
type connection struct {
	net.Conn

	guard   *Guard
	ends    ends
	refused atomic.Pointer[RefusedError] // why the guard has ended it; nil: it has not
}

// ends are the addresses of a connection, as the process that has opened it sees them.
type ends struct{ local, remote netip.AddrPort }

func endsOf(local, remote net.Addr) ends {
	return ends{addrPort(local), addrPort(remote)}
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := tcp.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// Dialed reports whether a job has opened the connection that a server of this process has accepted from client on its own
// address. Neither a name, a redirect nor a spelling of the address conceals that.
func (g *Guard) Dialed(client, server net.Addr) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[endsOf(client, server)] != nil
}

// Replace replaces the networks given to [NewGuard]. It closes the connections to addresses that are no longer
// allowed and returns their number. Addresses given to [Guard.AllowAddr] stay allowed. A nil Guard ignores the
// call.
func (g *Guard) Replace(allow ...netip.Prefix) (ended int) {
	if g == nil {
		return 0
	}
	g.allow.Store(canonical(allow))
	g.mu.Lock()
	open := make([]*connection, 0, len(g.open))
	for _, c := range g.open {
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

// keep registers a connection so that [Guard.Replace] can close it. It checks the address again after the
// registration, because the networks may have been replaced in between.
func (g *Guard) keep(conn net.Conn) (net.Conn, error) {
	c := &connection{Conn: conn, guard: g, ends: endsOf(conn.LocalAddr(), conn.RemoteAddr())}
	g.mu.Lock()
	g.open[c.ends] = c
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
	_ = c.Close() // readers and writers get the reason
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
	if c.guard.open[c.ends] == c { // it may be closed twice
		delete(c.guard.open, c.ends)
	}
	c.guard.mu.Unlock()
	return c.Conn.Close()
}

// reason replaces the network's error if the guard closed the connection.
func (c *connection) reason(err error) error {
	if err == nil {
		return nil
	}
	if refused := c.refused.Load(); refused != nil {
		return refused
	}
	return err
}
