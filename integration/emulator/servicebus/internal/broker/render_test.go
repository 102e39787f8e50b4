package broker_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// TestAnnotationsOfTheSender shows that they come back beside those of the broker, which a sender cannot forge.
func TestAnnotationsOfTheSender(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "1", delivery: amqp.Map{
			{Key: amqp.Symbol("x-opt-mine"), Value: "kept"}, {Key: amqp.Symbol("x-opt-lock-token"), Value: "forged"},
		}})
		wantMine := func(m got, token any) {
			t.Helper()
			if a := m.DeliveryAnnotations(); a.Get("x-opt-mine") != "kept" || a.Get("x-opt-lock-token") != token {
				t.Errorf("%v", a)
			}
		}
		wantMine(first(t, b, "q"), nil)
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(1)
		m := r.next()
		wantMine(m, m.Token)
		r.settle(m, broker.Outcome{Kind: broker.Abandon})
		gone := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
		gone.SetCredit(1)
		wantMine(gone.next(), nil)
	})
}
