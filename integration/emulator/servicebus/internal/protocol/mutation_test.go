package protocol_test

import (
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// spoken is what a client says that uses most of what there is: SASL, tokens, links of all kinds, requests, messages in parts, batches,
// verdicts, transactions, and the ends of all of it.
func spoken() [][]byte {
	frame := func(p amqp.Performative, payload []byte) []byte {
		return amqp.AppendFrame(nil, amqp.FrameAMQP, 0, p, payload)
	}
	attach := func(handle uint32, p amqp.Attach) []byte {
		p.Name, p.Handle = string(rune('a'+handle)), handle
		return frame(&p, nil)
	}
	transfer := func(handle, id uint32, payload []byte) []byte {
		return frame(&amqp.Transfer{Handle: handle, DeliveryID: amqp.Some(id), DeliveryTag: []byte{byte(id)}, MessageFormat: amqp.Some(0)}, payload)
	}
	properties := amqp.AppendApplicationProperties(nil, amqp.Map{
		{Key: "n", Value: int64(1)}, {Key: "s", Value: "text"}, {Key: "u", Value: amqp.UUID{1}}, {Key: "t", Value: time.UnixMilli(1)},
	})
	peek := unaddressed(amqp.UUID{1}, amqp.Map{{Key: "operation", Value: "com.microsoft:peek-message"}},
		amqp.Map{{Key: "from-sequence-number", Value: int64(0)}, {Key: "message-count", Value: int32(10)}})
	token := unaddressed(amqp.UUID{2}, amqp.Map{{Key: "operation", Value: "put-token"}, {Key: "name", Value: "sb://h/orders"}}, "token")
	batch := amqp.AppendData(amqp.AppendData(nil, data("one")), data("two"))
	return [][]byte{
		amqp.HeaderSASL[:],
		amqp.AppendFrame(nil, amqp.FrameSASL, 0, &amqp.SASLInit{Mechanism: "ANONYMOUS", Response: []byte("anonymous")}, nil),
		amqp.HeaderAMQP[:],
		frame(&amqp.Open{ContainerID: "c", Hostname: "h", MaxFrameSize: 65536, IdleTimeout: 30_000}, nil),
		frame(&amqp.Begin{IncomingWindow: 100, OutgoingWindow: 100, HandleMax: 100}, nil),
		attach(0, amqp.Attach{Target: &amqp.Terminus{Address: "orders"}, Source: &amqp.Terminus{}}),
		attach(1, amqp.Attach{Receiver: true, RcvSettleMode: amqp.ReceiverSecond, Source: &amqp.Terminus{Address: "orders"}}),
		attach(2, amqp.Attach{Target: &amqp.Terminus{Address: "orders/$management"}}),
		attach(3, amqp.Attach{Receiver: true, Source: &amqp.Terminus{Address: "orders/$management"}, Target: &amqp.Terminus{Address: "r"}}),
		attach(4, amqp.Attach{Target: &amqp.Terminus{Coordinator: true, Capabilities: []amqp.Symbol{"amqp:local-transactions"}}}),
		attach(5, amqp.Attach{Target: &amqp.Terminus{Address: "$cbs"}}),
		attach(6, amqp.Attach{Receiver: true, Source: &amqp.Terminus{
			Address: "sessions", Filter: amqp.Map{{Key: amqp.Symbol("com.microsoft:session-filter"), Value: nil}},
		}, Properties: amqp.Map{{Key: amqp.Symbol("com.microsoft:timeout"), Value: uint32(1)}}}),
		frame(&amqp.Flow{
			NextIncomingID: amqp.Some(0), IncomingWindow: 100, OutgoingWindow: 100, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0),
			LinkCredit: amqp.Some(10), Drain: true, Echo: true,
		}, nil),
		frame(&amqp.Flow{NextIncomingID: amqp.Some(0), IncomingWindow: 100, Handle: amqp.Some(3), LinkCredit: amqp.Some(10)}, nil),
		transfer(0, 0, append(properties, data("x")...)),
		frame(&amqp.Transfer{DeliveryID: amqp.Some(1), DeliveryTag: []byte{1}, More: true}, data("parts")[:4]),
		frame(&amqp.Transfer{More: false}, data("parts")[4:]),
		frame(&amqp.Transfer{DeliveryID: amqp.Some(2), DeliveryTag: []byte{2}, MessageFormat: amqp.Some(amqp.BatchFormat)}, batch),
		transfer(2, 3, peek),
		transfer(5, 4, token),
		transfer(4, 5, amqp.Declare{}.Append(nil)),
		transfer(4, 6, amqp.Discharge{TxnID: []byte{0, 0, 0, 0, 0, 0, 0, 1}, Fail: true}.Append(nil)),
		frame(&amqp.Disposition{Receiver: true, Last: 3, State: amqp.Accepted{}}, nil),
		frame(&amqp.Disposition{Receiver: true, First: 1, Last: 2, Settled: true, State: amqp.Modified{
			UndeliverableHere: true, Annotations: amqp.Map{{Key: amqp.Symbol("k"), Value: "v"}},
		}}, nil),
		frame(&amqp.Disposition{Receiver: true, Last: 9, State: amqp.Rejected{Error: &amqp.Error{Condition: "c", Description: "d"}}}, nil),
		frame(&amqp.Detach{Handle: 1, Closed: true}, nil),
		frame(&amqp.End{}, nil),
		frame(&amqp.Begin{IncomingWindow: 1, OutgoingWindow: 1}, nil),
		frame(&amqp.Close{}, nil),
	}
}

