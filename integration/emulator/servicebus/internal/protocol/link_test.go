package protocol_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestSettleModes shows that the modes are echoed, without which some clients refuse the link.
func TestSettleModes(t *testing.T) {
	p := newHarness(t).connect(t)
	for handle := range uint32(6) {
		asked := &amqp.Attach{
			Name: strconv.FormatUint(uint64(handle), 10), Handle: handle, Receiver: handle%2 == 0, SndSettleMode: uint8(handle % 3), RcvSettleMode: uint8(handle % 2),
			Source: &amqp.Terminus{Address: "orders"}, Target: &amqp.Terminus{Address: "orders"},
		}
		p.send(asked, nil)
		got := expect[*amqp.Attach](p)
		if got.SndSettleMode != asked.SndSettleMode || got.RcvSettleMode != asked.RcvSettleMode || got.Receiver == asked.Receiver ||
			got.Handle != handle || got.MaxMessageSize == 0 {
			t.Errorf("asked %+v, got %+v", asked, got)
		}
	}
}

// TestRefusedLink shows a link to nowhere, and that its handle can be used again.
func TestRefusedLink(t *testing.T) {
	p := newHarness(t).connect(t)
	for _, receiver := range []bool{false, true} {
		p.send(&amqp.Attach{
			Name: "l", Receiver: receiver, Source: &amqp.Terminus{Address: "nowhere"}, Target: &amqp.Terminus{Address: "nowhere"},
		}, nil)
		if got := expect[*amqp.Attach](p); got.Source != nil || got.Target != nil {
			t.Errorf("%+v", got)
		}
		if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:not-found" || !got.Closed {
			t.Errorf("%+v", got)
		}
		p.send(&amqp.Detach{Closed: true}, nil)
	}
	p.attachSender(0, &amqp.Terminus{Address: "amqp://host/ORDERS"})
}

// TestDrain shows that a drain is answered at once, with the credit used up.
func TestDrain(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.transfer(0, nil, data("x"))
	p.attachReceiver(1, "orders")
	p.send(&amqp.Flow{
		NextIncomingID: amqp.Some(0), IncomingWindow: 100, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0), LinkCredit: amqp.Some(10),
		Drain: true,
	}, nil)
	expect[*amqp.Transfer](p)
	if got := expect[*amqp.Flow](p); !got.Drain || got.LinkCredit.Value != 0 || got.DeliveryCount.Value != 10 {
		t.Errorf("%+v", got)
	}
}

// TestWindow shows that a message of many frames waits for the window and is whole in the end. Only the first frame has the delivery's
// id and its tag: Python's client takes each frame with an id for the first, and the lock token from there.
func TestWindow(t *testing.T) {
	p := newHarness(t).begun(t, amqp.Open{MaxFrameSize: 512}, 3)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	body := bytes.Repeat([]byte("0123456789"), 500)
	p.transfer(0, nil, amqp.AppendData(nil, body))
	p.attachReceiver(1, "orders")
	var raw []byte
	for received := uint32(0); ; received++ {
		if received%3 == 0 {
			p.send(&amqp.Flow{
				NextIncomingID: amqp.Some(received), IncomingWindow: 3, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0),
				LinkCredit: amqp.Some(1),
			}, nil)
		}
		transfer, payload := expectPayload[*amqp.Transfer](p)
		if first := received == 0; first != (transfer.DeliveryTag != nil) || first != transfer.DeliveryID.Present {
			t.Fatalf("frame %d: %+v", received, transfer)
		}
		raw = append(raw, payload...)
		if !transfer.More {
			break
		}
	}
	m, err := amqp.ParseMessage(raw)
	if err != nil || !bytes.Equal(m.Data()[0], body) {
		t.Error("another body", err)
	}
}

// TestMultiFrame shows a message in parts, with and without its delivery id repeated, and one that is aborted.
func TestMultiFrame(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	raw := data("in parts")
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(0), DeliveryTag: []byte{0}, More: true}, raw[:3])
	p.send(&amqp.Transfer{More: true}, raw[3:5])
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(0), DeliveryTag: []byte{0}}, raw[5:])
	if got := expect[*amqp.Disposition](p); got.State != (amqp.Accepted{}) {
		t.Errorf("%+v", got)
	}
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(1), DeliveryTag: []byte{1}, More: true}, raw[:3])
	p.send(&amqp.Transfer{DeliveryID: amqp.Some(1), Aborted: true}, nil)
	p.next = 2
	if got := p.transfer(0, nil, data("next")); got != (amqp.Accepted{}) {
		t.Errorf("%+v", got)
	}
	if info, err := newInfo(t, p); err != nil || info != 2 {
		t.Error(info, err)
	}
}

