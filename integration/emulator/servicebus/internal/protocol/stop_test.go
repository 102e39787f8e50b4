package protocol_test

import (
	"net"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

// TestStopDuringSend shows what a client with a send under way is told when the server stops: its message is rejected, its links are
// detached, and the connection is closed, each with an error. JavaScript's clients wait for the first, for a minute and more.
func TestStopDuringSend(t *testing.T) {
	w := newWorld(t)
	p := w.connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.attachReceiver(1, "orders")
	w.broker.Faults().Add(fault.Fault{Operation: fault.OpSend, Count: -1, Delay: time.Hour})
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(0), DeliveryTag: []byte{0}}, data("under way"))
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(1), DeliveryTag: []byte{1}, More: true}, data("a part")[:5])
	p.send(&amqp.Flow{IncomingWindow: 1000, Handle: amqp.Some(0), Echo: true}, nil)
	expect[*amqp.Flow](p) // all of it has come
	stopped := make(chan bool)
	go func() {
		w.server.Close()
		close(stopped)
	}()
	verdict := expect[*amqp.Disposition](p)
	if got, ok := verdict.State.(amqp.Rejected); !ok || verdict.First != 0 || verdict.Last != 0 || conditionOf(got.Error) != "amqp:link:detach-forced" {
		t.Errorf("%+v", verdict)
	}
	for range 2 {
		if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:link:detach-forced" {
			t.Errorf("%+v", got)
		}
	}
	p.ended("amqp:connection:forced")
	p.socket.Close()
	<-stopped
}

// TestRefusalInTwoPieces shows that the reason of a refused link, here one for a session that another client has, comes a moment after
// the answer to its attach: JavaScript's older clients do not find it otherwise.
func TestRefusalInTwoPieces(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := inBubble(t)
		asked := &amqp.Attach{
			Name: "r", Receiver: true, Source: &amqp.Terminus{
				Address: "sessions", Filter: amqp.Map{{Key: amqp.Symbol("com.microsoft:session-filter"), Value: "s"}},
			},
		}
		p.send(asked, nil)
		expect[*amqp.Attach](p)
		asked.Name, asked.Handle = "another", 1
		p.send(asked, nil)
		if got := expect[*amqp.Attach](p); got.Source != nil {
			t.Errorf("%+v", got)
		}
		answered := time.Now()
		if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "com.microsoft:session-cannot-be-locked" || time.Since(answered) == 0 {
			t.Errorf("%+v after %v", got, time.Since(answered))
		}
	})
}

// inBubble returns a peer of a server within the bubble of the test. There are the queues "orders" and "sessions".
func inBubble(t *testing.T, change ...func(*protocol.Config)) *peer {
	t.Helper()
	b := broker.New(broker.Config{})
	if err := b.Load(); err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]broker.Options{"orders": {}, "sessions": {RequiresSession: true}} {
		if _, err := b.CreateQueue(name, options); err != nil {
			t.Fatal(err)
		}
	}
	config := protocol.Config{Broker: b}
	for _, f := range change {
		f(&config)
	}
	server := protocol.New(config)
	client, served := net.Pipe()
	go server.ServeConn(served)
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	p := &peer{tb: t, socket: client, reader: amqp.NewReader(client, 1<<20)}
	p.begin(amqp.Open{}, 1000)
	return p
}
