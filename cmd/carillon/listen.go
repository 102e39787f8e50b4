package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// listenError says that the address of a flag cannot be listened on.
type listenError struct {
	flag, addr string
	err        error
}

// Error names the address and the reason.
func (e *listenError) Error() string { return fmt.Sprintf("%s address %s: %v", e.flag, e.addr, e.err) }

// Unwrap returns the reason.
func (e *listenError) Unwrap() error { return e.err }

// listen listens for HTTP on the address of the flag --http.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, portError("HTTP", "http", addr, err)
}

// portError says that the address of a flag cannot be listened on, and what to do about it.
func portError(kind, flag, addr string, err error) error {
	return hinted(&unavailableError{&listenError{kind, addr, err}},
		"another program uses that port, perhaps a second carillon; choose one with --"+flag+", port 0 takes any free one")
}

// checkAddress makes sure that the value of a flag is host:port.
func checkAddress(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return &usageError{fmt.Errorf("--%s: %q is not an address such as 127.0.0.1:8080", flag, addr)}
	}
	return nil
}

// reachable returns the address at which this machine reaches a listener.
func reachable(addr net.Addr) string { return reachableAt(addr.String()) }

func reachableAt(addr string) string {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || !a.Addr().IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Port())))
}
