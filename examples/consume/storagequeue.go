package main

import (
	"context"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
)

// pause is how long to wait after a storage queue was empty: unlike Service Bus, it cannot be waited for.
const pause = time.Second

// readStorageQueue prints and deletes the messages of a storage queue, which need not be there yet.
func readStorageQueue(ctx context.Context, p *printer, o options) error {
	queue, err := azqueue.NewQueueClientFromConnectionString(o.storage, o.storageQueue, nil)
	if err != nil {
		return err
	}
	tick := time.Tick(pause)
	for {
		answer, err := queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(32))})
		if err != nil && !queueerror.HasCode(err, queueerror.QueueNotFound) {
			return err
		}
		for _, m := range answer.Messages {
			p.print("storage queue "+o.storageQueue, *m.MessageID, plain(*m.MessageText), properties{})
			if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
				return err
			}
		}
		if len(answer.Messages) > 0 {
			continue
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}

// plain decodes a message. Azure Scheduler and Azure Functions encode messages in base64, others do not, and
// nothing in the queue says which: a plain text that happens to be base64 of text is decoded, too.
func plain(text string) string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 || !utf8.Valid(data) {
		return text
	}
	return string(data)
}
