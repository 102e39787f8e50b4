package chaos

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// link is a way for TCP connections to an address that can be cut.
type link struct {
	addr string // where it begins
	to   string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// newLink opens a way to an address until the test ends.
func newLink(ctx context.Context, t *testing.T, to string) *link {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{addr: listener.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(true)
	})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go l.join(ctx, near)
		}
	}()
	return l
}

// join carries a connection on, unless the way is cut.
func (l *link) join(ctx context.Context, near net.Conn) {
	far, err := new(net.Dialer).DialContext(ctx, "tcp", l.to)
	if err != nil {
		_ = near.Close()
		return
	}
	if !l.keep(near, far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
	both.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, near)
	delete(l.conns, far)
}

// keep takes both ends of a connection, and closes them when the way is cut.
func (l *link) keep(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_, _ = near.Close(), far.Close()
		return false
	}
	l.conns[near], l.conns[far] = true, true
	return true
}

// set cuts the way, with all connections on it, or opens it again.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if !cut {
		return
	}
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}
