package servicebus_test

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// A job that was written for Azure is sent to an emulator, as `carillon dev` does.
func Example() {
	ctx := context.Background()
	server, err := emulator.Start(ctx, emulator.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AutoCreate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close() //nolint:errcheck // of an example

	client := servicebus.New(servicebus.Config{
		Endpoints:   egress.Endpoints{Default: "amqp://" + server.Addr()},
		KeyOptional: true,
	})
	defer client.Close()

	v, err := document.Parse([]byte(`{"serviceBusQueueMessage": {
		"queueName": "q1", "namespace": "mySBNamespace", "transportType": "AMQP",
		"authentication": {"sasKeyName": "QPolicy", "type": "sharedAccessKey"}, "message": "Some message"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	action := client.ReadAction("ServiceBusQueue", document.NewReader().Object(v, "action"))
	result := action.Invoke(ctx, scheduler.Attempt{Key: "default/nightly@2026-03-01T09:30:00Z", Timeout: time.Minute})
	fmt.Println(result.Message)
	// Output: ServiceBusQueue Action - Message 'default/nightly@2026-03-01T09:30:00Z' sent to queue 'q1' of namespace 'mySBNamespace'
}
