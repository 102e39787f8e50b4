package protocol_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

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
			p := newWorld(t).connect(t)
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
