// The emulators seen by Dapr's components; the argument is which of them: servicebus or storagequeues.
package main

import (
	"context"
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
func through(ctx context.Context, made any, properties map[string]string) {
	b, ok := made.(binding)
	report.Equal(ok, true) // it has both directions
	report.Must(b.Init(ctx, bindings.Metadata{Base: metadata.Base{Name: "b", Properties: properties}}))
	got := make(chan string, 1)
	report.Must(b.Read(ctx, func(_ context.Context, m *bindings.ReadResponse) ([]byte, error) {
		got <- string(m.Data)
		return nil, nil
	}))
	report.Get(b.Invoke(ctx, &bindings.InvokeRequest{Operation: bindings.CreateOperation, Data: []byte("m")}))
	arrives(ctx, got)
	report.Must(b.Close())
}

// arrives waits for the message.
func arrives(ctx context.Context, got <-chan string) {
	select {
	case text := <-got:
		report.Equal(text, "m")
	case <-ctx.Done():
		report.Must(ctx.Err())
	}
}

func busBinding(ctx context.Context) {
	through(ctx, servicebusqueues.NewAzureServiceBusQueues(log), map[string]string{
		"connectionString": os.Getenv("SERVICEBUS_CONNECTION_STRING"), "queueName": "push", "disableEntityManagement": "true",
	})
}

func storageBinding(ctx context.Context) {
	parts := report.Connection("STORAGE_CONNECTION_STRING")
	// It puts the account behind this by itself.
	endpoint := strings.TrimSuffix(strings.TrimSuffix(parts["QueueEndpoint"], "/"), "/"+parts["AccountName"])
	through(ctx, storagequeues.NewAzureStorageQueues(log), map[string]string{
		"accountName": parts["AccountName"], "accountKey": parts["AccountKey"], "queueName": "dapr", "queueEndpointUrl": endpoint,
	})
}

func pubSub(ctx context.Context) {
	p := topics.NewAzureServiceBusTopics(log)
	report.Must(p.Init(ctx, pubsub.Metadata{Base: metadata.Base{Name: "p", Properties: map[string]string{
		"connectionString": os.Getenv("SERVICEBUS_CONNECTION_STRING"), "consumerID": "all", "disableEntityManagement": "true",
	}}}))
	got := make(chan string, 1)
	report.Must(p.Subscribe(ctx, pubsub.SubscribeRequest{Topic: "events"}, func(_ context.Context, m *pubsub.NewMessage) error {
		got <- string(m.Data)
		return nil
	}))
	report.Must(p.Publish(ctx, &pubsub.PublishRequest{Topic: "events", Data: []byte("m")}))
	arrives(ctx, got)
	report.Must(p.Close())
}
