package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func send(ctx context.Context) {
	onQueue(ctx, "send", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		report.Sends(func(text string) { put(ctx, sender, text) })
		collect(ctx, receiver, report.Series(100)...)
	})
}

func batch(ctx context.Context) {
	onQueue(ctx, "batch", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		b := report.Get(sender.NewMessageBatch(ctx, nil))
		for _, text := range report.Series(50) {
			report.Must(b.AddMessage(&azservicebus.Message{Body: []byte(text)}, nil))
		}
		if err := b.AddMessage(&azservicebus.Message{Body: make([]byte, 2<<20)}, nil); !errors.Is(err, azservicebus.ErrMessageTooLarge) {
			report.Must(fmt.Errorf("a message that is too large: %w", err))
		}
		report.Must(sender.SendMessageBatch(ctx, b, nil))
		collect(ctx, receiver, report.Series(50)...)
	})
}

func large(ctx context.Context) {
	onQueue(ctx, "large", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		text := string(make([]byte, 900_000))
		put(ctx, sender, text)
		collect(ctx, receiver, text)
	})
}

func properties(ctx context.Context) {
	onQueue(ctx, "properties", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		at := time.UnixMilli(1893553445000).UTC()
		// Version 1.0 cannot decode its own encoding of small negative numbers.
		sent := map[string]any{
			"text": "ä€", "flag": true, "int": int32(-500), "long": int64(1 << 40), "uint": uint32(7), "ulong": uint64(1 << 63),
			"double": 1.5, "float": float32(0.5), "time": at,
		}
		id, subject, kind := "id", "label", "text/plain"
		report.Must(sender.SendMessage(ctx, &azservicebus.Message{
			Body: []byte("m"), MessageID: &id, Subject: &subject, ContentType: &kind, ApplicationProperties: sent,
		}, nil))
		got := one(ctx, receiver, "m")
		for name, want := range sent {
			value := got.ApplicationProperties[name]
			if t, ok := value.(time.Time); ok {
				value = t.UTC()
			}
			report.Equal(value, want)
		}
		report.Equal(got.MessageID, id)
		report.Equal(*got.Subject, subject)
		report.Must(receiver.CompleteMessage(ctx, got, nil))
	})
}

func deleting(ctx context.Context) {
	options := &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}
	onReceiver(ctx, "deleting", options, func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "once")
		one(ctx, receiver, "once")
		waiting(ctx, receiver, 0)
	})
}

func peek(ctx context.Context) {
	onQueue(ctx, "peek", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		waiting(ctx, receiver, 0)
		put(ctx, sender, "a", "b", "c")
		waiting(ctx, receiver, 3)
		collect(ctx, receiver, "a", "b", "c")
	})
}

func schedule(ctx context.Context) {
	onQueue(ctx, "schedule", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		due := time.Now().Add(time.Second).Truncate(time.Millisecond) // as AMQP has it
		numbers := report.Get(sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("no")}}, due.Add(time.Hour), nil))
		report.Must(sender.CancelScheduledMessages(ctx, numbers, nil))
		report.Get(sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("yes")}}, due, nil))
		collect(ctx, receiver, "yes")
		report.Equal(time.Now().Before(due), false)
		waiting(ctx, receiver, 0)
	})
}

func topic(ctx context.Context) {
	sender := report.Get(client.NewSender("events", nil))
	for text, label := range map[string]string{"m": "green", "n": "red"} {
		report.Must(sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text), Subject: &label}, nil))
	}
	receiver := report.Get(client.NewReceiverForSubscription("events", "red", nil))
	collect(ctx, receiver, "n")
	report.Must(sender.Close(ctx), receiver.Close(ctx))
}

func unknown(ctx context.Context) {
	sender := report.Get(client.NewSender("nowhere", nil))
	err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("m")}, nil)
	report.Refused(err, "not-found", "could not be found", "404")
}
