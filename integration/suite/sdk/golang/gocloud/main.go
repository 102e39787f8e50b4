// The Service Bus emulator seen by the Go CDK's pubsub, which drives azservicebus.
package main

import (
	"context"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/azuresb"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func main() {
	report.Run("gocloud.dev", []report.Operation{
		{Name: "send", Do: send},
		{Name: "abandon", Do: abandon},
		{Name: "topic and subscription", Do: topic},
		{Name: "unknown entity", Do: unknown},
	})
}

// onTopic runs a function with a topic of the CDK.
func onTopic(ctx context.Context, name string, do func(*azservicebus.Client, *pubsub.Topic)) {
	client := report.Get(azuresb.NewClientFromConnectionString(os.Getenv("SERVICEBUS_CONNECTION_STRING"), nil))
	topic := report.Get(azuresb.OpenTopic(ctx, report.Get(azuresb.NewSender(client, name, nil)), nil))
	do(client, topic)
	report.Must(topic.Shutdown(ctx), client.Close(ctx))
}

// receive takes messages in any order from a subscription and acknowledges them.
func receive(ctx context.Context, client *azservicebus.Client, count int, each func(*pubsub.Message)) {
	receiver := report.Get(azuresb.NewReceiver(client, "events", "all", nil))
	subscription := report.Get(azuresb.OpenSubscription(ctx, client, receiver, nil))
	for range count {
		each(report.Get(subscription.Receive(ctx)))
	}
	report.Must(subscription.Shutdown(ctx))
}

func send(ctx context.Context) {
	onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) {
		report.Sends(func(text string) { report.Must(topic.Send(ctx, &pubsub.Message{Body: []byte(text)})) })
		found := make(map[string]bool)
		receive(ctx, client, 100, func(m *pubsub.Message) {
			found[string(m.Body)] = true
			m.Ack()
		})
		report.Equal(len(found), 100)
	})
}

func abandon(ctx context.Context) {
	onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) {
		report.Must(topic.Send(ctx, &pubsub.Message{Body: []byte("m")}))
		times := 0
		receive(ctx, client, 2, func(m *pubsub.Message) {
			if times++; times == 1 {
				m.Nack()
			} else {
				m.Ack()
			}
			report.Equal(string(m.Body), "m")
		})
	})
}

func topic(ctx context.Context) {
	onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) {
		report.Must(topic.Send(ctx, &pubsub.Message{Body: []byte("m"), Metadata: map[string]string{"k": "v"}}))
		receive(ctx, client, 1, func(m *pubsub.Message) {
			m.Ack()
			report.Equal(string(m.Body), "m")
			report.Equal(m.Metadata["k"], "v")
		})
	})
}

func unknown(ctx context.Context) {
	onTopic(ctx, "nowhere", func(_ *azservicebus.Client, topic *pubsub.Topic) {
		report.Refused(topic.Send(ctx, &pubsub.Message{Body: []byte("m")}), "not-found", "could not be found")
	})
}
