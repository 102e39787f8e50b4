package protocol_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

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
	w := newWorld(f, func(c *protocol.Config) { c.WriteTimeout = time.Second })
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
