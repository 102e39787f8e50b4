// The Service Bus emulator seen by the Go CDK's pubsub, which drives azservicebus.
package main

import (
	"context"
	"errors"
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

func connect() (*azservicebus.Client, error) {
	return azuresb.NewClientFromConnectionString(os.Getenv("SERVICEBUS_CONNECTION_STRING"), nil)
}

// onTopic runs a function with a topic of the CDK.
func onTopic(ctx context.Context, name string, do func(*azservicebus.Client, *pubsub.Topic) error) error {
	client, err := connect()
	if err != nil {
		return err
	}
	sender, err := azuresb.NewSender(client, name, nil)
	if err != nil {
		return err
	}
	topic, err := azuresb.OpenTopic(ctx, sender, nil)
	if err != nil {
		return err
	}
	return errors.Join(do(client, topic), topic.Shutdown(ctx), client.Close(ctx))
}

// receive takes messages in any order from a subscription and acknowledges them.
func receive(ctx context.Context, client *azservicebus.Client, count int, each func(*pubsub.Message) error) error {
	receiver, err := azuresb.NewReceiver(client, "events", "all", nil)
	if err != nil {
		return err
	}
	subscription, err := azuresb.OpenSubscription(ctx, client, receiver, nil)
	if err != nil {
		return err
	}
	for range count {
		m, bad := subscription.Receive(ctx)
		if bad != nil {
			err = bad
			break
		}
		err = errors.Join(err, each(m))
	}
	return errors.Join(err, subscription.Shutdown(ctx))
}

func send(ctx context.Context) error {
	return onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) error {
		err := report.Sends(func(text string) error { return topic.Send(ctx, &pubsub.Message{Body: []byte(text)}) })
		found := make(map[string]bool)
		err = errors.Join(err, receive(ctx, client, 100, func(m *pubsub.Message) error {
			found[string(m.Body)] = true
			m.Ack()
			return nil
		}))
		return errors.Join(err, report.Equal(len(found), 100))
	})
}

func abandon(ctx context.Context) error {
	return onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) error {
		if err := topic.Send(ctx, &pubsub.Message{Body: []byte("m")}); err != nil {
			return err
		}
		times := 0
		return receive(ctx, client, 2, func(m *pubsub.Message) error {
			if times++; times == 1 {
				m.Nack()
			} else {
				m.Ack()
			}
			return report.Equal(string(m.Body), "m")
		})
	})
}

func topic(ctx context.Context) error {
	return onTopic(ctx, "events", func(client *azservicebus.Client, topic *pubsub.Topic) error {
		if err := topic.Send(ctx, &pubsub.Message{Body: []byte("m"), Metadata: map[string]string{"k": "v"}}); err != nil {
			return err
		}
		return receive(ctx, client, 1, func(m *pubsub.Message) error {
			m.Ack()
			return errors.Join(report.Equal(string(m.Body), "m"), report.Equal(m.Metadata["k"], "v"))
		})
	})
}

func unknown(ctx context.Context) error {
	return onTopic(ctx, "nowhere", func(_ *azservicebus.Client, topic *pubsub.Topic) error {
		return report.Refused(topic.Send(ctx, &pubsub.Message{Body: []byte("m")}), "not-found", "could not be found")
	})
}
