package protocol_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// active counts the messages of a queue.
func (w *harness) active(tb testing.TB, queue string) int64 {
	tb.Helper()
	info := must.Get(w.broker.Entity(queue))(tb)
	return info.Usage.Active
}

// TestSendVia shows that a message which is sent via one entity is in the one that the link names as its destination: at once, or with
// the commit of its transaction. A destination that does not exist refuses the link.
func TestSendVia(t *testing.T) {
	w := newHarness(t)
	must.Get(w.broker.CreateQueue("invoices", broker.Options{}))(t)
	p := w.connect(t)
	via := func(handle uint32, destination string) {
		p.send(&amqp.Attach{
			Name: "via to " + destination, Handle: handle, Source: &amqp.Terminus{}, Target: &amqp.Terminus{Address: "orders"},
			Properties: amqp.Map{{Key: amqp.Symbol("com.microsoft:transfer-destination-address"), Value: destination}},
		}, nil)
		expect[*amqp.Attach](p)
	}
	via(0, "amqps://host/INVOICES")
	expect[*amqp.Flow](p)
	p.attachSender(1, &amqp.Terminus{Coordinator: true})
	p.transfer(0, nil, data("alone"))
	if to, from := w.active(t, "invoices"), w.active(t, "orders"); to != 1 || from != 0 {
		t.Errorf("%d in the destination, %d in the entity on the way", to, from)
	}
	for _, fail := range []bool{true, false} {
		declared := p.transfer(1, nil, amqp.Declare{}.Append(nil)).(amqp.Declared)
		p.transfer(0, amqp.Transactional{TxnID: declared.TxnID}, data("within"))
		if to := w.active(t, "invoices"); to != 1 {
			t.Errorf("%d before the commit", to)
		}
		p.transfer(1, nil, amqp.Discharge{TxnID: declared.TxnID, Fail: fail}.Append(nil))
	}
	if to, from := w.active(t, "invoices"), w.active(t, "orders"); to != 2 || from != 0 {
		t.Errorf("%d in the destination, %d in the entity on the way", to, from)
	}
	via(2, "nowhere")
	if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:not-found" {
		t.Errorf("%+v", got)
	}
}

// TestFiltersInForce shows that the answer to an attach has no filter but that for a session, as no other is applied.
func TestFiltersInForce(t *testing.T) {
	w := newHarness(t)
	must.Get(w.broker.CreateQueue("sessions", broker.Options{RequiresSession: true}))(t)
	p := w.connect(t)
	selector := amqp.Pair{
		Key:   amqp.Symbol("apache.org:selector-filter:string"),
		Value: amqp.Described{Descriptor: amqp.Symbol("apache.org:selector-filter:string"), Value: "color = 'red'"},
	}
	session := amqp.Pair{Key: amqp.Symbol("com.microsoft:session-filter"), Value: "s"}
	for handle, asked := range []amqp.Map{{selector}, {selector, session}} {
		address := []string{"orders", "sessions"}[handle]
		p.send(&amqp.Attach{
			Name: address, Handle: uint32(handle), Receiver: true, Source: &amqp.Terminus{Address: address, Filter: asked},
		}, nil)
		got := expect[*amqp.Attach](p)
		if got.Source == nil || got.Source.Filter.Has("apache.org:selector-filter:string") || len(got.Source.Filter) != handle {
			t.Errorf("%s: %+v", address, got.Source)
		}
	}
}

// TestTransactionTime shows that a transaction is rolled back after two minutes, as with the service: its messages are gone, and the
// ones that it would have settled are locked on.
func TestTransactionTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := inBubble(t)
		p.attachSender(0, &amqp.Terminus{Address: "orders"})
		p.attachSender(1, &amqp.Terminus{Coordinator: true})
		for _, wait := range []time.Duration{119 * time.Second, 121 * time.Second} {
			declared := p.transfer(1, nil, amqp.Declare{}.Append(nil)).(amqp.Declared)
			p.transfer(0, amqp.Transactional{TxnID: declared.TxnID}, data("x"))
			for range wait / time.Second {
				time.Sleep(time.Second)
				p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, nil, nil))
			}
			verdict := p.transfer(1, nil, amqp.Discharge{TxnID: declared.TxnID}.Append(nil))
			if _, committed := verdict.(amqp.Accepted); committed != (wait < transactionTime) {
				t.Errorf("after %v: %+v", wait, verdict)
			}
		}
	})
}

const transactionTime = 2 * time.Minute

// aside sends a performative on another channel.
func (p *peer) aside(performative amqp.Performative) {
	p.tb.Helper()
	p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 5, performative, nil))
}

// TestSettlingDuringEnd shows that a client of many threads, as those with .NET's transport are, keeps its connection when it settles
// messages of a session, gives credit and detaches just as it ends that.
func TestSettlingDuringEnd(t *testing.T) {
	p := newHarness(t).connect(t)
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
	p := newHarness(t).connect(t)
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
