package servicebus_test

import (
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// TestSendBehindFlow shows that a client which leaves Nagle's algorithm on, as those of Node.js and Python do, does not wait for a
// delayed acknowledgement, 40 ms long, when it sends a message right behind a frame that has no answer.
func TestSendBehindFlow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can be told to acknowledge at once")
	}
	server, err := servicebus.Start(t.Context(), servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	socket, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.(*net.TCPConn).SetNoDelay(false); err != nil {
		t.Fatal(err)
	}
	frames := amqp.NewReader(socket, 1<<20)
	say := func(performative amqp.Performative, payload []byte) {
		if _, err := socket.Write(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, performative, payload)); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(done func(amqp.Performative) bool) {
		for {
			frame, err := frames.Frame()
			if err != nil {
				t.Fatal(err)
			}
			if performative, _, err := amqp.Decode(frame.Body); err != nil || done(performative) {
				return
			}
		}
	}
	if _, err := socket.Write(amqp.HeaderAMQP[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := frames.Header(); err != nil {
		t.Fatal(err)
	}
	say(&amqp.Open{ContainerID: "nagle", MaxFrameSize: 1 << 16}, nil)
	say(&amqp.Begin{IncomingWindow: 1000, OutgoingWindow: 1000}, nil)
	say(&amqp.Attach{Name: "s", Target: &amqp.Terminus{Address: "orders"}, Source: &amqp.Terminus{}}, nil)
	heard(func(p amqp.Performative) bool { _, credit := p.(*amqp.Flow); return credit })
	var took []time.Duration
	for i := range uint32(100) {
		began := time.Now()
		say(&amqp.Flow{NextIncomingID: amqp.Some(0), IncomingWindow: 1000, OutgoingWindow: 1000}, nil)
		say(&amqp.Transfer{DeliveryID: amqp.Some(i), DeliveryTag: []byte{1}, MessageFormat: amqp.Some(0)}, amqp.AppendData(nil, []byte("x")))
		heard(func(p amqp.Performative) bool { _, accepted := p.(*amqp.Disposition); return accepted })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	if quarter := took[len(took)/4]; quarter > 30*time.Millisecond {
		t.Errorf("three of four sends take %v and more", quarter)
	}
}
