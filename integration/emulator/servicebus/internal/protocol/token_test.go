package protocol_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

// TestTokenOfANode shows that a token for the management of an entity, which is what a JavaScript client shows before it peeks, lets a
// client attach both of the links that this takes, and not those of the entity itself.
func TestTokenOfANode(t *testing.T) {
	p := newWorld(t, func(c *protocol.Config) {
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
