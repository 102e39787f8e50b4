package protocol_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// patience bounds every wait on the server.
const patience = time.Minute

// A harness is a server with one queue.
type harness struct {
	broker *broker.Broker
	server *protocol.Server
	addr   string
}

func newHarness(tb testing.TB, change ...func(*protocol.Config)) *harness {
	tb.Helper()
	b := broker.New(broker.Config{})
	must.Do(tb, b.Load())
	must.Get(b.CreateQueue("orders", broker.Options{}))(tb)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	config := protocol.Config{Broker: b}
	for _, f := range change {
		f(&config)
	}
	server := protocol.New(config)
	listener := must.Get(new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0"))(tb)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	tb.Cleanup(func() {
		server.Close()
		cancel()
		if err := <-served; err != nil {
			tb.Error(err)
		}
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	})
	return &harness{broker: b, server: server, addr: listener.Addr().String()}
}

// A peer is a client that says exactly what a test wants.
type peer struct {
	tb     testing.TB
	socket net.Conn
	reader *amqp.Reader
	next   uint32 // delivery id
	seen   uint32 // transfers
}

func (w *harness) dial(tb testing.TB) *peer {
	tb.Helper()
	socket := must.Get(new(net.Dialer).DialContext(tb.Context(), "tcp", w.addr))(tb)
	tb.Cleanup(func() { socket.Close() })
	must.Do(tb, socket.SetDeadline(time.Now().Add(patience)))
	return &peer{tb: tb, socket: socket, reader: amqp.NewReader(socket, 1<<20)}
}

// begun returns a peer with a connection and a session, whose window it gives.
func (w *harness) begun(tb testing.TB, open amqp.Open, window uint32) *peer {
	tb.Helper()
	p := w.dial(tb)
	p.begin(open, window)
	return p
}

// begin begins the connection and a session, whose window it gives.
func (p *peer) begin(open amqp.Open, window uint32) {
	p.tb.Helper()
	p.write(amqp.HeaderAMQP[:])
	p.header(amqp.HeaderAMQP)
	open.ContainerID = p.tb.Name()
	if open.MaxFrameSize == 0 {
		open.MaxFrameSize = 1 << 20
	}
	p.send(&open, nil)
	expect[*amqp.Open](p)
	p.send(&amqp.Begin{IncomingWindow: window, OutgoingWindow: 1000, HandleMax: 10}, nil)
	expect[*amqp.Begin](p)
}

func (w *harness) connect(tb testing.TB) *peer {
	tb.Helper()
	return w.begun(tb, amqp.Open{}, 1000)
}

func (p *peer) write(b []byte) {
	p.tb.Helper()
	must.Get(p.socket.Write(b))(p.tb)
}

func (p *peer) header(want amqp.ProtocolHeader) {
	p.tb.Helper()
	got, err := p.reader.Header()
	if err != nil || got != want {
		p.tb.Fatalf("header %q, %v", got, err)
	}
}

func (p *peer) send(performative amqp.Performative, payload []byte) {
	p.tb.Helper()
	p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, performative, payload))
}

// frame returns the next frame that is no heartbeat, or an error at the end of the connection.
func (p *peer) frame() (amqp.Performative, []byte, error) {
	p.tb.Helper()
	for {
		frame, err := p.reader.Frame()
		if err != nil {
			return nil, nil, err
		}
		if len(frame.Body) > 0 {
			performative, payload, err := amqp.Decode(frame.Body)
			return performative, append([]byte{}, payload...), err
		}
	}
}

// expect skips frames until one has the performative that is due.
func expect[T amqp.Performative](p *peer) T {
	p.tb.Helper()
	got, _ := expectPayload[T](p)
	return got
}

func expectPayload[T amqp.Performative](p *peer) (T, []byte) {
	p.tb.Helper()
	for {
		performative, payload, err := p.frame()
		if err != nil {
			var none T
			p.tb.Fatalf("no %T: %v", none, err)
		}
		if got, ok := performative.(T); ok {
			return got, payload
		}
	}
}

// ended checks that the server closes the connection with a condition, or none.
func (p *peer) ended(condition amqp.Symbol) {
	p.tb.Helper()
	for {
		performative, _, err := p.frame()
		if err != nil {
			p.tb.Fatal("no close before the end: ", err)
		}
		if last, ok := performative.(*amqp.Close); ok {
			if got := conditionOf(last.Error); got != condition {
				p.tb.Fatalf("closed with %q, want %q", got, condition)
			}
			return
		}
	}
}

func conditionOf(e *amqp.Error) amqp.Symbol {
	if e == nil {
		return ""
	}
	return e.Condition
}

// attachSender begins a link to an address on handle 0 and waits for credit.
func (p *peer) attachSender(handle uint32, target *amqp.Terminus) {
	p.tb.Helper()
	p.send(&amqp.Attach{Name: p.tb.Name() + target.Address, Handle: handle, Target: target, Source: &amqp.Terminus{}}, nil)
	expect[*amqp.Attach](p)
	if flow := expect[*amqp.Flow](p); flow.LinkCredit.Value == 0 {
		p.tb.Fatal("no credit")
	}
}

// attachReceiver begins a link from an address.
func (p *peer) attachReceiver(handle uint32, address string) {
	p.tb.Helper()
	p.send(&amqp.Attach{
		Name: p.tb.Name() + address + "/receiver", Handle: handle, Receiver: true, RcvSettleMode: amqp.ReceiverSecond,
		Source: &amqp.Terminus{Address: address}, Target: &amqp.Terminus{Address: "reply"},
	}, nil)
	expect[*amqp.Attach](p)
}

func (p *peer) credit(handle, credit uint32) {
	p.tb.Helper()
	p.send(&amqp.Flow{
		NextIncomingID: amqp.Some(0), IncomingWindow: 1000, OutgoingWindow: 1000,
		Handle: amqp.Some(handle), DeliveryCount: amqp.Some(0), LinkCredit: amqp.Some(credit),
	}, nil)
}

// transfer sends a message and returns the server's verdict.
func (p *peer) transfer(handle uint32, state amqp.State, raw []byte) amqp.State {
	p.tb.Helper()
	id := p.next
	p.next++
	p.send(&amqp.Transfer{
		Handle: handle, DeliveryID: amqp.Some(id), DeliveryTag: []byte{byte(id)}, MessageFormat: amqp.Some(0), State: state,
	}, raw)
	verdict := expect[*amqp.Disposition](p)
	if verdict.First != id || !verdict.Settled {
		p.tb.Fatalf("%+v is not the verdict on %d", verdict, id)
	}
	return verdict.State
}

func data(text string) []byte { return amqp.AppendData(nil, []byte(text)) }
