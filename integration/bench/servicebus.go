package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/builtin"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// peekBatch is how many messages are looked at together.
const peekBatch = 1000

// queueName is the queue of the targets that have one.
const queueName = "bench"

// toServiceBus is a queue of the Service Bus emulator.
func toServiceBus(ctx context.Context, st *stage) (*target, error) {
	server, err := emulator.Start(ctx, emulator.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AutoCreate: true})
	if err != nil {
		return nil, err
	}
	key := "" // none is needed in this process
	if st.apart() {
		key = `"authentication":{"type":"sharedAccessKey","sasKeyName":"RootManageSharedAccessKey","sasKey":"S0VZ"},`
	}
	action := fmt.Sprintf(`{"type":"serviceBusQueue","serviceBusQueueMessage":{"namespace":"benchmark","queueName":%q,%s"message":%q}}`,
		queueName, key, body)
	t := newTarget(st.sink)
	t.args = []string{"--service-bus", "*=amqp://" + server.Addr()}
	t.options = []option{func(c *builtin.Config) error {
		c.ServiceBus.Default, c.AnyKey = "amqp://"+server.Addr(), true
		return nil
	}}
	t.action = func(string) string { return action }
	t.arrived = func() int {
		queue, err := server.Broker().Queue(queueName)
		if err != nil {
			return 0 // it is made when the first message comes
		}
		return int(queue.Usage.Counts.Active)
	}
	t.collect = func(ctx context.Context) error { return peekAll(ctx, server.ConnectionString(), st.sink) }
	t.close = server.Close
	return t, nil
}

// peekAll tells the sink of all messages in the queue.
func peekAll(ctx context.Context, connection string, s *sink) (err error) {
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	receiver, err := client.NewReceiverForQueue(queueName, nil)
	if err != nil {
		return err
	}
	next := int64(0)
	for {
		messages, err := receiver.PeekMessages(ctx, peekBatch, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &next})
		if err != nil || len(messages) == 0 {
			return err
		}
		for _, m := range messages {
			s.note(m.MessageID, *m.EnqueuedTime)
			next = *m.SequenceNumber + 1
		}
	}
}
