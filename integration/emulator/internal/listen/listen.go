// Package listen opens the ports of the emulators, and serves HTTP on them.
package listen

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// An Error reports a port that cannot be opened.
type Error struct {
	Port string // what the port serves, such as "AMQP"
	Addr string
	Err  error
}

// Error names the port, the address and the reason.
func (e *Error) Error() string { return e.Port + " address " + e.Addr + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// TCP opens a port at an address, such as 127.0.0.1:0 for a free one. An IPv4 address is listened on with IPv4 alone, also
// 0.0.0.0. It fails with an [*Error].
func TCP(ctx context.Context, port, addr string) (net.Listener, error) {
	network := "tcp"
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		network = "tcp4"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, network, addr)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the address
	}
	if err != nil {
		return nil, &Error{port, addr, err}
	}
	return listener, nil
}
