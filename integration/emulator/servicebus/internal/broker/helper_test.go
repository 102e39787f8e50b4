package broker_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// onFakeTime runs a test with a running broker in a time of its own.
func onFakeTime(t *testing.T, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{})
		f(t, b)
		stop()
	})
}

// start runs a broker until stop is called.
func start(tb testing.TB, config broker.Config) (_ *broker.Broker, stop func()) {
	tb.Helper()
	b := broker.New(config)
	must.Do(tb, b.Load())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return b, func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	}
}

// paths returns the paths of all entities.
func paths(b *broker.Broker) string {
	var all []string
	for _, info := range b.Entities() {
		all = append(all, info.Path)
	}
	return fmt.Sprint(all)
}

// pass lets time pass, and the broker do what is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A spec is a message to send.
type spec struct {
	id, session, label string
	partition          string
	hasSession         bool
	ttl                time.Duration
	at                 time.Time
	properties         amqp.Map
	delivery           amqp.Map // delivery annotations
}

func build(tb testing.TB, s spec) amqp.Message {
	tb.Helper()
	raw := amqp.AppendHeader(nil, amqp.Header{Durable: true, Priority: 4, TTL: s.ttl})
	if s.delivery != nil {
		raw = amqp.AppendDeliveryAnnotations(raw, s.delivery)
	}
	var annotations amqp.Map
	if !s.at.IsZero() {
		annotations = append(annotations, amqp.Pair{Key: amqp.Symbol("x-opt-scheduled-enqueue-time"), Value: s.at})
	}
	if s.partition != "" {
		annotations = append(annotations, amqp.Pair{Key: amqp.Symbol("x-opt-partition-key"), Value: s.partition})
	}
	if annotations != nil {
		raw = amqp.AppendMessageAnnotations(raw, annotations)
	}
	p := amqp.Properties{Subject: s.label, GroupID: s.session, HasGroupID: s.hasSession || s.session != ""}
	if s.id != "" {
		p.MessageID = s.id
	}
	raw = amqp.AppendProperties(raw, p)
	raw = amqp.AppendApplicationProperties(raw, s.properties)
	raw = amqp.AppendData(raw, []byte("body of "+s.id))
	return must.Get(amqp.ParseMessage(raw))(tb)
}

func target(tb testing.TB, b *broker.Broker, path string) *broker.Target {
	tb.Helper()
	return must.Get(b.Target(path))(tb)
}

func source(tb testing.TB, b *broker.Broker, path string) *broker.Source {
	tb.Helper()
	return must.Get(b.Source(path))(tb)
}

// send sends messages one by one.
func send(tb testing.TB, b *broker.Broker, path string, specs ...spec) {
	tb.Helper()
	for _, s := range specs {
		receipt, err := target(tb, b, path).Send([]amqp.Message{build(tb, s)}, nil)
		if err == nil {
			err = receipt.Wait()
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func ids(n int) []spec {
	specs := make([]spec, n)
	for i := range specs {
		specs[i].id = strconv.Itoa(i + 1)
	}
	return specs
}

// A client is a receiver with what it needs to use it.
type client struct {
	*broker.Receiver

	t      testing.TB
	source *broker.Source
	woken  int
}

func receive(tb testing.TB, b *broker.Broker, path string, config broker.ReceiverConfig) *client {
	tb.Helper()
	c := &client{t: tb, source: source(tb, b, path)}
	config.Wake = func() { c.woken++ }
	r := must.Get(c.source.Receive(config))(tb)
	c.Receiver = r
	return c
}

// got is a message that was received.
type got struct {
	broker.Delivery
	amqp.Message
}

func (g got) id() string { return amqp.IDString(g.Properties().MessageID) }

func parse(tb testing.TB, d broker.Delivery) got {
	tb.Helper()
	m := must.Get(amqp.ParseMessage(d.Payload))(tb)
	return got{d, m}
}

// next returns the next message.
func (c *client) next() got {
	c.t.Helper()
	d, ok := c.Next(nil)
	if !ok {
		c.t.Fatalf("no message from %s", c.source.Path())
	}
	return parse(c.t, d)
}

// all returns the ids of all messages that can be had.
func (c *client) all() []string {
	c.t.Helper()
	var all []string
	for {
		d, ok := c.Next(nil)
		if !ok {
			return all
		}
		all = append(all, parse(c.t, d).id())
	}
}

func (c *client) settle(g got, outcome broker.Outcome) {
	c.t.Helper()
	receipt, err := c.source.Settle(g.Token, outcome, nil)
	if err == nil {
		err = receipt.Wait()
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// peek returns the ids of all messages.
func peek(tb testing.TB, b *broker.Broker, path string) []string {
	tb.Helper()
	deliveries := must.Get(source(tb, b, path).Peek(0, 1000, nil))(tb)
	var all []string
	for _, d := range deliveries {
		all = append(all, parse(tb, d).id())
	}
	return all
}

// first peeks at the first message.
func first(tb testing.TB, b *broker.Broker, path string) got {
	tb.Helper()
	deliveries, err := source(tb, b, path).Peek(0, 1, nil)
	if err != nil || len(deliveries) != 1 {
		tb.Fatalf("%d messages in %s: %v", len(deliveries), path, err)
	}
	return parse(tb, deliveries[0])
}

func wantIDs(tb testing.TB, got []string, want ...string) {
	tb.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		tb.Errorf("got messages %v, want %v", got, want)
	}
}

func wantCondition(tb testing.TB, err error, want amqp.Symbol) {
	tb.Helper()
	if broker.Condition(err) != want {
		tb.Errorf("got %v, want %s", err, want)
	}
}

func wantReason(tb testing.TB, g got, reason string) {
	tb.Helper()
	if got := g.ApplicationProperties().Get("DeadLetterReason"); got != reason {
		tb.Errorf("dead letter for %v, want %s", got, reason)
	}
}
