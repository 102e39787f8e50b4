// The storage queue emulator seen by azqueue 1.0.
package main

import (
	"context"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func main() {
	report.Run("github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue", []report.Operation{
		{Name: "queues", Do: queues},
		{Name: "queue metadata", Do: metadata},
		{Name: "put and get", Do: putAndGet},
		{Name: "put one by one", Do: oneByOne},
		{Name: "peek messages", Do: peek},
		{Name: "update", Do: update},
		{Name: "delete", Do: remove},
		{Name: "clear", Do: clearAll},
		{Name: "unknown queue", Do: unknown},
	})
}

func service() *azqueue.ServiceClient {
	return report.Get(azqueue.NewServiceClientFromConnectionString(os.Getenv("STORAGE_CONNECTION_STRING"), nil))
}

// made returns a new queue.
func made(ctx context.Context, name string) *azqueue.QueueClient {
	report.Get(service().CreateQueue(ctx, name, nil))
	return service().NewQueueClient(name)
}

func put(ctx context.Context, client *azqueue.QueueClient, text string) {
	report.Get(client.EnqueueMessage(ctx, text, nil))
}

func take(ctx context.Context, client *azqueue.QueueClient, want string) *azqueue.DequeuedMessage {
	got := report.Get(client.DequeueMessage(ctx, nil))
	report.Equal(len(got.Messages), 1)
	report.Equal(*got.Messages[0].MessageText, want)
	return got.Messages[0]
}

func queues(ctx context.Context) {
	client, want := service(), []string{"list0", "list1", "list2"}
	for _, name := range want {
		report.Get(client.CreateQueue(ctx, name, nil))
	}
	var names []string
	prefix, size := "list", int32(2)
	for pager := client.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: &prefix, MaxResults: &size}); pager.More(); {
		for _, each := range report.Get(pager.NextPage(ctx)).Queues {
			names = append(names, *each.Name)
		}
	}
	report.Same(names, want)
	report.Get(client.DeleteQueue(ctx, "list0", nil))
	_, twice := client.DeleteQueue(ctx, "list0", nil)
	report.Refused(twice, "QueueNotFound")
}

func metadata(ctx context.Context) {
	client, value := made(ctx, "metadata"), "1"
	report.Get(client.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{"one": &value}}))
	got := report.Get(client.GetProperties(ctx, nil))
	for _, found := range got.Metadata {
		report.Equal(*found, value)
	}
	report.Equal(len(got.Metadata), 1)
}

func putAndGet(ctx context.Context) {
	client := made(ctx, "putget")
	for _, text := range []string{"plain", "ä€ 漢字 <&>\"'"} {
		put(ctx, client, text)
		got := take(ctx, client, text)
		report.Get(client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil))
	}
}

func oneByOne(ctx context.Context) {
	client := made(ctx, "onebyone")
	report.Sends(func(text string) { put(ctx, client, text) })
}

func peek(ctx context.Context) {
	client := made(ctx, "peek")
	put(ctx, client, "m")
	report.Equal(*report.Get(client.PeekMessage(ctx, nil)).Messages[0].MessageText, "m")
}

func update(ctx context.Context) {
	client := made(ctx, "update")
	put(ctx, client, "before")
	got := take(ctx, client, "before")
	report.Get(client.UpdateMessage(ctx, *got.MessageID, *got.PopReceipt, "after", nil))
	_, late := client.UpdateMessage(ctx, *got.MessageID, *got.PopReceipt, "late", nil)
	report.Refused(late, "PopReceiptMismatch")
	take(ctx, client, "after")
}

func remove(ctx context.Context) {
	client := made(ctx, "delete")
	put(ctx, client, "m")
	got := take(ctx, client, "m")
	report.Get(client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil))
	_, twice := client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil)
	report.Refused(twice, "MessageNotFound")
}

func clearAll(ctx context.Context) {
	client := made(ctx, "clear")
	put(ctx, client, "m")
	report.Get(client.ClearMessages(ctx, nil))
	report.Equal(len(report.Get(client.PeekMessage(ctx, nil)).Messages), 0)
}

func unknown(ctx context.Context) {
	_, err := service().NewQueueClient("nowhere").EnqueueMessage(ctx, "m", nil)
	report.Refused(err, "QueueNotFound")
}
