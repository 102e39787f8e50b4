package protocol_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// login runs the SASL exchange and returns its outcome.
func login(p *peer, mechanism amqp.Symbol, response string) uint8 {
	p.tb.Helper()
	p.write(amqp.HeaderSASL[:])
	p.header(amqp.HeaderSASL)
	frame := must.Get(p.reader.Frame())(p.tb)
	offer, err := amqp.DecodeSASL(frame.Body)
	if err != nil || len(offer.(*amqp.SASLMechanisms).Mechanisms) < 3 {
		p.tb.Fatal(offer, err)
	}
	p.write(amqp.AppendFrame(nil, amqp.FrameSASL, 0, &amqp.SASLInit{Mechanism: mechanism, Response: []byte(response)}, nil))
	frame = must.Get(p.reader.Frame())(p.tb)
	outcome := must.Get(amqp.DecodeSASL(frame.Body))(p.tb)
	return outcome.(*amqp.SASLOutcome).Code
}

func TestSASL(t *testing.T) {
	w := newHarness(t, func(c *protocol.Config) {
		c.Keys = auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	})
	for _, test := range []struct {
		mechanism amqp.Symbol
		response  string
		want      uint8
	}{
		{"ANONYMOUS", "anonymous", 0},
		{"MSSBCBS", "", 0},
		{"PLAIN", "\x00root\x00key", 0},
		{"PLAIN", "\x00root\x00wrong", 1},
		{"PLAIN", "root key", 1},
		{"SCRAM-SHA-256", "", 1},
	} {
		if got := login(w.dial(t), test.mechanism, test.response); got != test.want {
			t.Errorf("%s %q: outcome %d", test.mechanism, test.response, got)
		}
	}
}

// TestPlainNeedsNoToken shows that a key given to SASL is enough in strict mode, and nothing is not.
func TestPlainNeedsNoToken(t *testing.T) {
	w := newHarness(t, func(c *protocol.Config) {
		c.Keys = auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	})
	p := w.connect(t)
	p.send(&amqp.Attach{Name: "s", Target: &amqp.Terminus{Address: "orders"}}, nil)
	if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:unauthorized-access" {
		t.Errorf("%+v", got.Error)
	}
	p = w.dial(t)
	login(p, "PLAIN", "\x00root\x00key")
	p.write(amqp.HeaderAMQP[:])
	p.header(amqp.HeaderAMQP)
	p.send(&amqp.Open{ContainerID: "c", MaxFrameSize: 4096}, nil)
	p.send(&amqp.Begin{IncomingWindow: 10, OutgoingWindow: 10}, nil)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
}

// TestGarbage shows that a client which breaks the rules is told and cut off, and that others do not notice.
func TestGarbage(t *testing.T) {
	w := newHarness(t)
	bystander := w.connect(t)
	bystander.attachSender(0, &amqp.Terminus{Address: "orders"})
	frame := func(p amqp.Performative) []byte { return amqp.AppendFrame(nil, amqp.FrameAMQP, 0, p, nil) }
	for name, test := range map[string]struct {
		input []byte
		want  amqp.Symbol
	}{
		"a frame too large":            {[]byte{0x7f, 0, 0, 0, 2, 0, 0, 0}, "amqp:connection:framing-error"},
		"a frame too small":            {[]byte{0, 0, 0, 1, 2, 0, 0, 0}, "amqp:connection:framing-error"},
		"a body that is none":          {[]byte{0, 0, 0, 10, 2, 0, 0, 0, 0xff, 0xff}, "amqp:connection:framing-error"},
		"a SASL frame":                 {[]byte{0, 0, 0, 8, 2, 1, 0, 0}, "amqp:connection:framing-error"},
		"a second open":                {frame(&amqp.Open{}), "amqp:connection:framing-error"},
		"a second begin":               {frame(&amqp.Begin{}), "amqp:connection:framing-error"},
		"a session that was not begun": {amqp.AppendFrame(nil, amqp.FrameAMQP, 7, &amqp.Flow{}, nil), "amqp:connection:framing-error"},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.connect(t)
			p.write(test.input)
			p.ended(test.want)
		})
	}
	if got := bystander.transfer(0, nil, data("x")); got != (amqp.Accepted{}) {
		t.Error(got)
	}
}

