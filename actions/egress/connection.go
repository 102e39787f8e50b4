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

// keep returns a connection as one that can be ended. The networks may have been replaced since its address was checked,
// so that is done again once [Guard.Replace] can find it.
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
	if c.guard.open[c.ends] == c { // it may be closed twice
		delete(c.guard.open, c.ends)
	}
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
