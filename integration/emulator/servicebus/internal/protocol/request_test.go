package protocol_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

// unaddressed is a request as Python's clients send it: its properties have a message id, which is a UUID, and twelve nulls where
// other clients say where to reply to.
func unaddressed(id amqp.UUID, parameters amqp.Map, body any) []byte {
	request := append([]byte{0x00, 0x53, 0x73, 0xc0, 0x1e, 0x0d, 0x98}, id[:]...)
	for range 12 {
		request = append(request, 0x40)
	}
	request = amqp.AppendApplicationProperties(request, parameters)
	return amqp.AppendValue(request, body)
}

// answered returns the answer that comes next, on a link.
func (p *peer) answered(handle uint32) amqp.Message {
	p.tb.Helper()
	transfer, payload := expectPayload[*amqp.Transfer](p)
	m, err := amqp.ParseMessage(payload)
	if err != nil || transfer.Handle != handle {
		p.tb.Fatalf("link %d, not %d: %v", transfer.Handle, handle, err)
	}
	return m
}

// TestRequestsWithoutReplyAddress shows that a request which names no link is answered on the link of its session that comes from
// the same node, whatever other links there are.
func TestRequestsWithoutReplyAddress(t *testing.T) {
	p := newHarness(t).connect(t)
	for handle, address := range []string{"$cbs", "orders/$management"} {
		p.send(&amqp.Attach{
			Name: "receiver of " + address, Handle: uint32(handle), Receiver: true, Source: &amqp.Terminus{Address: address},
			Target: &amqp.Terminus{},
		}, nil)
		expect[*amqp.Attach](p)
		p.credit(uint32(handle), 10)
	}
	p.attachSender(2, &amqp.Terminus{Address: "amqps://host/ORDERS/$management"})
	p.attachSender(3, &amqp.Terminus{Address: "$cbs"})

	asked := amqp.UUID{15: 7}
	p.transfer(2, nil, unaddressed(asked, amqp.Map{{Key: "operation", Value: "com.microsoft:peek-message"}},
		amqp.Map{{Key: "from-sequence-number", Value: int64(1)}, {Key: "message-count", Value: int32(1)}}))
	answer := p.answered(1)
	if answer.Properties().CorrelationID != asked || answer.ApplicationProperties().Get("statusCode") != int32(204) {
		t.Errorf("$management: %+v, %+v", answer.Properties(), answer.ApplicationProperties())
	}

	asked = amqp.UUID{15: 8}
	p.transfer(3, nil, unaddressed(asked, amqp.Map{
		{Key: "operation", Value: "put-token"}, {Key: "type", Value: "servicebus.windows.net:sastoken"}, {Key: "name", Value: "amqps://host/orders"},
	}, "token"))
	answer = p.answered(0)
	if answer.Properties().CorrelationID != asked || answer.ApplicationProperties().Get("status-code") != int32(202) {
		t.Errorf("$cbs: %+v, %+v", answer.Properties(), answer.ApplicationProperties())
	}
}

// TestReplyAddressOfSeveral shows that a request is answered in its own session and by its own node when other links have the same
// address to reply to, and when one of them has ended.
func TestReplyAddressOfSeveral(t *testing.T) {
	p := newHarness(t).connect(t)
	attach := func(channel uint16, handle uint32, address string) {
		t.Helper()
		p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, channel, &amqp.Attach{
			Name: address, Handle: handle, Receiver: true, Source: &amqp.Terminus{Address: address}, Target: &amqp.Terminus{Address: "me"},
		}, nil))
		expect[*amqp.Attach](p)
		p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, channel, &amqp.Flow{
			NextIncomingID: amqp.Some(0), IncomingWindow: 100, OutgoingWindow: 100, Handle: amqp.Some(handle), DeliveryCount: amqp.Some(0),
			LinkCredit: amqp.Some(9),
		}, nil))
	}
	const node = "orders/$management"
	attach(0, 0, node)
	p.attachSender(1, &amqp.Terminus{Address: node})
	attach(0, 4, "$cbs")
	p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 1, &amqp.Begin{IncomingWindow: 100, OutgoingWindow: 100}, nil))
	expect[*amqp.Begin](p)
	attach(1, 7, node)
	request := func() {
		t.Helper()
		raw := amqp.AppendProperties(nil, amqp.Properties{MessageID: "1", ReplyTo: "me"})
		raw = amqp.AppendApplicationProperties(raw, amqp.Map{{Key: "operation", Value: "com.microsoft:peek-message"}})
		p.transfer(1, nil, amqp.AppendValue(raw, amqp.Map{{Key: "message-count", Value: int32(1)}}))
		p.answered(0)
	}
	request()
	p.write(amqp.AppendFrame(nil, amqp.FrameAMQP, 1, &amqp.End{}, nil))
	expect[*amqp.End](p)
	request()
}

