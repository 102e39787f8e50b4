package storagequeue

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
)

// ErrDataInUse is wrapped by the error of [Start] and [Open] when another process uses the folder of the data.
var ErrDataInUse = wal.ErrLocked

// A ListenError says that Start cannot listen on an address.
type ListenError struct {
	Addr string
	Err  error
}

// Error names the address and the reason.
func (e *ListenError) Error() string { return "storage queue address " + e.Addr + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ListenError) Unwrap() error { return e.Err }

// listenOn listens. An IPv4 address is listened on with IPv4 alone, also 0.0.0.0.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	network := "tcp"
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		network = "tcp4"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, network, addr)
	if err == nil {
		return listener, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the rest of it is said already
	}
	return nil, &ListenError{addr, err}
}