func TestWrongProtocol(t *testing.T) {
	w := newHarness(t)
	p := w.dial(t)
	p.write([]byte("GET / HTTP/1.1\r\n\r\n"))
	p.header(amqp.HeaderSASL)
	must.Get(io.ReadAll(p.socket))(t)
}

// TestSilentClient shows that a client which says nothing is cut off, and one that sends heartbeats is not.
func TestSilentClient(t *testing.T) {
	w := newHarness(t, func(c *protocol.Config) { c.IdleTimeout = time.Second })
	alive, silent := w.connect(t), w.connect(t)
	var beating sync.WaitGroup
	stop := make(chan struct{})
	beating.Go(func() {
		beat := time.NewTicker(20 * time.Millisecond)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				_, _ = alive.socket.Write(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, nil, nil)) // what follows shows an error
			case <-stop:
				return
			}
		}
	})
	silent.ended("amqp:connection:forced")
	close(stop)
	beating.Wait()
	alive.send(&amqp.Close{}, nil)
	alive.ended("")
}

// TestHeartbeats shows that the server keeps a connection alive for a client that wants to hear from it.
func TestHeartbeats(t *testing.T) {
	p := newHarness(t).begun(t, amqp.Open{IdleTimeout: 60}, 10)
	for range 4 {
		frame, err := p.reader.Frame()
		if err != nil || len(frame.Body) != 0 {
			t.Fatal(frame, err)
		}
	}
}

// TestStalledClient shows that a client which does not read is cut off, while what is buffered for it stays bounded.
func TestStalledClient(t *testing.T) {
	w := newHarness(t, func(c *protocol.Config) { c.WriteTimeout = 200 * time.Millisecond })
	p := w.begun(t, amqp.Open{}, 1<<30)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	for range 400 {
		p.transfer(0, nil, amqp.AppendData(nil, make([]byte, 60<<10)))
	}
	p.attachReceiver(1, "orders")
	p.credit(1, 1000)
	must.Await(t, "the end of the connection", func() bool { return w.server.Connections() == 0 })
}

// TestClose shows that clients are told when the server goes.
func TestClose(t *testing.T) {
	w := newHarness(t)
	p := w.connect(t)
	half := w.dial(t) // in the middle of its handshake
	half.write(amqp.HeaderAMQP[:4])
	w.server.Close()
	p.ended("amqp:connection:forced")
}

// TestFullLists shows that the fields of open and begin are all there, for clients that index them.
func TestFullLists(t *testing.T) {
	w := newHarness(t)
	p := w.dial(t)
	p.write(amqp.HeaderAMQP[:])
	p.header(amqp.HeaderAMQP)
	p.send(&amqp.Open{ContainerID: "c"}, nil)
	p.send(&amqp.Begin{}, nil)
	for _, want := range []int{10, 8} {
		frame := must.Get(p.reader.Frame())(t)
		value, _, err := amqp.Unmarshal(bytes.Clone(frame.Body))
		if err != nil {
			t.Fatal(err)
		}
		if fields := value.(amqp.Described).Value.(amqp.List); len(fields) != want {
			t.Errorf("%d fields, want %d", len(fields), want)
		}
	}
}

// TestStopDuringSend shows what a client with a send under way is told when the server stops: its message is rejected, its links are
// detached, and the connection is closed, each with an error. JavaScript's clients wait for the first, for a minute and more.
func TestStopDuringSend(t *testing.T) {
	w := newHarness(t)
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
	must.Do(t, b.Load())
	for name, options := range map[string]broker.Options{"orders": {}, "sessions": {RequiresSession: true}} {
		must.Get(b.CreateQueue(name, options))(t)
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
