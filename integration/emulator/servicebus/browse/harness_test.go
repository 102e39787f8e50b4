package browse_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// A harness is a broker, and what people see of it.
type harness struct {
	*browse.Namespace

	t      *testing.T
	broker *broker.Broker
}

// open runs a broker with the entities given.
func open(t *testing.T, entities ...browse.Entity) *harness {
	t.Helper()
	b := broker.New(broker.Config{MaxMessageSize: 8 << 20})
	must.Do(t, b.Load())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	w := &harness{browse.New(b), t, b}
	for _, e := range entities {
		must.Do(w.t, w.Create(e))
	}
	return w
}

// queue is a plain queue.
func queue(name string) browse.Entity { return browse.Entity{Kind: browse.Queue, Name: name} }

// send sends drafts.
func (w *harness) send(path string, drafts ...browse.Draft) {
	w.t.Helper()
	for _, d := range drafts {
		must.Do(w.t, w.Send(path, d))
	}
}

// raw sends a message to the queue q as a client has encoded it.
func (w *harness) raw(raw []byte) {
	w.t.Helper()
	m := must.Get(amqp.ParseMessage(raw))(w.t)
	target := must.Get(w.broker.Target("q"))(w.t)
	must.Get(target.Send([]amqp.Message{m}, nil))(w.t)
}

// take has a receiver take n messages, and do something with each; it holds them as long as the test lasts otherwise.
func (w *harness) take(path string, n int, outcome *broker.Outcome) {
	w.t.Helper()
	source := must.Get(w.broker.Source(path))(w.t)
	receiver := must.Get(source.Receive(broker.ReceiverConfig{Wake: func() {}}))(w.t)
	receiver.SetCredit(uint32(n))
	for range n {
		d, ok := receiver.Next(nil)
		if !ok {
			w.t.Fatalf("%s has no %d messages", path, n)
		}
		if outcome != nil {
			must.Get(source.Settle(d.Token, *outcome, nil))(w.t)
		}
	}
	if outcome != nil {
		receiver.Close()
	} else {
		w.t.Cleanup(receiver.Close)
	}
}

// deadLetter makes n messages of the queue q dead letters.
func (w *harness) deadLetter(n int) {
	w.t.Helper()
	w.take("q", n, &broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "why", Description: "because"})
}

// texts are the bodies of the messages of a part of the queue q, which must be data.
func (w *harness) texts(part browse.Part) []string {
	w.t.Helper()
	page := must.Get(w.Peek(browse.Query{Path: "q", Part: part, Most: 1000}))(w.t)
	var all []string
	for _, m := range page.Messages {
		all = append(all, string(bytes.Join(m.Body.Data, nil)))
	}
	return all
}

// one is the message of a part, where there is no other.
func (w *harness) one(path string, part browse.Part) browse.Message {
	w.t.Helper()
	page := must.Get(w.Peek(browse.Query{Path: path, Part: part}))(w.t)
	if len(page.Messages) != 1 {
		w.t.Fatalf("%s has %d messages that are %s", path, len(page.Messages), part)
	}
	return page.Messages[0]
}

// bodies are drafts with bodies.
func bodies(texts ...string) []browse.Draft {
	all := make([]browse.Draft, len(texts))
	for i, text := range texts {
		all[i] = browse.Draft{MessageID: "id " + text, Body: []byte(text)}
	}
	return all
}
