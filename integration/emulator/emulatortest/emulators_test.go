package emulatortest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestNew shows both emulators in use, as a test of a program would use them.
func TestNew(t *testing.T) {
	emulators := emulatortest.New(t)

	bus := must.Get(azservicebus.NewClientFromConnectionString(emulators.ServiceBus.ConnectionString(), nil))(t)
	defer bus.Close(context.Background()) //nolint:errcheck // it is only not to leave goroutines
	sender := must.Get(bus.NewSender("orders", nil))(t)
	must.Do(t, sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("hello")}, nil))

	queue := must.Get(azqueue.NewQueueClientFromConnectionString(emulators.StorageQueue.ConnectionString(), "orders", nil))(t)
	must.Get(queue.EnqueueMessage(t.Context(), "hello", nil))(t)
}

// TestServiceBus shows an emulator with entities of its own.
func TestServiceBus(t *testing.T) {
	server := emulatortest.ServiceBus(t, servicebus.Config{
		Entities: servicebus.Entities{Queues: []servicebus.Queue{{Name: "orders"}}},
	})
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.HTTPAddr()+"/health", http.NoBody))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
}

func TestCertificate(t *testing.T) {
	certificate, authority, err := emulatortest.Certificate("localhost", "127.0.0.1")
	if err != nil || len(certificate.Certificate) != 1 || len(authority) == 0 {
		t.Error(err)
	}
}
