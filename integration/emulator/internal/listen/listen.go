// Package listen opens the ports of the emulators.
package listen

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// TCP listens on an address, such as 127.0.0.1:0 for a free port. An IPv4 address is listened on with IPv4 alone, also
// 0.0.0.0. The error is the reason, without the address.
func TCP(ctx context.Context, addr string) (net.Listener, error) {
	network := "tcp"
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		network = "tcp4"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, network, addr)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return nil, op.Err
	}
	return listener, err
}
