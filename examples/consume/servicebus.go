package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// readQueue prints and completes the messages of a Service Bus queue.
func readQueue(ctx context.Context, p *printer, o options) error {
	client, err := azservicebus.NewClientFromConnectionString(o.serviceBus, nil)
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what was read is completed
	receiver, err := client.NewReceiverForQueue(o.queue, nil)
	if err != nil {
		return err
	}
	return receive(ctx, p, "queue "+o.queue, receiver)
}

// readSubscription prints and completes the messages of a topic's subscription.
func readSubscription(ctx context.Context, p *printer, o options) error {
	client, err := azservicebus.NewClientFromConnectionString(o.serviceBus, nil)
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what was read is completed
	receiver, err := client.NewReceiverForSubscription(o.topic, o.subscription, nil)
	if err != nil {
		return err
	}
	return receive(ctx, p, "topic "+o.topic+"/"+o.subscription, receiver)
}

// receive waits for messages until ctx is done. A message that was printed is completed; one that was not comes again.
func receive(ctx context.Context, p *printer, from string, receiver *azservicebus.Receiver) error {
	for {
		messages, err := receiver.ReceiveMessages(ctx, 10, nil)
		if err != nil {
			return err
		}
		for _, m := range messages {
			p.print(from, m.MessageID, string(m.Body), properties(m))
			if err := receiver.CompleteMessage(ctx, m, nil); err != nil {
				return err
			}
		}
	}
}

// properties are those of a message that its sender gave, system properties in front of custom ones.
func properties(m *azservicebus.ReceivedMessage) map[string]any {
	all := map[string]any{}
	for name, value := range map[string]*string{
		"contentType": m.ContentType, "correlationId": m.CorrelationID, "label": m.Subject, "partitionKey": m.PartitionKey,
		"replyTo": m.ReplyTo, "replyToSessionId": m.ReplyToSessionID, "sessionId": m.SessionID, "to": m.To,
	} {
		if value != nil {
			all[name] = *value
		}
	}
	if m.TimeToLive != nil && *m.TimeToLive > 0 {
		all["timeToLive"] = m.TimeToLive.String()
	}
	if len(m.ApplicationProperties) > 0 {
		all["custom"] = m.ApplicationProperties
	}
	return all
}
