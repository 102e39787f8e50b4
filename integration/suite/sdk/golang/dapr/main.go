// The emulators seen by Dapr's components; the argument is which of them: servicebus or storagequeues.
package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/dapr/components-contrib/bindings"
	"github.com/dapr/components-contrib/bindings/azure/servicebusqueues"
	"github.com/dapr/components-contrib/bindings/azure/storagequeues"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/pubsub"
	"github.com/dapr/components-contrib/pubsub/azure/servicebus/topics"
	"github.com/dapr/kit/logger"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

var log = logger.NewLogger("dapr")

func main() {
	log.SetOutputLevel(logger.FatalLevel)
	operations := []report.Operation{{Name: "push", Do: busBinding}, {Name: "topic and subscription", Do: pubSub}}
	if os.Args[1] == "storagequeues" {
		operations = []report.Operation{{Name: "put and get", Do: storageBinding}}
	}
	report.Run("github.com/dapr/components-contrib", operations)
}

// A binding sends and receives.
type binding interface {
	bindings.InputBinding
	bindings.OutputBinding
}

// through sends a message through a binding and waits until it comes out.
func through(ctx context.Context, b binding, properties map[string]string) error {
	if err := b.Init(ctx, bindings.Metadata{Base: metadata.Base{Name: "b", Properties: properties}}); err != nil {
		return err
	}
	got := make(chan string, 1)
	err := b.Read(ctx, func(_ context.Context, m *bindings.ReadResponse) ([]byte, error) {
		got <- string(m.Data)
		return nil, nil
	})
	if err != nil {
		return err
	}
	if _, err := b.Invoke(ctx, &bindings.InvokeRequest{Operation: bindings.CreateOperation, Data: []byte("m")}); err != nil {
		return err
	}
	select {
	case text := <-got:
		return errors.Join(report.Equal(text, "m"), b.Close())
	case <-ctx.Done():
		return ctx.Err()
	}
}

func busBinding(ctx context.Context) error {
	b, ok := servicebusqueues.NewAzureServiceBusQueues(log).(binding)
	if !ok {
		return errors.New("the binding has but one direction")
	}
	return through(ctx, b, map[string]string{
		"connectionString": os.Getenv("SERVICEBUS_CONNECTION_STRING"), "queueName": "push", "disableEntityManagement": "true",
	})
}

func storageBinding(ctx context.Context) error {
	parts := report.Connection("STORAGE_CONNECTION_STRING")
	// It puts the account behind this by itself.
	endpoint := strings.TrimSuffix(strings.TrimSuffix(parts["QueueEndpoint"], "/"), "/"+parts["AccountName"])
	b, ok := storagequeues.NewAzureStorageQueues(log).(binding)
	if !ok {
		return errors.New("the binding has but one direction")
	}
	return through(ctx, b, map[string]string{
		"accountName": parts["AccountName"], "accountKey": parts["AccountKey"], "queueName": "dapr", "queueEndpointUrl": endpoint,
	})
}

func pubSub(ctx context.Context) error {
	p := topics.NewAzureServiceBusTopics(log)
	err := p.Init(ctx, pubsub.Metadata{Base: metadata.Base{Name: "p", Properties: map[string]string{
		"connectionString": os.Getenv("SERVICEBUS_CONNECTION_STRING"), "consumerID": "all", "disableEntityManagement": "true",
	}}})
	if err != nil {
		return err
	}
	got := make(chan string, 1)
	err = p.Subscribe(ctx, pubsub.SubscribeRequest{Topic: "events"}, func(_ context.Context, m *pubsub.NewMessage) error {
		got <- string(m.Data)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.Publish(ctx, &pubsub.PublishRequest{Topic: "events", Data: []byte("m")}); err != nil {
		return err
	}
	select {
	case text := <-got:
		return errors.Join(report.Equal(text, "m"), p.Close())
	case <-ctx.Done():
		return ctx.Err()
	}
}
