package store_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/must"
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
	inBubbles(t, map[string]int{ // batons that are due when it is suspended
		"amid a herd": n, "in quiet times": 0,
	}, func(t *testing.T, w *harness, before int) {
		link := &stallable{server: w.server, stalled: make(chan struct{})}
		other := must.Get(open(t, connect(t, link), store.Config{}))(t)
		room := func() int { return 1000 }
		alive, suspended := w.deliver(w.store, room, nil), w.deliver(other, room, nil)
		time.Sleep(65 * time.Second) // it has renewed its request a while ago
		w.fire(before)
		synctest.Wait()
		if had := len(suspended.got); before > 0 && had < n/4 {
			t.Fatalf("it has %d, want its share", had)
		}
		close(link.stalled)
		w.fire(n - before)
		time.Sleep(10*time.Second + 100*time.Millisecond) // the ack wait
		if had := len(alive.got); had != n {
			t.Errorf("the other has %d, want %d", had, n)
		}
	})
}
