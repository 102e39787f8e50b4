package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func send(ctx context.Context) error {
	return onQueue(ctx, "send", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		err := report.Sends(func(text string) error { return put(ctx, sender, text) })
		return errors.Join(err, collect(ctx, receiver, report.Series(100)...))
	})
}

func batch(ctx context.Context) error {
	return onQueue(ctx, "batch", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		b, err := sender.NewMessageBatch(ctx, nil)
		if err != nil {
			return err
		}
		for _, text := range report.Series(50) {
			if err := b.AddMessage(&azservicebus.Message{Body: []byte(text)}, nil); err != nil {
				return err
			}
		}
		if err := b.AddMessage(&azservicebus.Message{Body: make([]byte, 2<<20)}, nil); !errors.Is(err, azservicebus.ErrMessageTooLarge) {
			return fmt.Errorf("a message that is too large: %w", err)
		}
		if err := sender.SendMessageBatch(ctx, b, nil); err != nil {
			return err
		}
		return collect(ctx, receiver, report.Series(50)...)
	})
}

func large(ctx context.Context) error {
	return onQueue(ctx, "large", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		text := string(make([]byte, 900_000))
		if err := put(ctx, sender, text); err != nil {
			return err
		}
		return collect(ctx, receiver, text)
	})
}

func properties(ctx context.Context) error {
	return onQueue(ctx, "properties", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		at := time.UnixMilli(1893553445000).UTC()
		// Version 1.0 cannot decode its own encoding of small negative numbers.
		sent := map[string]any{
			"text": "ä€", "flag": true, "int": int32(-500), "long": int64(1 << 40), "uint": uint32(7), "ulong": uint64(1 << 63),
			"double": 1.5, "float": float32(0.5), "time": at,
		}
		id, subject, kind := "id", "label", "text/plain"
		err := sender.SendMessage(ctx, &azservicebus.Message{
			Body: []byte("m"), MessageID: &id, Subject: &subject, ContentType: &kind, ApplicationProperties: sent,
		}, nil)
		if err != nil {
			return err
		}
		got, err := one(ctx, receiver, "m")
		if err != nil {
			return err
		}
		for name, want := range sent {
			value := got.ApplicationProperties[name]
			if t, ok := value.(time.Time); ok {
				value = t.UTC()
			}
			err = errors.Join(err, report.Equal(value, want))
		}
		return errors.Join(err, report.Equal(got.MessageID, id), report.Equal(*got.Subject, subject), receiver.CompleteMessage(ctx, got, nil))
	})
}

func deleting(ctx context.Context) error {
	options := &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}
	return onReceiver(ctx, "deleting", options, func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, "once"); err != nil {
			return err
		}
		_, err := one(ctx, receiver, "once")
		return errors.Join(err, none(ctx, receiver))
	})
}

func peek(ctx context.Context) error {
	return onQueue(ctx, "peek", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := errors.Join(none(ctx, receiver), put(ctx, sender, "a", "b", "c")); err != nil {
			return err
		}
		got, err := receiver.PeekMessages(ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)})
		if err != nil {
			return err
		}
		return errors.Join(report.Equal(len(got), 3), collect(ctx, receiver, "a", "b", "c"))
	})
}

func schedule(ctx context.Context) error {
	return onQueue(ctx, "schedule", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		due := time.Now().Add(time.Second).Truncate(time.Millisecond) // as AMQP has it
		numbers, err := sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("no")}}, due.Add(time.Hour), nil)
		if err != nil {
			return err
		}
		if err := sender.CancelScheduledMessages(ctx, numbers, nil); err != nil {
			return err
		}
		if _, err := sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("yes")}}, due, nil); err != nil {
			return err
		}
		if err := collect(ctx, receiver, "yes"); err != nil {
			return err
		}
		return errors.Join(report.Equal(time.Now().Before(due), false), none(ctx, receiver))
	})
}

func topic(ctx context.Context) error {
	sender, err := client.NewSender("events", nil)
	if err != nil {
		return err
	}
	for text, label := range map[string]string{"m": "green", "n": "red"} {
		err = errors.Join(err, sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text), Subject: &label}, nil))
	}
	receiver, bad := client.NewReceiverForSubscription("events", "red", nil)
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	return errors.Join(collect(ctx, receiver, "n"), sender.Close(ctx), receiver.Close(ctx))
}

func unknown(ctx context.Context) error {
	sender, err := client.NewSender("nowhere", nil)
	if err != nil {
		return err
	}
	return report.Refused(put(ctx, sender, "m"), "not-found", "could not be found", "404")
}
