package protocol_test

import (
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// aside sends a performative on another channel.
func (p *peer) aside(performative amqp.Performative) {
	p.tb.Helper()
	p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 5, performative, nil))
}

// TestSettlingDuringEnd shows that a client of many threads, as those with .NET's transport are, keeps its connection when it settles
// messages of a session, gives credit and detaches just as it ends that.
func TestSettlingDuringEnd(t *testing.T) {
	p := newWorld(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	for range 20 {
		p.transfer(0, nil, data("x"))
	}
	p.aside(&amqp.Begin{IncomingWindow: 5000, OutgoingWindow: 5000})
	p.aside(&amqp.Attach{
		Name: "r", Handle: 1, Receiver: true, RcvSettleMode: amqp.ReceiverSecond, Source: &amqp.Terminus{Address: "orders"},
	})
	p.aside(&amqp.Flow{NextIncomingID: amqp.Some(0), IncomingWindow: 5000, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0), LinkCredit: amqp.Some(300)})
	for range 20 {
		expect[*amqp.Transfer](p)
	}
	p.aside(&amqp.Disposition{Receiver: true, First: 0, Last: 9, State: amqp.Accepted{}})
	p.aside(&amqp.End{})
	p.aside(&amqp.Disposition{Receiver: true, First: 10, Last: 19, State: amqp.Accepted{}})
	p.aside(&amqp.Flow{NextIncomingID: amqp.Some(20), IncomingWindow: 5000, Handle: amqp.Some(1), DeliveryCount: amqp.Some(20), LinkCredit: amqp.Some(300)})
	p.aside(&amqp.Detach{Handle: 1, Closed: true})
	expect[*amqp.End](p)
	if got := p.transfer(0, nil, data("the connection lives")); got != (amqp.Accepted{}) {
		t.Errorf("%+v", got)
	}
}

// TestManyVerdictsAtOnce shows that a client which settles more messages with one frame than the answers of fit into the output is
// answered at once, whatever it says next.
func TestManyVerdictsAtOnce(t *testing.T) {
	const many = 40_000
	p := newWorld(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	batch := data("")
	for range 1000 {
		batch = amqp.AppendData(slices.Clip(batch), data("x"))
	}
	for i := range uint32(many / 1000) {
		p.send(&amqp.Transfer{DeliveryID: amqp.Some(i), DeliveryTag: []byte{1}, MessageFormat: amqp.Some(amqp.BatchFormat)}, batch[len(data("")):])
		expect[*amqp.Disposition](p)
	}
	p.attachReceiver(1, "orders")
	p.send(&amqp.Flow{
		NextIncomingID: amqp.Some(0), IncomingWindow: many, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0), LinkCredit: amqp.Some(many),
	}, nil)
	for range many {
		expect[*amqp.Transfer](p)
	}
	said := amqp.AppendFrame(nil, amqp.FrameAMQP, 0, &amqp.Disposition{Receiver: true, Last: many - 1, State: amqp.Accepted{}}, nil)
	for range 3 {
		said = amqp.AppendFrame(said, amqp.FrameAMQP, 0, &amqp.Flow{NextIncomingID: amqp.Some(many), IncomingWindow: many}, nil)
	}
	p.write(said)
	for settled := uint32(0); settled < many; {
		got := expect[*amqp.Disposition](p)
		if got.State != (amqp.Accepted{}) || !got.Settled {
			t.Fatalf("%+v", got)
		}
		settled += got.Last - got.First + 1
	}
}
