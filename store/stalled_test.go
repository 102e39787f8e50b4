package store_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/store"
)

// stallable connects a process that can be suspended: it then sends and receives nothing, but stays connected.
type stallable struct {
	server  *server.Server
	stalled chan struct{} // closed
}

// InProcessConn implements [nats.InProcessConnProvider].
func (s *stallable) InProcessConn() (net.Conn, error) {
	conn, err := s.server.InProcessConn()
	return &stallableConn{Conn: conn, stalled: s.stalled}, err
}

type stallableConn struct {
	net.Conn

	stalled chan struct{}
}

func (c *stallableConn) suspended() bool {
	select {
	case <-c.stalled:
		return true
	default:
		return false
	}
}

func (c *stallableConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.suspended() {
			return n, err
		}
	}
}

func (c *stallableConn) Write(b []byte) (int, error) {
	if c.suspended() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestSuspendedProcessKeepsNothing suspends one of two processes: within a lease, the other has all due batons, and the
// server gives none to the suspended one again.
func TestSuspendedProcessKeepsNothing(t *testing.T) {
	const n = 400
	tests := []struct {
		name   string
		before int // batons that are due when it is suspended
	}{
		{"amid a herd", n},
		{"in quiet times", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				link := &stallable{server: w.server, stalled: make(chan struct{})}
				nc, err := nats.Connect("", nats.InProcessServer(link))
				w.must(err)
				defer nc.Close()
				other, err := open(t, nc, store.Config{})
				w.must(err)
				room := func() int { return 1000 }
				alive, suspended := w.deliver(w.store, room, nil), w.deliver(other, room, nil)
				time.Sleep(65 * time.Second) // it has renewed its request a while ago
				w.fireMany(test.before)
				synctest.Wait()
				if had := len(suspended.got); test.before > 0 && had < n/4 {
					t.Fatalf("it has %d, want its share", had)
				}
				close(link.stalled)
				w.fireMany(n - test.before)
				time.Sleep(10*time.Second + 100*time.Millisecond) // the ack wait
				if had := len(alive.got); had != n {
					t.Errorf("the other has %d, want %d", had, n)
				}
			})
		})
	}
}
