// Package freeport picks TCP ports for tests whose servers must know theirs beforehand, have it again after a restart, or
// be where nobody listens.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The ports that are picked. Systems take those of outgoing connections, and of servers that ask for any port, from above:
// one that was free a moment ago may not be when it is used (ip_local_port_range of Linux begins at 32768, others at 49152).
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
			continue // somebody has it
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
