// The Service Bus emulator seen by azservicebus, in the versions of the module files.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

var (
	options = &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: 1, RetryDelay: 50 * time.Millisecond},
		TLSConfig:    &tls.Config{ServerName: "localhost", MinVersion: tls.VersionTLS12}, // it would be with the port
	}
	client  = must(azservicebus.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_AMQP")), options))
	manager = must(admin.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_HTTP")), nil))
)

func main() {
	report.Run("github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus", []report.Operation{
		{Name: "send", Do: send},
		{Name: "batch", Do: batch},
		{Name: "large message", Do: large},
		{Name: "properties of every type", Do: properties},
		{Name: "receive and delete", Do: deleting},
		{Name: "complete", Do: complete},
		{Name: "abandon", Do: abandon},
		{Name: "defer", Do: deferring},
		{Name: "dead-letter", Do: deadLetter},
		{Name: "peek", Do: peek},
		{Name: "schedule and cancel", Do: schedule},
		{Name: "renew lock", Do: renew},
		{Name: "lose lock", Do: lose},
		{Name: "session by name", Do: session},
		{Name: "next session", Do: nextSession},
		{Name: "session state", Do: sessionState},
		{Name: "locked session", Do: lockedSession},
		{Name: "topic and subscription", Do: topic},
		{Name: "unknown entity", Do: unknown},
		{Name: "admin queues", Do: adminQueues},
		{Name: "admin subscriptions", Do: adminSubscriptions},
		{Name: "admin counts", Do: adminCounts},
		{Name: "admin pages", Do: adminPages},
	})
}

// onQueue runs a function with a sender and a receiver of a queue.
func onQueue(ctx context.Context, name string, do func(*azservicebus.Sender, *azservicebus.Receiver) error) error {
	return onReceiver(ctx, name, nil, do)
}

func onReceiver(
	ctx context.Context, name string, options *azservicebus.ReceiverOptions, do func(*azservicebus.Sender, *azservicebus.Receiver) error,
) error {
	sender, err := client.NewSender(name, nil)
	if err != nil {
		return err
	}
	receiver, err := client.NewReceiverForQueue(name, options)
	if err != nil {
		return err
	}
	err = do(sender, receiver)
	return errors.Join(err, sender.Close(ctx), receiver.Close(ctx))
}

func put(ctx context.Context, sender *azservicebus.Sender, texts ...string) error {
	for _, text := range texts {
		if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// A source is what receives and completes: a receiver, of a session or without.
type source interface {
	ReceiveMessages(ctx context.Context, n int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	CompleteMessage(ctx context.Context, m *azservicebus.ReceivedMessage, o *azservicebus.CompleteMessageOptions) error
}

func one(ctx context.Context, from source, text string) (*azservicebus.ReceivedMessage, error) {
	got, err := from.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		return nil, err
	}
	return got[0], report.Equal(string(got[0].Body), text)
}

// collect receives messages with these texts and completes them.
func collect(ctx context.Context, from source, want ...string) error {
	var got []string
	for len(got) < len(want) {
		some, err := from.ReceiveMessages(ctx, len(want)-len(got), nil)
		if err != nil {
			return fmt.Errorf("%d of %d messages came: %w", len(got), len(want), err)
		}
		for _, m := range some {
			if err := from.CompleteMessage(ctx, m, nil); err != nil {
				return err
			}
			got = append(got, string(m.Body))
		}
	}
	return report.Same(got, want)
}

func none(ctx context.Context, receiver *azservicebus.Receiver) error {
	got, err := receiver.PeekMessages(ctx, 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)})
	if err != nil {
		return err
	}
	return report.Equal(len(got), 0)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
