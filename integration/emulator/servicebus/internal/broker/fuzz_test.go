package broker_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// FuzzReplay has a broker restored from anything.
func FuzzReplay(f *testing.F) {
	b := broker.New(broker.Config{})
	must.Get(b.CreateQueue("q", broker.Options{DefaultTTL: time.Hour}))(f)
	send(f, b, "q", spec{id: "1"}, spec{id: "2", at: time.Now().Add(time.Hour)})
	f.Add(b.Record("q"))
	must.Get(b.CreateTopic("t", broker.Options{}))(f)
	f.Add(b.Record("t"))
	must.Get(b.CreateSubscription("t", "s", broker.Options{}, &broker.Rule{Filter: sql(f, "a = 1")}))(f)
	f.Add(b.Record("t/Subscriptions/s"))
	f.Fuzz(func(t *testing.T, record []byte) {
		b := broker.New(broker.Config{})
		must.Get(b.CreateQueue("q", broker.Options{}))(t)
		if err := b.Replay(record); err != nil {
			return
		}
		look(t, b)
		r := receive(t, b, "q/$DeadLetterQueue", broker.ReceiverConfig{})
		r.SetCredit(10)
		r.all()
	})
}

// FuzzSend sends anything that is a message, and gets it as it was.
func FuzzSend(f *testing.F) {
	f.Add(build(f, spec{id: "1", ttl: time.Hour, at: time.Unix(0, 0)}).Bytes())
	f.Add(amqp.AppendValue(nil, "value"))
	f.Add(amqp.AppendData(amqp.AppendDeliveryAnnotations(nil, amqp.Map{{Key: amqp.Symbol("a"), Value: int32(1)}}), []byte("x")))
	f.Add(amqp.Append(nil, amqp.Described{Descriptor: amqp.Symbol("amqp:header:list"), Value: amqp.List{true}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		sent, err := amqp.ParseMessage(raw)
		if err != nil {
			return
		}
		b := broker.New(broker.Config{})
		must.Get(b.CreateQueue("q", broker.Options{}))(t)
		if _, err := target(t, b, "q").Send([]amqp.Message{sent}, nil); err != nil {
			return
		}
		m := first(t, b, "q")
		if !bytes.Equal(m.Body(), sent.Body()) {
			t.Errorf("the body %x has become %x", sent.Body(), m.Body())
		}
		want, properties := sent.Properties(), m.Properties()
		if want.MessageID == nil {
			want.MessageID = properties.MessageID
		}
		if diff := cmp.Diff(want, properties); diff != "" || properties.MessageID == nil {
			t.Error(diff)
		}
		if !bytes.Equal(amqp.Append(nil, sent.ApplicationProperties()), amqp.Append(nil, m.ApplicationProperties())) {
			t.Error("the application properties have changed")
		}
	})
}
