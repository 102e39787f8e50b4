package protocol_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
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
	w := newHarness(t)
	must.Get(w.broker.CreateTopic("events", broker.Options{}))(t)
	for _, pair := range ruleValues {
		name := pair.Key.(string)
		t.Run(name, func(t *testing.T) {
			none := broker.Rule{Name: broker.DefaultRule}
			must.Get(w.broker.CreateSubscription("events", name, broker.Options{}, &none))(t)
			must.Do(t, w.broker.DeleteRule("events", name, broker.DefaultRule))
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

// TestManagedRules adds, lists and removes rules over the management of a subscription, and is refused what cannot be.
func TestManagedRules(t *testing.T) {
	w := newHarness(t)
	must.Get(w.broker.CreateTopic("events", broker.Options{}))(t)
	must.Get(w.broker.CreateSubscription("events", "s", broker.Options{}, &broker.Rule{Name: broker.DefaultRule}))(t)
	p := w.connect(t)
	p.attachSender(2, &amqp.Terminus{Address: "events/Subscriptions/s/$management"})
	p.attachReceiver(1, "events/Subscriptions/s/$management")
	p.credit(1, 100)
	add := func(name, expression, action string) (string, amqp.Map) {
		return "add-rule", amqp.Map{{Key: "rule-name", Value: name}, {Key: "rule-description", Value: amqp.Map{
			{Key: "sql-filter", Value: amqp.Map{{Key: "expression", Value: expression}}},
			{Key: "sql-rule-action", Value: amqp.Map{{Key: "expression", Value: action}}},
		}}}
	}
	remove := func(name string) (string, amqp.Map) { return "remove-rule", amqp.Map{{Key: "rule-name", Value: name}} }
	want := func(status int32, operation string, body amqp.Map) amqp.Map {
		t.Helper()
		code, answer := p.managed(operation, body)
		if code != status {
			t.Errorf("%s %v: %d, want %d", operation, body, code, status)
		}
		return answer
	}
	ask := func(status int32) func(string, amqp.Map) {
		return func(operation string, body amqp.Map) { t.Helper(); want(status, operation, body) }
	}
	ask(200)(remove(broker.DefaultRule))
	ask(404)(remove(broker.DefaultRule))
	ask(404)(remove("unknown"))
	ask(200)(add("r", "color = 'red'", "SET seen = 'yes'"))
	ask(409)(add("R", "1 = 1", ""))
	ask(400)(add("wrong", "color =", ""))
	ask(400)(add("wrong", "1 = 1", "PUT a"))
	rules := want(200, "enumerate-rules", nil).Get("rules").(amqp.List)
	rule := rules[0].(amqp.Map).Get("rule-description").(amqp.Described).Value.(amqp.List)
	described := []any{len(rules), rule[0], rule[1], rule[2]}
	if diff := cmp.Diff([]any{
		1,
		amqp.Described{Descriptor: uint64(0x1370000006), Value: amqp.List{"color = 'red'", int32(20)}},
		amqp.Described{Descriptor: uint64(0x13700000006), Value: amqp.List{"SET seen = 'yes'", int32(20)}},
		"r",
	}, described); diff != "" {
		t.Error(diff)
	}
	p.attachSender(0, &amqp.Terminus{Address: "events"})
	p.transfer(0, nil, append(amqp.AppendApplicationProperties(nil, amqp.Map{{Key: "color", Value: "red"}}), data("x")...))
	p.attachReceiver(3, "events/Subscriptions/s")
	p.credit(3, 1)
	if seen := p.answered(3).ApplicationProperties().Get("seen"); seen != "yes" {
		t.Errorf("the action set %v", seen)
	}
	ask(200)(remove("r"))
	ask(204)("enumerate-rules", nil)
}
