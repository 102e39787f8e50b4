package egress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Guard refuses connections to addresses inside the network that a scheduler
// runs in. A nil Guard refuses none. It is safe for concurrent use.
type Guard struct {
	allow atomic.Pointer[[]netip.Prefix]
	exact sync.Map // keys: netip.AddrPort

	mu   sync.Mutex
	open map[ends]*connection // what [Guard.DialContext] has opened
}

// NewGuard returns a guard that lets the given networks pass. An IPv4-mapped
// prefix means the IPv4 network it maps.
func NewGuard(allow ...netip.Prefix) *Guard {
	g := &Guard{open: map[ends]*connection{}}
	g.allow.Store(canonical(allow))
	return g
}

// canonical returns networks as addresses are compared with them.
func canonical(networks []netip.Prefix) *[]netip.Prefix {
	all := make([]netip.Prefix, 0, len(networks))
	for _, p := range networks {
		if p.Addr().Is4In6() && p.Bits() >= mappedBits {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
		}
		all = append(all, p.Masked())
	}
	return &all
}

// mappedBits is the extra prefix length of an IPv4-mapped network.
const mappedBits = 96

// AllowAddr lets the given addresses pass with these ports only, from now on.
// It does nothing to a nil Guard.
func (g *Guard) AllowAddr(addrs ...netip.AddrPort) {
	if g == nil {
		return
	}
	for _, a := range addrs {
		g.exact.Store(netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), true)
	}
}

// AllowListener lets jobs reach a listener of this process, given by its address:
// where it says that it listens, and on loopback addresses when that is
// everywhere.
func (g *Guard) AllowListener(address string) {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return
	}
	g.AllowAddr(a)
	if a.Addr().IsUnspecified() {
		g.AllowAddr(netip.AddrPortFrom(loopback, a.Port()), netip.AddrPortFrom(netip.IPv6Loopback(), a.Port()))
	}
}

// Check returns nil when jobs may reach addr, else a [RefusedError].
func (g *Guard) Check(addr netip.Addr) error {
	if g == nil {
		return nil
	}
	addr = addr.Unmap()
	if kind := refused(addr, g.allows); kind != "" && !g.allows(addr) {
		return &RefusedError{Addr: addr, kind: kind}
	}
	return nil
}

// CheckAddrPort is [Guard.Check] for an address with its port, which is what
// [Guard.AllowAddr] lets pass.
func (g *Guard) CheckAddrPort(addr netip.AddrPort) error {
	if g == nil {
		return nil
	}
	if _, ok := g.exact.Load(netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())); ok {
		return nil
	}
	return g.Check(addr.Addr())
}

// allows reports whether an allowed network contains addr, ignoring its zone.
func (g *Guard) allows(addr netip.Addr) bool {
	addr = addr.WithZone("")
	return slices.ContainsFunc(*g.allow.Load(), func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Dialer returns a dialer that checks each address immediately before it connects. Its error matches
// [RefusedError] if the host's first address was refused and no other one could be reached. Use
// [Guard.DialContext] to learn whether all addresses were refused.
func (g *Guard) Dialer(timeout time.Duration) *net.Dialer {
	d := &net.Dialer{Timeout: timeout}
	if g != nil {
		d.ControlContext = g.control
	}
	return d
}

// control checks an address before its socket is connected.
func (g *Guard) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("network %s is not allowed to jobs", network)
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q cannot be checked: %w", address, err)
	}
	if err := g.CheckAddrPort(addr); err != nil {
		return err
	}
	if passed, ok := ctx.Value(passedKey{}).(*atomic.Bool); ok {
		passed.Store(true)
	}
	return nil
}

// passedKey finds, in the context of a dial, the note that one address passed.
type passedKey struct{}

// DialContext wraps d, a [Guard.Dialer], for hosts with several addresses: its error matches [RefusedError] only
// if every address was refused, so that no retry can help. [Guard.Replace] can close the connections.
func (g *Guard) DialContext(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	if g == nil {
		return d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		passed := new(atomic.Bool)
		conn, err := d.DialContext(context.WithValue(ctx, passedKey{}, passed), network, address)
		if r, ok := errors.AsType[*RefusedError](err); ok && passed.Load() {
			return nil, fmt.Errorf("the host's other addresses cannot be reached, and %s", r.Error())
		}
		if err != nil {
			return nil, err
		}
		return g.keep(conn)
	}
}

// RefusedError reports an address that jobs must not reach, or a name that must not be sent to a proxy.
type RefusedError struct {
	Addr netip.Addr // invalid: the name cannot be checked

	name string // what leads to Addr; "": it was given itself
	kind string // kind of address, such as "is a private address"
}

// Error names the address, the reason and how to allow it. Addresses that must never be allowed have no such
// hint.
func (e *RefusedError) Error() string {
	if !e.Addr.IsValid() && e.name != "" {
		return fmt.Sprintf("%q is neither a name nor an address in its usual form", e.name)
	}
	text := fmt.Sprintf("%s %s, which jobs must not reach", e.Addr, e.kind)
	if e.name != "" {
		text = fmt.Sprintf("%q stands for %s, %s, which jobs must not reach", e.name, e.Addr, strings.TrimPrefix(e.kind, "is "))
	}
	if isMetadata(e.Addr) {
		return text
	}
	addr := e.Addr.WithZone("")
	return fmt.Sprintf("%s; --allow-target %s allows it", text, netip.PrefixFrom(addr, addr.BitLen()))
}

// IsRefused reports whether err is a [RefusedError], which no retry can help
// and no target is to blame for.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

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
	open := slices.Collect(maps.Values(g.open))
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

// SyscallConn implements [syscall.Conn], for connections that are dialed over TCP.
func (c *connection) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
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