// newInfo counts the messages of the queue by receiving them.
func newInfo(t *testing.T, p *peer) (int, error) {
	t.Helper()
	p.attachReceiver(1, "orders")
	p.send(&amqp.Flow{
		NextIncomingID: amqp.Some(0), IncomingWindow: 100, Handle: amqp.Some(1), DeliveryCount: amqp.Some(0), LinkCredit: amqp.Some(10),
		Drain: true,
	}, nil)
	for n := 0; ; {
		performative, _, err := p.frame()
		if err != nil {
			return 0, err
		}
		switch got := performative.(type) {
		case *amqp.Transfer:
			n++
		case *amqp.Flow:
			if got.Drain {
				return n, nil
			}
		}
	}
}

// TestBadMessages shows that a message which is none is rejected and the link lives on.
func TestBadMessages(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	got, ok := p.transfer(0, nil, []byte("garbage")).(amqp.Rejected)
	if !ok || got.Error.Condition != "amqp:decode-error" {
		t.Errorf("%+v", got)
	}
	if got := p.transfer(0, nil, data("x")); got != (amqp.Accepted{}) {
		t.Errorf("%+v", got)
	}
}

// TestWithoutCredit shows that a client which ignores its credit loses the link, and nothing else.
func TestWithoutCredit(t *testing.T) {
	w := newHarness(t)
	p := w.connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.attachSender(1, &amqp.Terminus{Address: "$cbs"})
	w.broker.Faults().Add(fault.Fault{Operation: fault.OpSend, Count: -1, Delay: time.Hour}) // no answers, so no new credit
	var flood []byte
	for i := range uint32(1001) {
		flood = amqp.AppendFrame(flood, amqp.FrameAMQP, 0, &amqp.Transfer{DeliveryID: amqp.Some(i), DeliveryTag: []byte{0}}, data("x"))
	}
	p.write(flood)
	if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:link:transfer-limit-exceeded" {
		t.Errorf("%+v", got)
	}
	p.next = 1001
	if got := p.transfer(1, nil, amqp.AppendValue(nil, "x")); got != (amqp.Accepted{}) {
		t.Errorf("%+v", got)
	}
}

// TestBegunMessages shows that a client cannot have the server hold any number of messages that it does not end.
func TestBegunMessages(t *testing.T) {
	p := newHarness(t).connect(t)
	part := data(strings.Repeat("x", 60<<10))
	for handle := range uint32(80) {
		p.attachSender(handle, &amqp.Terminus{Address: "orders"})
	}
	for handle := range uint32(80) {
		var begun []byte
		for range 16 {
			begun = amqp.AppendFrame(begun, amqp.FrameAMQP, 0, &amqp.Transfer{
				Handle: handle, DeliveryID: amqp.Some(handle), DeliveryTag: []byte{0}, More: true,
			}, part)
		}
		if _, err := p.socket.Write(begun); err != nil {
			break
		}
	}
	p.ended("amqp:resource-limit-exceeded")
}

// TestNoID shows that a transfer which cannot be answered ends the link.
func TestNoID(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.send(&amqp.Transfer{}, data("x"))
	if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:invalid-field" {
		t.Errorf("%+v", got)
	}
}

// TestTransactions shows sends and settlements that happen together or not at all.
func TestTransactions(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.attachSender(1, &amqp.Terminus{Coordinator: true, Capabilities: []amqp.Symbol{"amqp:local-transactions"}})
	p.transfer(0, nil, data("first"))
	for _, fail := range []bool{true, false} {
		declared := p.transfer(1, nil, amqp.Declare{}.Append(nil)).(amqp.Declared)
		state := p.transfer(0, amqp.Transactional{TxnID: declared.TxnID}, data("second")).(amqp.Transactional)
		if state.Outcome != (amqp.Accepted{}) {
			t.Fatalf("%+v", state)
		}
		if fail {
			if got := p.transfer(1, nil, amqp.Discharge{TxnID: declared.TxnID, Fail: true}.Append(nil)); got != (amqp.Accepted{}) {
				t.Fatalf("%+v", got)
			}
			continue
		}
		p.attachReceiver(2, "orders")
		p.credit(2, 1)
		first := expect[*amqp.Transfer](p)
		p.send(&amqp.Disposition{
			Receiver: true, First: first.DeliveryID.Value, Last: first.DeliveryID.Value,
			State: amqp.Transactional{TxnID: declared.TxnID, Outcome: amqp.Accepted{}},
		}, nil)
		if got, ok := expect[*amqp.Disposition](p).State.(amqp.Transactional); !ok || got.Outcome != (amqp.Accepted{}) {
			t.Fatalf("%+v", got)
		}
		if got := p.transfer(1, nil, amqp.Discharge{TxnID: declared.TxnID}.Append(nil)); got != (amqp.Accepted{}) {
			t.Fatalf("%+v", got)
		}
		p.credit(2, 2)
		if _, payload := expectPayload[*amqp.Transfer](p); !bytes.HasSuffix(payload, data("second")) {
			t.Errorf("%q", payload)
		}
		got, ok := p.transfer(1, nil, amqp.Discharge{TxnID: declared.TxnID}.Append(nil)).(amqp.Rejected)
		if !ok || got.Error.Condition != "amqp:transaction:unknown-id" {
			t.Errorf("discharged twice: %+v", got)
		}
	}
	got, ok := p.transfer(0, amqp.Transactional{TxnID: []byte("none")}, data("x")).(amqp.Rejected)
	if !ok || got.Error.Condition != "amqp:transaction:unknown-id" {
		t.Errorf("%+v", got)
	}
}

