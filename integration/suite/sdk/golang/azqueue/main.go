// The storage queue emulator seen by azqueue 1.0.
package main

import (
	"context"
	"errors"
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

func service() (*azqueue.ServiceClient, error) {
	return azqueue.NewServiceClientFromConnectionString(os.Getenv("STORAGE_CONNECTION_STRING"), nil)
}

// onQueue runs a function with a queue that it makes.
func onQueue(ctx context.Context, name string, do func(*azqueue.QueueClient) error) error {
	client, err := azqueue.NewQueueClientFromConnectionString(os.Getenv("STORAGE_CONNECTION_STRING"), name, nil)
	if err != nil {
		return err
	}
	if _, err := client.Create(ctx, nil); err != nil {
		return err
	}
	return do(client)
}

func put(ctx context.Context, client *azqueue.QueueClient, text string) error {
	_, err := client.EnqueueMessage(ctx, text, nil)
	return err
}

func take(ctx context.Context, client *azqueue.QueueClient, want string) (*azqueue.DequeuedMessage, error) {
	got, err := client.DequeueMessage(ctx, nil)
	if err != nil {
		return nil, err
	}
	if len(got.Messages) != 1 {
		return nil, errors.New("no message came")
	}
	return got.Messages[0], report.Equal(*got.Messages[0].MessageText, want)
}

func queues(ctx context.Context) error {
	client, err := service()
	if err != nil {
		return err
	}
	want := []string{"list0", "list1", "list2"}
	for _, name := range want {
		if _, err := client.CreateQueue(ctx, name, nil); err != nil {
			return err
		}
	}
	var names []string
	prefix, size := "list", int32(2)
	for pager := client.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: &prefix, MaxResults: &size}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, each := range page.Queues {
			names = append(names, *each.Name)
		}
	}
	_, err = client.DeleteQueue(ctx, "list0", nil)
	_, twice := client.DeleteQueue(ctx, "list0", nil)
	return errors.Join(err, report.Same(names, want), report.Refused(twice, "QueueNotFound"))
}

func metadata(ctx context.Context) error {
	return onQueue(ctx, "metadata", func(client *azqueue.QueueClient) error {
		value := "1"
		if _, err := client.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{"one": &value}}); err != nil {
			return err
		}
		got, err := client.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		for _, found := range got.Metadata {
			err = errors.Join(err, report.Equal(*found, value))
		}
		return errors.Join(err, report.Equal(len(got.Metadata), 1))
	})
}

func putAndGet(ctx context.Context) error {
	return onQueue(ctx, "putget", func(client *azqueue.QueueClient) error {
		for _, text := range []string{"plain", "ä€ 漢字 <&>\"'"} {
			if err := put(ctx, client, text); err != nil {
				return err
			}
			got, err := take(ctx, client, text)
			if err != nil {
				return err
			}
			if _, err := client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func oneByOne(ctx context.Context) error {
	return onQueue(ctx, "onebyone", func(client *azqueue.QueueClient) error {
		return report.Sends(func(text string) error { return put(ctx, client, text) })
	})
}

func peek(ctx context.Context) error {
	return onQueue(ctx, "peek", func(client *azqueue.QueueClient) error {
		if err := put(ctx, client, "m"); err != nil {
			return err
		}
		got, err := client.PeekMessage(ctx, nil)
		if err != nil {
			return err
		}
		return report.Equal(*got.Messages[0].MessageText, "m")
	})
}

func update(ctx context.Context) error {
	return onQueue(ctx, "update", func(client *azqueue.QueueClient) error {
		if err := put(ctx, client, "before"); err != nil {
			return err
		}
		got, err := take(ctx, client, "before")
		if err != nil {
			return err
		}
		_, err = client.UpdateMessage(ctx, *got.MessageID, *got.PopReceipt, "after", nil)
		_, late := client.UpdateMessage(ctx, *got.MessageID, *got.PopReceipt, "late", nil)
		_, after := take(ctx, client, "after")
		return errors.Join(err, after, report.Refused(late, "PopReceiptMismatch"))
	})
}

func remove(ctx context.Context) error {
	return onQueue(ctx, "delete", func(client *azqueue.QueueClient) error {
		if err := put(ctx, client, "m"); err != nil {
			return err
		}
		got, err := take(ctx, client, "m")
		if err != nil {
			return err
		}
		_, err = client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil)
		_, twice := client.DeleteMessage(ctx, *got.MessageID, *got.PopReceipt, nil)
		return errors.Join(err, report.Refused(twice, "MessageNotFound"))
	})
}

func clearAll(ctx context.Context) error {
	return onQueue(ctx, "clear", func(client *azqueue.QueueClient) error {
		if err := put(ctx, client, "m"); err != nil {
			return err
		}
		_, err := client.ClearMessages(ctx, nil)
		got, bad := client.PeekMessage(ctx, nil)
		return errors.Join(err, bad, report.Equal(len(got.Messages), 0))
	})
}

func unknown(ctx context.Context) error {
	client, err := service()
	if err != nil {
		return err
	}
	return report.Refused(put(ctx, client.NewQueueClient("nowhere"), "m"), "QueueNotFound")
}