// mutated returns what a client says with a few mistakes: frames that are missing, twice, in another order or cut short, and bytes that
// have changed.
func mutated(random *rand.Rand, frames [][]byte) []byte {
	said := append([][]byte{}, frames...)
	for range random.IntN(4) {
		at, other := random.IntN(len(said)), random.IntN(len(said))
		switch random.IntN(3) {
		case 0:
			said[at] = nil
		case 1:
			said[at], said[other] = said[other], said[at]
		case 2:
			said[at] = append(append([]byte{}, said[at]...), said[other]...)
		}
	}
	var out []byte
	for _, frame := range said {
		out = append(out, frame...)
	}
	if len(out) == 0 {
		return nil
	}
	for range random.IntN(6) {
		at := random.IntN(len(out))
		switch random.IntN(4) {
		case 0:
			out[at] ^= 1 << random.IntN(8)
		case 1:
			out[at] = []byte{0, 0x40, 0x45, 0x7f, 0x80, 0xa1, 0xb1, 0xc1, 0xd0, 0xd1, 0xf0, 0xff}[random.IntN(12)]
		case 2:
			out = append(out[:at], out[min(at+random.IntN(8), len(out)):]...)
		case 3:
			out = append(out[:at:at], append(make([]byte, random.IntN(8)), out[at:]...)...)
		}
		if len(out) == 0 {
			return nil
		}
	}
	return out
}

// TestMutatedFrames shows that whatever clients send ends no more than their own connection: nothing panics, no connection and no
// memory is left, and another client goes on.
func TestMutatedFrames(t *testing.T) {
	clients := 20_000
	if testing.Short() {
		clients = 2000
	}
	w := newHarness(t, func(c *protocol.Config) { c.WriteTimeout, c.HandshakeTimeout = 5*time.Second, 5*time.Second })
	must.Get(w.broker.CreateQueue("sessions", broker.Options{RequiresSession: true}))(t)
	beside := w.connect(t)
	beside.attachSender(0, &amqp.Terminus{Address: "sessions"})
	random := rand.New(rand.NewPCG(7, uint64(clients)))
	frames := spoken()
	var before uint64
	for i := range clients {
		if i == clients/10 {
			before = heap(t, w)
		}
		client, server := net.Pipe()
		ended := make(chan bool)
		go func() {
			w.server.ServeConn(undated{server})
			close(ended)
		}()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		_, _ = client.Write(mutated(random, frames))
		client.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("client %d is served still", i)
		}
	}
	if after := heap(t, w); after > before+(8<<20) {
		t.Errorf("%d bytes of memory at the beginning, %d at the end", before, after)
	}
	if n := w.server.Connections(); n != 1 {
		t.Errorf("%d connections are left", n)
	}
	if got, ok := beside.transfer(0, nil, data("no session")).(amqp.Rejected); !ok || got.Error.Condition != "amqp:not-allowed" {
		t.Errorf("%+v", got)
	}
}

// undated is a connection without deadlines, whose timers would outlive it when it is a pipe.
type undated struct{ net.Conn }

func (undated) SetDeadline(time.Time) error      { return nil }
func (undated) SetReadDeadline(time.Time) error  { return nil }
func (undated) SetWriteDeadline(time.Time) error { return nil }

// heap returns what memory is in use when the messages are gone.
func heap(t *testing.T, w *harness) uint64 {
	t.Helper()
	must.Do(t, w.broker.Delete("orders"))
	must.Get(w.broker.CreateQueue("orders", broker.Options{}))(t)
	runtime.GC() //nolint:revive // what is garbage is not counted
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// FuzzConnection sends whatever comes to mind after a proper beginning, and checks that the server ends the connection.
func FuzzConnection(f *testing.F) {
	for _, p := range []amqp.Performative{
		&amqp.Attach{Name: "s", Target: &amqp.Terminus{Address: "orders"}},
		&amqp.Attach{Name: "r", Handle: 1, Receiver: true, Source: &amqp.Terminus{Address: "orders"}},
		&amqp.Attach{Name: "t", Handle: 2, Target: &amqp.Terminus{Coordinator: true}},
		&amqp.Attach{Name: "m", Handle: 3, Target: &amqp.Terminus{Address: "orders/$management"}},
		&amqp.Flow{Handle: amqp.Some(1), LinkCredit: amqp.Some(5), Drain: true, Echo: true},
		&amqp.Transfer{DeliveryID: amqp.Some(0), DeliveryTag: []byte{1}},
		&amqp.Disposition{Receiver: true, Last: 1 << 31, State: amqp.Accepted{}},
		&amqp.Detach{}, &amqp.End{}, &amqp.Close{},
	} {
		f.Add(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, p, amqp.AppendData(nil, []byte("x"))))
	}
	attached := amqp.AppendFrame(nil, amqp.FrameAMQP, 0, &amqp.Attach{Name: "s", Target: &amqp.Terminus{Address: "orders"}}, nil)
	f.Add(amqp.AppendFrame(attached, amqp.FrameAMQP, 0, &amqp.Transfer{DeliveryID: amqp.Some(0)}, amqp.AppendData(nil, []byte("x"))))
	w := newHarness(f, func(c *protocol.Config) { c.WriteTimeout = time.Second })
	f.Fuzz(func(t *testing.T, input []byte) {
		client, server := net.Pipe()
		ended := make(chan bool)
		go func() {
			w.server.ServeConn(server)
			close(ended)
		}()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		opening := append([]byte{}, amqp.HeaderAMQP[:]...)
		opening = amqp.AppendFrame(opening, amqp.FrameAMQP, 0, &amqp.Open{ContainerID: "c", MaxFrameSize: 1 << 16}, nil)
		opening = amqp.AppendFrame(opening, amqp.FrameAMQP, 0, &amqp.Begin{IncomingWindow: 10, OutgoingWindow: 10}, nil)
		_, _ = client.Write(append(opening, input...))
		client.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("the connection lives on")
		}
	})
}
