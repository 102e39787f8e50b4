// The Service Bus emulator seen by azservicebus, in the versions of the module files.
package main

import (
	"context"
	"crypto/tls"
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
	client  = report.Get(azservicebus.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_AMQP")), options))
	manager = report.Get(admin.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_HTTP")), nil))
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
func onQueue(ctx context.Context, name string, do func(*azservicebus.Sender, *azservicebus.Receiver)) {
	onReceiver(ctx, name, nil, do)
}

func onReceiver(
	ctx context.Context, name string, options *azservicebus.ReceiverOptions, do func(*azservicebus.Sender, *azservicebus.Receiver),
) {
	sender := report.Get(client.NewSender(name, nil))
	receiver := report.Get(client.NewReceiverForQueue(name, options))
	err := report.Try(func() { do(sender, receiver) })
	report.Must(err, sender.Close(ctx), receiver.Close(ctx))
}

func put(ctx context.Context, sender *azservicebus.Sender, texts ...string) {
	for _, text := range texts {
		report.Must(sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text)}, nil))
	}
}

// A source is what receives and completes: a receiver, of a session or without.
type source interface {
	ReceiveMessages(ctx context.Context, n int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	CompleteMessage(ctx context.Context, m *azservicebus.ReceivedMessage, o *azservicebus.CompleteMessageOptions) error
}

func one(ctx context.Context, from source, text string) *azservicebus.ReceivedMessage {
	got := report.Get(from.ReceiveMessages(ctx, 1, nil))[0]
	report.Equal(string(got.Body), text)
	return got
}

// collect receives messages with these texts and completes them.
func collect(ctx context.Context, from source, want ...string) {
	var got []string
	for len(got) < len(want) {
		some, err := from.ReceiveMessages(ctx, len(want)-len(got), nil)
		if err != nil {
			report.Must(fmt.Errorf("%d of %d messages came: %w", len(got), len(want), err))
		}
		for _, m := range some {
			report.Must(from.CompleteMessage(ctx, m, nil))
			got = append(got, string(m.Body))
		}
	}
	report.Same(got, want)
}

// waiting checks how many messages there are, up to ten.
func waiting(ctx context.Context, receiver *azservicebus.Receiver, want int) {
	got := report.Get(receiver.PeekMessages(ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)}))
	report.Equal(len(got), want)
}
