// Package freeport picks TCP ports for tests that must know a server's port in advance, reuse it after a
// restart, or need a port without a listener.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The range of picked ports. It is below the ephemeral ports, which the system could assign in the meantime
// (Linux's ip_local_port_range begins at 32768, others at 49152).
const (
	lowest  = 20000
	highest = 32000
	tries   = 1000
)

var picked sync.Map

// Pick returns a port of 127.0.0.1 that nothing listens at, and never the same one twice in a process.
func Pick(tb testing.TB) int {
	tb.Helper()
	return pick(tb, func() int { return lowest + rand.IntN(highest-lowest) }) //nolint:gosec // it need not be secret
}

// pick returns the first port that is drawn, was not picked before, and is free.
func pick(tb testing.TB, draw func() int) int {
	tb.Helper()
	for range tries {
		port := draw()
		if _, again := picked.LoadOrStore(port, true); again {
			continue
		}
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", address(port))
		if err != nil {
			continue // in use
		}
		_ = l.Close()
		return port
	}
	tb.Fatalf("no port from %d to %d is free", lowest, highest)
	return 0
}

// Address returns a port as [Pick] does, with its host.
func Address(tb testing.TB) string {
	tb.Helper()
	return address(Pick(tb))
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