// TestReplyBeforeCredit shows that an answer waits for the credit of its link.
func TestReplyBeforeCredit(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "$cbs"})
	p.attachReceiver(1, "$cbs")
	request := amqp.AppendProperties(nil, amqp.Properties{MessageID: uint64(7), ReplyTo: "reply"})
	request = amqp.AppendApplicationProperties(request, amqp.Map{
		{Key: "operation", Value: "put-token"}, {Key: "type", Value: "jwt"}, {Key: "name", Value: "amqp://host/orders"},
	})
	if got := p.transfer(0, nil, amqp.AppendValue(request, "token")); got != (amqp.Accepted{}) {
		t.Fatalf("%+v", got)
	}
	p.credit(1, 1)
	_, payload := expectPayload[*amqp.Transfer](p)
	m := must.Get(amqp.ParseMessage(payload))(t)
	if m.Properties().CorrelationID != uint64(7) || m.ApplicationProperties().Get("status-code") != int32(202) {
		t.Errorf("%+v, %+v", m.Properties(), m.ApplicationProperties())
	}
}

// ask sends a flow for a link as clients send it before they receive.
func (p *peer) ask(handle, count, credit uint32, drain bool) {
	p.tb.Helper()
	p.send(&amqp.Flow{
		NextIncomingID: amqp.Some(p.seen), IncomingWindow: 1000, OutgoingWindow: 1000,
		Handle: amqp.Some(handle), DeliveryCount: amqp.Some(count), LinkCredit: amqp.Some(credit), Drain: drain,
	}, nil)
}

// drained asks for messages, drains, and returns how many came and the delivery count of the answer.
func (p *peer) drained(handle, count, credit uint32) (messages, counted uint32) {
	p.tb.Helper()
	p.ask(handle, count, credit, true)
	for {
		performative, _, err := p.frame()
		if err != nil {
			p.tb.Fatal(err)
		}
		switch got := performative.(type) {
		case *amqp.Transfer:
			messages++
			p.seen++
		case *amqp.Flow:
			if got.Drain {
				return messages, got.DeliveryCount.Value
			}
		}
	}
}

// TestDrainedCredit shows that a client gets as many messages as it asks for after drains, whether it takes over the delivery count of
// their answers, as the standard says, or goes on counting the messages that came, as Python's does from version 7.14 on.
func TestDrainedCredit(t *testing.T) {
	for name, takesOver := range map[string]bool{"takes over": true, "counts messages": false} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t).connect(t)
			p.attachSender(0, &amqp.Terminus{Address: "orders"})
			p.attachReceiver(1, "orders")
			count := uint32(0)
			for round := range uint32(4) {
				for range round { // fewer than are asked for
					p.transfer(0, nil, data("x"))
				}
				messages, counted := p.drained(1, count, 5)
				if messages != round {
					t.Fatalf("round %d: %d messages", round, messages)
				}
				if count += messages; takesOver {
					count = counted
				}
			}
			for range 5 {
				p.transfer(0, nil, data("x"))
			}
			p.ask(1, count, 5, false)
			for range 5 {
				expect[*amqp.Transfer](p)
			}
			p.transfer(0, nil, data("x"))
			if messages, counted := p.drained(1, count+5, 0); messages != 0 {
				t.Errorf("%d messages without credit, counted %d", messages, counted)
			}
		})
	}
}
