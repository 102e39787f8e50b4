package delivery

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// fromBus receives one message of a queue, or of a topic's subscription, with the SDK.
func (s *system) fromBus(entity ...string) *azservicebus.ReceivedMessage {
	s.t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(s.bus.ConnectionString(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	defer client.Close(ctx) //nolint:errcheck // the emulator ends anyway
	options := &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}
	var receiver *azservicebus.Receiver
	if len(entity) == 2 {
		receiver, err = client.NewReceiverForSubscription(entity[0], entity[1], options)
	} else {
		receiver, err = client.NewReceiverForQueue(entity[0], options)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil || len(messages) != 1 {
		s.t.Fatalf("nothing from %v: %v", entity, err)
	}
	return messages[0]
}

// fromQueue takes one message out of a storage queue with the SDK, as soon as there is one.
func (s *system) fromQueue(account, queue string) *azqueue.DequeuedMessage {
	s.t.Helper()
	m := dequeue(s.t, s.queues.ConnectionStringFor(account), queue)
	if m == nil {
		s.t.Fatalf("nothing in queue %s of account %s", queue, account)
	}
	return m
}

// dequeue takes one message out of a storage queue. It returns nil when there is none.
func dequeue(t *testing.T, connection, queue string) *azqueue.DequeuedMessage {
	t.Helper()
	client := must.Get(azqueue.NewQueueClientFromConnectionString(connection, queue, nil))(t)
	got := must.Get(client.DequeueMessage(t.Context(), nil))(t)
	if len(got.Messages) == 0 {
		return nil
	}
	return got.Messages[0]
}
