package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

// QueuePages are the addresses of the pages of queues that the story has something for.
var QueuePages = []string{
	"/console/queues", "/console/queues?q=nothing-has-this-name",
	"/console/queues/entity?at=checkout", "/console/queues/entity?at=checkout&part=dead",
	"/console/queues/entity?at=checkout&part=scheduled",
	"/console/queues/entity?at=checkout&part=deferred", "/console/queues/entity?at=events",
	"/console/queues/entity?at=events/Subscriptions/all", "/console/queues/message?at=checkout&part=dead&n=1",
	"/console/queues/message?at=bodies&n=1", "/console/queues/message?at=bodies&n=2", "/console/queues/message?at=bodies&n=3",
	"/console/queues/resubmit?at=checkout&part=dead&n=1", "/console/queues/resubmit?at=checkout&part=dead",
	"/console/queues/resubmit?at=checkout&part=dead&marked=1&n=1&n=2",
	"/console/queues/new?kind=queue", "/console/queues/new?kind=subscription&at=events", "/console/queues/change?at=checkout",
	"/console/queues/drop?at=events", "/console/queues/rule?at=events/Subscriptions/all",
	"/console/queues/rule?at=events/Subscriptions/all&name=$Default", "/console/queues/sessions?at=checkout",
	"/console/queues/storage/new",
	"/console/queues/purge?at=checkout&part=dead", "/console/queues/send?at=checkout", "/console/queues/rules?at=events",
	"/console/queues/rules?at=events&from=checkout&part=active&n=9",
	"/console/queues/storage?account=devstoreaccount1&queue=letters",
	"/console/queues/storage?account=devstoreaccount1&queue=letters-poison",
	"/console/queues/storage/put?account=devstoreaccount1&queue=letters",
	"/console/queues/storage/move?account=devstoreaccount1&queue=letters-poison",
	"/console/queues/storage/clear?account=devstoreaccount1&queue=letters",
}

// FillQueues sends messages to the emulators: failed ones, and ones that are difficult to display.
func (s *Stage) FillQueues(ctx context.Context) error {
	client, err := azservicebus.NewClientFromConnectionString(s.ServiceBus, nil)
	if err != nil {
		return err
	}
	err = fillBus(ctx, client)
	if err := errors.Join(err, client.Close(ctx)); err != nil {
		return fmt.Errorf("service bus: %w", err)
	}
	service, err := azqueue.NewServiceClientFromConnectionString(s.StorageQueue, nil)
	if err != nil {
		return err
	}
	for _, name := range []string{"letters", "letters-poison"} {
		if _, err := service.CreateQueue(ctx, name, nil); err != nil {
			return fmt.Errorf("storage queue: %w", err)
		}
		for _, text := range []string{`{"letter":1,"to":"<b>Ada</b>"}`, "eyJiYXNlNjQiOiB0cnVlfQ==", strings.Repeat("long", 500)} {
			if _, err := service.NewQueueClient(name).EnqueueMessage(ctx, text, nil); err != nil {
				return fmt.Errorf("storage queue: %w", err)
			}
		}
	}
	hidden := azqueue.DequeueMessagesOptions{VisibilityTimeout: new(int32(3600))}
	_, err = service.NewQueueClient("letters").DequeueMessages(ctx, &hidden)
	return err
}

func fillBus(ctx context.Context, client *azservicebus.Client) error {
	later := time.Now().Add(3 * time.Hour)
	var orders []*azservicebus.Message
	for i := range 60 {
		orders = append(orders, &azservicebus.Message{
			Body:      fmt.Appendf(nil, `{"order":%d,"customer":{"name":"Ada <b>Lovelace</b>"},"lines":[{"sku":"A-1","n":2}]}`, i),
			MessageID: new(fmt.Sprintf("order-%d", i)), Subject: new("order.created"), ContentType: new("application/json"),
			ApplicationProperties: map[string]any{
				"tenant": "north", "price": int32(12), "gift": true, "rtl": "\u202egnirts",
				"<script>alert(1)</script>": "<img src=x onerror=alert(1)>",
			},
		})
	}
	orders = append(orders, &azservicebus.Message{Body: []byte("later"), ScheduledEnqueueTime: &later})
	bodies := []*azservicebus.Message{
		{Body: []byte("<script>document.title = \"taken\"</script>\n\u202eright to left\u202c \x01\x02 مرحبا بالعالم")},
		{Body: []byte{0, 1, 2, 3, 0xff, 0xfe, 0x80}},
		{Body: []byte(strings.Repeat("large ", 50_000))},
	}
	if err := errors.Join(sendAll(ctx, client, "checkout", orders), sendAll(ctx, client, "bodies", bodies)); err != nil {
		return err
	}
	receiver, err := client.NewReceiverForQueue("checkout", nil)
	if err != nil {
		return err
	}
	for i := range 10 {
		some, err := receiver.ReceiveMessages(ctx, 1, nil)
		if err != nil {
			return err
		}
		if i >= 8 {
			err = receiver.DeferMessage(ctx, some[0], nil)
		} else {
			err = receiver.DeadLetterMessage(ctx, some[0], &azservicebus.DeadLetterOptions{
				Reason:           new("CustomerUnknown"),
				ErrorDescription: new("No customer has the number 4711; <script>alert(1)</script> " + strings.Repeat("long ", 40)),
			})
		}
		if err != nil {
			return err
		}
	}
	// Peeking creates the topic and its subscription.
	subscription, err := client.NewReceiverForSubscription("events", "all", nil)
	if err != nil {
		return err
	}
	if _, err := subscription.PeekMessages(ctx, 1, nil); err != nil {
		return err
	}
	return errors.Join(sendAll(ctx, client, "events", orders[:2]), subscription.Close(ctx), receiver.Close(ctx))
}

func sendAll(ctx context.Context, client *azservicebus.Client, to string, messages []*azservicebus.Message) error {
	sender, err := client.NewSender(to, nil)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := sender.SendMessage(ctx, m, nil); err != nil {
			return errors.Join(err, sender.Close(ctx))
		}
	}
	return sender.Close(ctx)
}
