package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/scheduler"
)

// proxy passes connections on to an address, and counts them.
type proxy struct {
	net.Listener

	open, total atomic.Int64
	changed     chan struct{} // has an element after a connection ended
}

// through returns a proxy to an address.
func through(tb testing.TB, address string) *proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{Listener: listener, changed: make(chan struct{}, 1)}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.open.Add(1)
			p.total.Add(1)
			group.Go(func() { p.pass(conn, address) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return p
}

// pass passes one connection on, until both sides have ended it.
func (p *proxy) pass(conn net.Conn, address string) {
	defer func() {
		p.open.Add(-1)
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}()
	defer conn.Close()
	target, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer target.Close()
	var group sync.WaitGroup
	for _, pair := range [][2]net.Conn{{conn, target}, {target, conn}} {
		group.Go(func() {
			_, _ = io.Copy(pair[1], pair[0])
			_ = pair[1].(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, pair[0])
		})
	}
	group.Wait()
}

// wait waits until that many connections are open.
func (p *proxy) wait(tb testing.TB, open int64) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for p.open.Load() != open {
		select {
		case <-p.changed:
		case <-ctx.Done():
			tb.Fatalf("%d connections are open, want %d", p.open.Load(), open)
		}
	}
}

// behind is the config of a client of a proxy, which has every namespace.
func behind(p *proxy) servicebus.Config {
	return servicebus.Config{Endpoints: egress.Endpoints{Default: "amqp://" + p.Addr().String()}, KeyOptional: true}
}

// TestConnectionsAreShared shows that jobs share a connection, and links.
func TestConnectionsAreShared(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	client := newClient(t, behind(p))
	for _, queue := range []string{"q1", "q2", "q1", "q3"} {
		succeed(t, toQueue(t, client, queue), attempt())
	}
	if got := p.total.Load(); got != 1 {
		t.Errorf("%d connections for one key", got)
	}
	succeed(t, mustRead(t, client, "ServiceBusQueue", withKey("q1", "other", `"other"`)), attempt())
	if got := p.total.Load(); got != 2 {
		t.Errorf("%d connections for two keys", got)
	}
	client.Close()
	p.wait(t, 0)
	fail(t, toQueue(t, client, "q1"), 0, false, "the scheduler is stopping")
}

// TestHerd runs hundreds of attempts at once, of many jobs, on a client that has no connection yet.
func TestHerd(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	client := newClient(t, behind(p))
	const jobs, queues = 800, 4
	var group sync.WaitGroup
	for i := range jobs {
		action := toQueue(t, client, fmt.Sprint("q", i%queues))
		group.Go(func() {
			if result := invoke(t, action, keyed(fmt.Sprint("k", i))); result.Failed {
				t.Error(result.Message)
			}
		})
	}
	group.Wait()
	for i := range queues {
		ids := make(map[string]bool)
		for _, m := range receive(t, server, fmt.Sprint("q", i), jobs/queues) {
			ids[m.MessageID] = true
		}
		if len(ids) != jobs/queues {
			t.Errorf("q%d has %d different messages", i, len(ids))
		}
	}
	if got := p.total.Load(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

// TestHerdLosesConnection cuts the connection while a herd is under way: every attempt ends, and those after it succeed.
func TestHerdLosesConnection(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1")
	succeed(t, action, attempt())
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Count: 200, Delay: time.Minute})
	var group sync.WaitGroup
	var failed atomic.Int64
	for i := range 300 {
		group.Go(func() {
			if invoke(t, action, keyed(fmt.Sprint("k", i))).Failed {
				failed.Add(1)
			}
		})
	}
	eventually(t, func() bool { return len(server.Broker().Faults().All()) == 0 })
	server.Disconnect()
	group.Wait()
	if failed.Load() < 200 {
		t.Errorf("only %d attempts failed", failed.Load())
	}
	succeed(t, action, attempt())
}

// eventually waits until something is so.
func eventually(tb testing.TB, so func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatal("it did not come about")
		}
	}
}

// TestRestart stops the emulator between attempts, and starts it again at the same address.
func TestRestart(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	client := newClient(t, dev(server))
	action := toQueue(t, client, "q1", `"message":"hello"`)
	succeed(t, action, attempt())
	address := server.Addr()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		fail(t, action, 0, false, " failed: ", "connection ")
	}
	again := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true, Addr: address})
	succeed(t, action, attempt())
	receive(t, again, "q1", 1)
}

// TestDisconnect shows that a connection which broke while nothing was sent costs no attempt.
func TestDisconnect(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	client := newClient(t, behind(p))
	for i := range 3 {
		succeed(t, toQueue(t, client, "q1"), attempt())
		if got := p.total.Load(); got != int64(i+1) {
			t.Errorf("%d connections, want %d", got, i+1)
		}
		server.Disconnect()
		p.wait(t, 0)
	}
}

// TestIdle shows that what is idle is closed, and opened again when it is needed.
func TestIdle(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	config := behind(p)
	config.IdleAfter = 30 * time.Millisecond
	client := newClient(t, config)
	for range 3 {
		before := p.total.Load()
		succeed(t, toQueue(t, client, "q1"), attempt())
		succeed(t, toQueue(t, client, "q2"), attempt())
		p.wait(t, 0)
		if p.total.Load() == before {
			t.Error("a closed connection was used")
		}
	}
}

// TestMaxLinks has more destinations than there may be links.
func TestMaxLinks(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	config := behind(p)
	config.MaxLinks = 2
	client := newClient(t, config)
	action := func(i int) scheduler.Action {
		return mustRead(t, client, "ServiceBusQueue", withKey("q1", fmt.Sprint("n", i), `"k"`))
	}
	var group sync.WaitGroup
	for i := range 40 {
		a := action(i % 10)
		group.Go(func() {
			if result := invoke(t, a, attempt()); result.Failed {
				t.Error(result.Message)
			}
		})
	}
	group.Wait()
	p.wait(t, 2)

	// With all links in use, an attempt waits.
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Count: 2, Delay: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 2 {
		a := action(i)
		group.Go(func() { a.Invoke(ctx, attempt()) })
	}
	eventually(t, func() bool { return len(server.Broker().Faults().All()) == 0 })
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	result := invoke(t, action(2), at)
	wantFailure(t, result, 0, false, "timed out after 50ms while all links were in use")
	if !result.Blameless {
		t.Error("the namespace is blamed for what this process does elsewhere")
	}
	group.Go(func() {
		if result := invoke(t, action(3), attempt()); result.Failed {
			t.Error(result.Message)
		}
	})
	cancel()
	group.Wait()
}

// TestKeyChange changes a shared secret between attempts.
func TestKeyChange(t *testing.T) {
	server := strict(t)
	client := newClient(t, dev(server))
	action := mustRead(t, client, "ServiceBusQueue", withKey("q1", "send", `{"secretRef":"bus"}`))
	for _, step := range []struct {
		key string
		ok  bool
	}{{"wr0ng", false}, {"r1ght", true}, {"wr0ng", false}, {"r1ght", true}} {
		at := attempt()
		at.Shared = func(name string) (string, error) {
			if name != "bus" {
				return "", errors.New("no such secret")
			}
			return step.key, nil
		}
		if result := invoke(t, action, at); result.Failed == step.ok || !step.ok && result.Status != 401 {
			t.Errorf("%s: %+v", step.key, result)
		}
	}
}
