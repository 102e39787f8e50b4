package servicebus

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// text is a message.
func text(body string) *azservicebus.AMQPAnnotatedMessage {
	return &azservicebus.AMQPAnnotatedMessage{Body: azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte(body)}}}
}

// queueAt is a queue of an emulator behind a plain address.
func queueAt(tb testing.TB, address string) destination {
	tb.Helper()
	p := must.Get(parseEndpoint("amqp://" + address))(tb)
	return destination{account{p, emulatorName, emulatorKey}, "q1"}
}

// current returns the link that attempts use, and waits for one unlike another.
func current(tb testing.TB, ls *Client, to destination, unlike *link) *link {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < 10*time.Second; <-tick.C {
		lease := must.Get(ls.acquire(tb.Context(), to))(tb)
		lease.Release()
		if lease.Conn != unlike {
			return lease.Conn
		}
	}
	tb.Fatal("no link")
	return nil
}

// TestRenewal shows that a link in use gets a successor on the same connection before it is too old, and that sends do not notice.
func TestRenewal(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	client := newClient(Config{}, times{open: time.Minute, renew: 50 * time.Millisecond, most: time.Hour, linger: time.Minute})
	defer client.Close()
	ls := client
	to := queueAt(t, server.Addr())

	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var sent atomic.Int64
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := ls.send(t.Context(), to, text("x")); err != nil { //nolint:contextcheck // ctx ends the loop, not a send
					t.Error(err)
				}
				sent.Add(1)
			}
		})
	}
	first := current(t, ls, to, nil)
	second := current(t, ls, to, first)
	third := current(t, ls, to, second)
	cancel()
	group.Wait()
	if first.connection != third.connection {
		t.Error("a new connection for a new link")
	}
	<-first.ctx.Done() // it was closed
	if queue, err := server.Broker().Entity("q1"); err != nil || queue.Usage.Active != sent.Load() {
		t.Errorf("%+v has not %d messages, %v", queue, sent.Load(), err)
	}
}

// TestTimeoutKeepsLink shows that an attempt which ran out of time leaves the link to the others.
func TestTimeoutKeepsLink(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	client := New(Config{})
	defer client.Close()
	ls := client
	to := queueAt(t, server.Addr())
	must.Do(t, ls.send(t.Context(), to, text("x")))
	l := current(t, ls, to, nil)
	server.Inject(emulator.Fault{Operation: "send", Delay: 200 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, ok := errors.AsType[*interruption](ls.send(ctx, to, text("x"))); !ok {
		t.Error("not interrupted")
	}
	if err := ls.send(t.Context(), to, text("x")); err != nil {
		t.Error(err)
	}
	if current(t, ls, to, nil) != l {
		t.Error("the link was given up")
	}
}

// TestRenewalRefused revokes what a link needs: its successor finds out, and attempts are told.
func TestRenewalRefused(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{Entities: emulator.Entities{Queues: []emulator.Queue{{Name: "q1"}}}})
	const renew = 100 * time.Millisecond
	client := newClient(Config{}, times{open: time.Minute, renew: renew, most: time.Hour, linger: time.Minute})
	defer client.Close()
	ls := client
	to := queueAt(t, server.Addr())
	refuse := func(condition string, times int) {
		server.Inject(emulator.Fault{Operation: "attach", Condition: emulator.Condition(condition), Count: times})
	}
	must.Do(t, ls.send(t.Context(), to, text("x")))
	old := current(t, ls, to, nil)
	refuse("amqp:unauthorized-access", -1)
	for old.ctx.Err() == nil { // until it is dropped and closed
		if err := ls.send(t.Context(), to, text("x")); err != nil && classify(err).Status != 401 {
			t.Fatal(err)
		}
	}
	if v := classify(ls.send(t.Context(), to, text("x"))); v.Status != 401 {
		t.Errorf("%+v", v)
	}
	server.Heal()

	// What may pass costs nothing.
	must.Do(t, ls.send(t.Context(), to, text("x")))
	old = current(t, ls, to, nil)
	const plenty = 1000
	refuse("com.microsoft:server-busy", plenty)
	for begun := time.Now(); time.Since(begun) < 3*renew; {
		must.Do(t, ls.send(t.Context(), to, text("x")))
	}
	if current(t, ls, to, nil) != old {
		t.Error("a link that works was given up")
	}
	if left := server.Broker().Faults().All()[0].Count; left == plenty {
		t.Error("no successor was tried")
	}
}

// TestStuckConnection has a service that stops reading: attempts end in time, and what they leave in the SDK ends with the
// connection, which is cut.
func TestStuckConnection(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	address, stall := stalling(t, server.Addr())
	brief := defaultTimes
	brief.linger = 50 * time.Millisecond
	client := newClient(Config{}, brief)
	defer client.Close()
	ls := client
	to := queueAt(t, address)
	must.Do(t, ls.send(t.Context(), to, text("x")))
	old := current(t, ls, to, nil)
	stall()
	large := text(strings.Repeat("x", 900_000))
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			begun := time.Now()
			if err := ls.send(ctx, to, large); err == nil {
				t.Error("sent to one who does not read")
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	group.Wait()
	select {
	case <-old.ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the connection was not cut")
	}
	if err := ls.send(t.Context(), to, text("x")); err != nil {
		t.Error(err)
	}
}

// stalling returns the address of a proxy, and a function after which it passes nothing more on from the connections it has.
func stalling(tb testing.TB, target string) (address string, stall func()) {
	tb.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(tb)
	var group sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	var stalled []chan struct{}
	group.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			stop := make(chan struct{})
			mu.Lock()
			conns, stalled = append(conns, in, out), append(stalled, stop)
			mu.Unlock()
			group.Go(func() { _, _ = io.Copy(in, out) })
			group.Go(func() { _, _ = io.Copy(stoppable{out, stop}, in) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		group.Wait()
	})
	return listener.Addr().String(), func() {
		mu.Lock()
		defer mu.Unlock()
		for _, stop := range stalled {
			close(stop)
		}
		stalled = nil
	}
}

// stoppable is a connection that takes nothing more once it is stopped.
type stoppable struct {
	net.Conn

	stop <-chan struct{}
}

func (s stoppable) Write(b []byte) (int, error) {
	select {
	case <-s.stop:
		return 0, io.ErrShortWrite
	default:
		return s.Conn.Write(b)
	}
}
