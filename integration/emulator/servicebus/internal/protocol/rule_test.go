package protocol_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// ruleValues are properties of each type that clients put into a rule or a message. The described ones are .NET's for what AMQP has no
// type for.
var ruleValues = amqp.Map{
	{Key: "text", Value: "x"},
	{Key: "bool", Value: true},
	{Key: "char", Value: amqp.Char('ß')},
	{Key: "ubyte", Value: uint8(200)},
	{Key: "ushort", Value: uint16(60_000)},
	{Key: "uint", Value: uint32(4_000_000_000)},
	{Key: "ulong", Value: uint64(1 << 62)},
	{Key: "byte", Value: int8(-3)},
	{Key: "short", Value: int16(-3)},
	{Key: "int", Value: int32(-3)},
	{Key: "long", Value: int64(-3)},
	{Key: "float", Value: float32(1.5)},
	{Key: "double", Value: 2.5},
	{Key: "uuid", Value: amqp.UUID{1, 2, 3}},
	{Key: "time", Value: time.UnixMilli(1_577_934_245_000).UTC()},
	{Key: "binary", Value: []byte{0, 1}},
	{Key: "span", Value: amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(900_000_000)}},
	{Key: "uri", Value: amqp.Described{Descriptor: amqp.Symbol("com.microsoft:uri"), Value: "https://example.com/"}},
	{Key: "offset", Value: amqp.Described{Descriptor: amqp.Symbol("com.microsoft:datetime-offset"), Value: int64(637_135_310_450_000_000)}},
}

// TestRuleValues shows that a rule takes properties of each type over the management of a subscription, gives them back as they were,
// and matches messages that have the same.
func TestRuleValues(t *testing.T) {
	w := newWorld(t)
	if _, err := w.broker.CreateTopic("events", broker.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, pair := range ruleValues {
		name := pair.Key.(string)
		t.Run(name, func(t *testing.T) {
			none := broker.Rule{Name: broker.DefaultRule}
			if _, err := w.broker.CreateSubscription("events", name, broker.Options{}, &none); err != nil {
				t.Fatal(err)
			}
			if err := w.broker.DeleteRule("events", name, broker.DefaultRule); err != nil {
				t.Fatal(err)
			}
			p := w.connect(t)
			p.attachSender(2, &amqp.Terminus{Address: "events/Subscriptions/" + name + "/$management"})
			p.attachReceiver(1, "events/Subscriptions/"+name+"/$management")
			p.credit(1, 10)
			code, _ := p.managed("add-rule", amqp.Map{{Key: "rule-name", Value: "r"}, {Key: "rule-description", Value: amqp.Map{
				{Key: "correlation-filter", Value: amqp.Map{{Key: "properties", Value: amqp.Map{pair}}}},
			}}})
			if code != 200 {
				t.Fatalf("add-rule: %d", code)
			}
			code, body := p.managed("enumerate-rules", amqp.Map{{Key: "top", Value: int32(10)}, {Key: "skip", Value: int32(0)}})
			if code != 200 {
				t.Fatalf("enumerate-rules: %d", code)
			}
			rule := body.Get("rules").(amqp.List)[0].(amqp.Map).Get("rule-description").(amqp.Described).Value.(amqp.List)
			properties := rule[0].(amqp.Described).Value.(amqp.List)[8]
			if diff := cmp.Diff(amqp.Map{pair}, properties); diff != "" {
				t.Error(diff)
			}
			p.attachSender(0, &amqp.Terminus{Address: "events"})
			p.transfer(0, nil, append(amqp.AppendApplicationProperties(nil, amqp.Map{pair}), data("x")...))
			p.transfer(0, nil, append(amqp.AppendApplicationProperties(nil, amqp.Map{{Key: name, Value: "another"}}), data("x")...))
			info, err := w.broker.Entity("events/Subscriptions/" + name)
			if err != nil || info.Usage.Active != 1 {
				t.Errorf("%d messages match, %v", info.Usage.Active, err)
			}
		})
	}
}
