package protocol_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
)

// TestExplain shows that each mistake of a client is logged with what it is about and a hint, and that a client without one is not.
func TestExplain(t *testing.T) {
	logged := &logtest.Log{}
	w := newHarness(t, strict, func(c *protocol.Config) { c.Explain = slog.New(slog.NewTextHandler(logged, nil)) })
	says := func(words ...string) {
		t.Helper()
		var got string
		for line := range strings.Lines(logged.String()) {
			got = line
		}
		for _, want := range append(words, "container="+t.Name(), "hint=") {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
	}
	p := w.connect(t)
	if code, _ := p.putToken("root", "r"); code != 202 || logged.String() != "" {
		t.Fatalf("%d, %s", code, logged)
	}
	p.attachSender(0, &amqp.Terminus{Address: "orders"})
	p.transfer(0, nil, data("x"))
	p.attachReceiver(1, "orders")
	p.credit(1, 1)
	id := expect[*amqp.Transfer](p).DeliveryID.Value
	for range 2 {
		p.send(&amqp.Disposition{Receiver: true, First: id, Last: id, State: amqp.Accepted{}}, nil)
	}
	expect[*amqp.Disposition](p)
	p.transfer(0, nil, []byte("garbage"))
	says("what=\"a message\"", "entity=orders", "condition=amqp:decode-error")
	if !strings.Contains(logged.String(), "what=\"a settlement\" condition=com.microsoft:message-lock-lost err=\"the delivery is not open") {
		t.Errorf("settled twice: %s", logged)
	}
	if why := p.refusal(&amqp.Attach{Name: "other", Handle: 3, Source: &amqp.Terminus{}, Target: &amqp.Terminus{Address: "others"}}); why == "" {
		t.Error("no token, but a link")
	}
	says("what=\"a link\"", "entity=others", "condition=amqp:unauthorized-access")
	p = w.connect(t)
	p.putToken("root", "wrong")
	says("what=put-token", "entity=sb://host/orders", "condition=amqp:unauthorized-access", "InvalidSignature")
	p.write([]byte("\x00\x00\x00\x04nonsense"))
	p.ended("amqp:connection:framing-error")
	says("what=\"to continue a connection\"", "condition=amqp:connection:framing-error")
}