// managed sends a request to the management of the queue, on link 2, and returns the code of the answer and its body.
func (p *peer) managed(operation string, body amqp.Map) (int32, amqp.Map) {
	p.tb.Helper()
	p.transfer(2, nil, unaddressed(amqp.UUID{1}, amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}, body))
	answer := p.answered(1)
	value, _ := answer.Value()
	content, _ := value.(amqp.Map)
	return answer.ApplicationProperties().Get("statusCode").(int32), content
}

func (p *peer) attachManagement() {
	p.tb.Helper()
	p.attachSender(2, &amqp.Terminus{Address: "orders/$management"})
	p.attachReceiver(1, "orders/$management")
	p.credit(1, 100)
}

// TestDeferredMessages shows that all deferred messages that a client asks for come back locked, whatever kind of integer their numbers
// are, and that the numbers are refused as a whole if one of them is none or is not that of a deferred message.
func TestDeferredMessages(t *testing.T) {
	p := newHarness(t).connect(t)
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	for range 4 {
		p.transfer(0, nil, data("x"))
	}
	p.attachReceiver(3, "orders")
	p.credit(3, 4)
	for range 4 {
		got := expect[*amqp.Transfer](p)
		p.send(&amqp.Disposition{ // as Python's older client does: settled, so that no answer comes
			Receiver: true, First: got.DeliveryID.Value, Last: got.DeliveryID.Value, Settled: true, State: amqp.Modified{UndeliverableHere: true},
		}, nil)
	}
	p.attachManagement()
	numbers := func(items any) amqp.Map {
		return amqp.Map{{Key: "sequence-numbers", Value: items}, {Key: "receiver-settle-mode", Value: uint32(1)}}
	}
	for want, items := range map[int32]any{400: amqp.List{int64(1), "2"}, 404: amqp.Array{int64(1), int64(7)}} {
		if code, _ := p.managed("receive-by-sequence-number", numbers(items)); code != want {
			t.Errorf("%v: %d", items, code)
		}
	}
	code, body := p.managed("receive-by-sequence-number", numbers(amqp.List{int64(1), uint64(3), int32(2), uint8(4)}))
	messages, _ := body.Get("messages").(amqp.List)
	if code != 200 || len(messages) != 4 {
		t.Fatalf("%d, %d messages", code, len(messages))
	}
	tokens := amqp.Array{}
	for _, message := range messages {
		tokens = append(tokens, message.(amqp.Map).Get("lock-token"))
	}
	code, _ = p.managed("update-disposition", amqp.Map{{Key: "disposition-status", Value: "completed"}, {Key: "lock-tokens", Value: tokens}})
	if code != 200 {
		t.Errorf("completed: %d", code)
	}
	code, _ = p.managed("peek-message", amqp.Map{{Key: "from-sequence-number", Value: int64(1)}, {Key: "message-count", Value: int32(9)}})
	if code != 204 {
		t.Errorf("peeked: %d", code)
	}
}

// TestTokenOfANode shows that a token for the management of an entity, which is what a JavaScript client shows before it peeks, lets a
// client attach both of the links that this takes, and not those of the entity itself.
func TestTokenOfANode(t *testing.T) {
	p := newHarness(t, func(c *protocol.Config) {
		c.Keys = auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	}).connect(t)
	const audience = "sb://localhost/orders/$management"
	p.attachReceiver(5, "$cbs")
	p.credit(5, 1)
	p.attachSender(6, &amqp.Terminus{Address: "$cbs"})
	p.transfer(6, nil, unaddressed(amqp.UUID{15: 1}, amqp.Map{
		{Key: "operation", Value: "put-token"}, {Key: "type", Value: "servicebus.windows.net:sastoken"}, {Key: "name", Value: audience},
	}, auth.Sign("root", "key", audience, time.Now().Add(time.Hour))))
	if code := p.answered(5).ApplicationProperties().Get("status-code"); code != int32(202) {
		t.Fatalf("put-token: %v", code)
	}
	p.attachManagement()
	if code, _ := p.managed("peek-message", amqp.Map{
		{Key: "from-sequence-number", Value: int64(1)}, {Key: "message-count", Value: int32(1)},
	}); code != 204 {
		t.Errorf("peeked: %d", code)
	}
	p.send(&amqp.Attach{Name: "sender", Handle: 9, Target: &amqp.Terminus{Address: "orders"}}, nil)
	expect[*amqp.Attach](p)
	if got := expect[*amqp.Detach](p); conditionOf(got.Error) != "amqp:unauthorized-access" {
		t.Errorf("the entity: %+v", got.Error)
	}
}
