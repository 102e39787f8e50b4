package storagequeue_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// An emulator on a free port, and a client as it is for the real service.
func Example() {
	ctx := context.Background()
	server, err := storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	defer http.DefaultClient.CloseIdleConnections()

	queue, err := azqueue.NewQueueClientFromConnectionString(server.ConnectionString(), "orders", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := queue.Create(ctx, nil); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := queue.EnqueueMessage(ctx, "order 1", nil); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := queue.DequeueMessage(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, message := range answer.Messages {
		fmt.Println(*message.MessageText, *message.DequeueCount)
		if _, err := queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil); err != nil {
			fmt.Println(err)
		}
	}
	// Output: order 1 1
}
