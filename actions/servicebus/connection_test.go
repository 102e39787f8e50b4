package servicebus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
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
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(tb)
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

// wait waits until no connection is open.
func (p *proxy) wait(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for p.open.Load() != 0 {
		select {
		case <-p.changed:
		case <-ctx.Done():
			tb.Fatalf("%d connections are open, want none", p.open.Load())
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
	p.wait(t)
	fail(t, toQueue(t, client, "q1"), 0, false, "the scheduler is stopping")
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
	must.Await(t, "all faults to have happened", func() bool { return len(server.Broker().Faults().All()) == 0 })
	server.Disconnect()
	group.Wait()
	if failed.Load() < 200 {
		t.Errorf("only %d attempts failed", failed.Load())
	}
	succeed(t, action, attempt())
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
		p.wait(t)
	}
}

// TestIdle shows that what is idle is closed.
func TestIdle(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	config := behind(p)
	config.IdleAfter = 30 * time.Millisecond
	succeed(t, toQueue(t, newClient(t, config), "q1"), attempt())
	p.wait(t)
}

// TestMaxLinks has attempts that wait for a link, and do not blame the namespace for it.
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
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Count: 2, Delay: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 2 {
		a := action(i)
		group.Go(func() { a.Invoke(ctx, attempt()) })
	}
	must.Await(t, "all faults to have happened", func() bool { return len(server.Broker().Faults().All()) == 0 })
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	result := invoke(t, action(2), at)
	wantFailure(t, result, 0, false, "timed out after 50ms while all links were in use")
	if !result.SkipCircuit {
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

// TestTimeouts ends attempts at every stage: none lasts much longer than its context, and the client closes soon.
func TestTimeouts(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	stages := map[string]struct {
		namespace string
		fault     emulator.Fault
		warm      bool // with an open link
		stage     string
	}{
		"attach": {"amqp://" + server.Addr(), emulator.Fault{Operation: emulator.OpAttach, Delay: time.Minute}, false, " while connecting"},
		"send":   {"amqp://" + server.Addr(), emulator.Fault{Operation: emulator.OpSend, Delay: time.Minute}, true, " while waiting for the acknowledgement; the message may have arrived"},
	}
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, servicebus.Config{KeyOptional: true})
			action := mustRead(t, client, "ServiceBusQueue", `{"serviceBusQueueMessage":{"namespace":"`+stage.namespace+`","queueName":"q1"}}`)
			if stage.warm {
				succeed(t, action, attempt())
			}
			if stage.fault.Delay > 0 {
				stage.fault.Count = 2
				server.Inject(stage.fault)
				defer server.Heal()
			}
			at := attempt()
			at.Timeout = 100 * time.Millisecond
			result := invoke(t, action, at)
			wantFailure(t, result, 0, false, " failed: timed out after 100ms"+stage.stage)
			if result.SkipCircuit {
				t.Error("a timeout is nobody's fault")
			}
			if result.Duration > 10*time.Second {
				t.Errorf("timed out after %v", result.Duration)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("the worker is stopping")) })
			result = actiontest.Invoke(ctx, action, attempt())
			wantFailure(t, result, 0, false, " failed: canceled"+stage.stage+": the worker is stopping")
			if result.Duration > 10*time.Second {
				t.Errorf("canceled after %v", result.Duration)
			}
			begun := time.Now()
			client.Close()
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("closed after %v", took)
			}
		})
	}
}

// TestCloseEndsAttempts closes the client while attempts wait.
func TestCloseEndsAttempts(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1")
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Count: 10, Delay: time.Minute})
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() { wantFailure(t, invoke(t, action, attempt()), 0, false, "the scheduler is stopping") })
	}
	must.Await(t, "all faults to have happened", func() bool { return len(server.Broker().Faults().All()) == 0 })
	client.Close()
	group.Wait()
}

// TestHostileFrames has services that send frames without end, at each stage. The SDK would keep them until they are whole.
func TestHostileFrames(t *testing.T) {
	huge := []byte{0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0}
	sasl := []byte("AMQP\x03\x01\x00\x00")
	mechanisms := []byte{ // one symbol array with ANONYMOUS and PLAIN
		0, 0, 0, 37, 2, 1, 0, 0, 0, 0x53, 0x40, 0xc0, 24, 1, 0xe0, 21, 2, 0xb3,
		0, 0, 0, 9, 'A', 'N', 'O', 'N', 'Y', 'M', 'O', 'U', 'S',
		0, 0, 0, 5, 'P', 'L', 'A', 'I', 'N',
	}
	mechanisms[3], mechanisms[12], mechanisms[15] = byte(len(mechanisms)), byte(len(mechanisms)-13), byte(len(mechanisms)-16)
	for name, first := range map[string][]byte{
		"at once":         huge,
		"after a header":  append(bytes.Clone(sasl), huge...),
		"after the names": append(append(bytes.Clone(sasl), mechanisms...), huge...),
		"just too much":   append(bytes.Clone(sasl), 0, 0x10, 0, 1, 2, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			address := actiontest.Listen(t, func(conn net.Conn) {
				_, err := io.ReadFull(conn, make([]byte, 8))
				for part := first; err == nil; part = make([]byte, 64<<10) {
					_, err = conn.Write(part)
				}
			})
			action := actiontest.MustRead(t, newClient(t, servicebus.Config{}), "ServiceBusQueue", place("amqp://"+address))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result := actiontest.Invoke(t.Context(), action, attempt())
			runtime.ReadMemStats(&after)
			if !result.Failed || name != "at once" && !strings.Contains(result.Message, "the service sends a frame of more than 1048576 bytes") {
				t.Errorf("got %+v", result)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were taken", n>>20)
			}
		})
	}
}
