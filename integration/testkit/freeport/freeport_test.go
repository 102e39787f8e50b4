package freeport

import (
	"net"
	"testing"
)

// TestPick has servers at many ports, none of which the system would give to others.
func TestPick(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		at := Address(t)
		if seen[at] {
			t.Fatalf("%s is picked twice", at)
		}
		seen[at] = true
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if port := l.Addr().(*net.TCPAddr).Port; port < lowest || port >= highest {
			t.Errorf("port %d", port)
		}
	}
}

// TestTaken draws a port that somebody listens at, one that was picked before, and one that is free.
func TestTaken(t *testing.T) {
	taken, before, free := Pick(t), Pick(t), Pick(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address(taken))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	picked.Delete(taken)
	picked.Delete(free)
	drawn := []int{taken, before, free}
	next := func() (port int) {
		port, drawn = drawn[0], drawn[1:]
		return port
	}
	if got := pick(t, next); got != free {
		t.Errorf("picked %d of %d, %d and %d", got, taken, before, free)
	}
}
