package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// readQueue prints and completes the messages of a Service Bus queue.
func readQueue(ctx context.Context, p *printer, o options) error {
	return receive(ctx, p, o, "queue "+o.queue, func(c *azservicebus.Client) (*azservicebus.Receiver, error) {
		return c.NewReceiverForQueue(o.queue, nil)
	})
}

// readSubscription prints and completes the messages of a topic's subscription.
func readSubscription(ctx context.Context, p *printer, o options) error {
	return receive(ctx, p, o, "topic "+o.topic+"/"+o.subscription, func(c *azservicebus.Client) (*azservicebus.Receiver, error) {
		return c.NewReceiverForSubscription(o.topic, o.subscription, nil)
	})
}

// receive waits for messages until ctx is done. It completes each printed message; others are delivered again.
func receive(
	ctx context.Context, p *printer, o options, from string, open func(*azservicebus.Client) (*azservicebus.Receiver, error),
) error {
	client, err := azservicebus.NewClientFromConnectionString(o.serviceBus, nil)
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx)) //nolint:errcheck // received messages are completed first
	receiver, err := open(client)
	if err != nil {
		return err
	}
	for {
		messages, err := receiver.ReceiveMessages(ctx, 10, nil)
		if err != nil {
			return err
		}
		for _, m := range messages {
			p.print(from, m.MessageID, string(m.Body), propertiesOf(m))
			if err := receiver.CompleteMessage(ctx, m, nil); err != nil {
				return err
			}
		}
	}
}

// properties are the properties that a message's sender has set.
type properties struct {
	ContentType      *string        `json:"contentType,omitempty"`
	CorrelationID    *string        `json:"correlationId,omitempty"`
	Custom           map[string]any `json:"custom,omitempty"`
	Label            *string        `json:"label,omitempty"`
	PartitionKey     *string        `json:"partitionKey,omitempty"`
	ReplyTo          *string        `json:"replyTo,omitempty"`
	ReplyToSessionID *string        `json:"replyToSessionId,omitempty"`
	SessionID        *string        `json:"sessionId,omitempty"`
	TimeToLive       string         `json:"timeToLive,omitempty"`
	To               *string        `json:"to,omitempty"`
}

func propertiesOf(m *azservicebus.ReceivedMessage) properties {
	p := properties{
		ContentType: m.ContentType, CorrelationID: m.CorrelationID, Custom: m.ApplicationProperties, Label: m.Subject,
		PartitionKey: m.PartitionKey, ReplyTo: m.ReplyTo, ReplyToSessionID: m.ReplyToSessionID, SessionID: m.SessionID, To: m.To,
	}
	if m.TimeToLive != nil && *m.TimeToLive > 0 {
		p.TimeToLive = m.TimeToLive.String()
	}
	return p
}
