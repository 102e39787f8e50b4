package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// addressError says that the address of a flag cannot be listened on.
type addressError struct {
	flag, addr string
	err        error
}

// Error names the address and the reason.
func (e *addressError) Error() string { return fmt.Sprintf("%s address %s: %v", e.flag, e.addr, e.err) }

// Unwrap returns the reason.
func (e *addressError) Unwrap() error { return e.err }

// HTTP listens for HTTP on the address of the flag --http. A ports file of the process before is removed first.
func HTTP(ctx context.Context, addr, portsFile string) (net.Listener, error) {
	if err := RemovePorts(portsFile); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, Error("HTTP", "http", addr, err)
}

// Error says that the address of a flag cannot be listened on, and what to do about it.
func Error(kind, flag, addr string, err error) error {
	return terminal.Hinted(terminal.Unavailable(&addressError{kind, addr, err}),
		"another program uses that port, perhaps a second carillon; choose one with --"+flag+", port 0 takes any free one")
}

// CheckAddress makes sure that the value of a flag is host:port.
func CheckAddress(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return terminal.Usagef("--%s: %q is not an address such as 127.0.0.1:8080", flag, addr)
	}
	return nil
}

// Reachable returns the address at which this machine reaches a listener.
func Reachable(addr string) string {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || !a.Addr().IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Port())))
}
