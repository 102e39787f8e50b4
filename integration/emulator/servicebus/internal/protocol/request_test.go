package protocol_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
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
	p := newWorld(t).connect(t)
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
