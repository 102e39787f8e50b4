// The Service Bus emulator seen by azservicebus, in the versions of the module files.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"github.com/carillon-sched/carillon/integration/sdk/golang/report"
)

var (
	options = &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: 1, RetryDelay: 50 * time.Millisecond},
		TLSConfig:    &tls.Config{ServerName: "localhost", MinVersion: tls.VersionTLS12}, // it would be with the port
	}
	client  = must(azservicebus.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_AMQP")), options))
	manager = must(admin.NewClientFromConnectionString(report.Endpoint(report.Port("SERVICEBUS_HTTP")), nil))
)

func main() {
	report.Run("github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus", []report.Operation{
		{Name: "send", Do: send},
		{Name: "batch", Do: batch},
		{Name: "large message", Do: large},
		{Name: "properties of every type", Do: properties},
		{Name: "receive and delete", Do: deleting},
		{Name: "complete", Do: complete},
		{Name: "abandon", Do: abandon},
		{Name: "defer", Do: deferring},
		{Name: "dead-letter", Do: deadLetter},
		{Name: "peek", Do: peek},
		{Name: "schedule and cancel", Do: schedule},
		{Name: "renew lock", Do: renew},
		{Name: "lose lock", Do: lose},
		{Name: "session by name", Do: session},
		{Name: "next session", Do: nextSession},
		{Name: "session state", Do: sessionState},
		{Name: "locked session", Do: lockedSession},
		{Name: "topic and subscription", Do: topic},
		{Name: "unknown entity", Do: unknown},
		{Name: "admin queues", Do: adminQueues},
		{Name: "admin subscriptions", Do: adminSubscriptions},
		{Name: "admin counts", Do: adminCounts},
		{Name: "admin pages", Do: adminPages},
	})
}

// onQueue runs a function with a sender and a receiver of a queue.
func onQueue(ctx context.Context, name string, do func(*azservicebus.Sender, *azservicebus.Receiver) error) error {
	return onReceiver(ctx, name, nil, do)
}

func onReceiver(
	ctx context.Context, name string, options *azservicebus.ReceiverOptions, do func(*azservicebus.Sender, *azservicebus.Receiver) error,
) error {
	sender, err := client.NewSender(name, nil)
	if err != nil {
		return err
	}
	receiver, err := client.NewReceiverForQueue(name, options)
	if err != nil {
		return err
	}
	err = do(sender, receiver)
	return errors.Join(err, sender.Close(ctx), receiver.Close(ctx))
}

func put(ctx context.Context, sender *azservicebus.Sender, texts ...string) error {
	for _, text := range texts {
		if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// A source is what receives and completes: a receiver, of a session or without.
type source interface {
	ReceiveMessages(ctx context.Context, n int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	CompleteMessage(ctx context.Context, m *azservicebus.ReceivedMessage, o *azservicebus.CompleteMessageOptions) error
}

func one(ctx context.Context, from source, text string) (*azservicebus.ReceivedMessage, error) {
	got, err := from.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		return nil, err
	}
	return got[0], report.Equal(string(got[0].Body), text)
}

// collect receives messages with these texts and completes them.
func collect(ctx context.Context, from source, want ...string) error {
	var got []string
	for len(got) < len(want) {
		some, err := from.ReceiveMessages(ctx, len(want)-len(got), nil)
		if err != nil {
			return fmt.Errorf("%d of %d messages came: %w", len(got), len(want), err)
		}
		for _, m := range some {
			if err := from.CompleteMessage(ctx, m, nil); err != nil {
				return err
			}
			got = append(got, string(m.Body))
		}
	}
	return report.Same(got, want)
}

func none(ctx context.Context, receiver *azservicebus.Receiver) error {
	got, err := receiver.PeekMessages(ctx, 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)})
	if err != nil {
		return err
	}
	return report.Equal(len(got), 0)
}

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
		// Version 1.0 cannot read what it writes of a small negative number.
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

func complete(ctx context.Context) error {
	return onQueue(ctx, "complete", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		return errors.Join(put(ctx, sender, "m"), collect(ctx, receiver, "m"), none(ctx, receiver))
	})
}

func abandon(ctx context.Context) error {
	return onQueue(ctx, "abandon", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		for count := range uint32(3) {
			got, err := one(ctx, receiver, "m")
			if err != nil {
				return err
			}
			// This client counts from one.
			if err := report.Equal(got.DeliveryCount, count+1); err != nil {
				return err
			}
			if err := receiver.AbandonMessage(ctx, got, nil); err != nil {
				return err
			}
		}
		return collect(ctx, receiver, "m")
	})
}

func deferring(ctx context.Context) error {
	return onQueue(ctx, "defer", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, report.Series(5)...); err != nil {
			return err
		}
		var numbers []int64
		for len(numbers) < 5 {
			got, err := receiver.ReceiveMessages(ctx, 5, nil)
			if err != nil {
				return err
			}
			for _, m := range got {
				numbers = append(numbers, *m.SequenceNumber)
				if err := receiver.DeferMessage(ctx, m, nil); err != nil {
					return err
				}
			}
		}
		got, err := receiver.ReceiveDeferredMessages(ctx, numbers, nil)
		if err != nil {
			return err
		}
		for i, m := range got {
			err = errors.Join(err, report.Equal(string(m.Body), report.Series(5)[i]), receiver.CompleteMessage(ctx, m, nil))
		}
		return errors.Join(err, report.Equal(len(got), 5), none(ctx, receiver))
	})
}

func deadLetter(ctx context.Context) error {
	err := onQueue(ctx, "deadletter", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		got, err := one(ctx, receiver, "m")
		if err != nil {
			return err
		}
		why, because := "why", "because"
		return receiver.DeadLetterMessage(ctx, got, &azservicebus.DeadLetterOptions{Reason: &why, ErrorDescription: &because})
	})
	if err != nil {
		return err
	}
	options := &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}
	return onReceiver(ctx, "deadletter", options, func(_ *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		got, err := one(ctx, receiver, "m")
		if err != nil {
			return err
		}
		return errors.Join(
			report.Equal(*got.DeadLetterReason, "why"), report.Equal(*got.DeadLetterErrorDescription, "because"),
			receiver.CompleteMessage(ctx, got, nil),
		)
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
		due := time.Now().Add(time.Second)
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

func renew(ctx context.Context) error {
	return onQueue(ctx, "renew", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		got, err := one(ctx, receiver, "m")
		if err != nil {
			return err
		}
		for range 2 {
			<-time.After(4 * time.Second)
			until := *got.LockedUntil
			if err := receiver.RenewMessageLock(ctx, got, nil); err != nil {
				return err
			}
			if err := report.Equal(got.LockedUntil.After(until), true); err != nil {
				return err
			}
		}
		return errors.Join(receiver.CompleteMessage(ctx, got, nil), none(ctx, receiver))
	})
}

func lose(ctx context.Context) error {
	return onQueue(ctx, "lose", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) error {
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		got, err := one(ctx, receiver, "m")
		if err != nil {
			return err
		}
		<-time.After(3500 * time.Millisecond)
		return errors.Join(report.Refused(receiver.CompleteMessage(ctx, got, nil), "lost", "lock"), collect(ctx, receiver, "m"))
	})
}

func putInto(ctx context.Context, queue, session string, texts ...string) error {
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	for _, text := range texts {
		err = errors.Join(err, sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text), SessionID: &session}, nil))
	}
	return errors.Join(err, sender.Close(ctx))
}

func session(ctx context.Context) error {
	for _, name := range []string{"a", "b"} {
		if err := putInto(ctx, "session", name, name+"0", name+"1"); err != nil {
			return err
		}
	}
	for _, name := range []string{"b", "a"} {
		receiver, err := client.AcceptSessionForQueue(ctx, "session", name, nil)
		if err != nil {
			return err
		}
		if err := errors.Join(collect(ctx, receiver, name+"0", name+"1"), receiver.Close(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func nextSession(ctx context.Context) error {
	if err := putInto(ctx, "next", "s", "m"); err != nil {
		return err
	}
	receiver, err := client.AcceptNextSessionForQueue(ctx, "next", nil)
	if err != nil {
		return err
	}
	return errors.Join(report.Equal(receiver.SessionID(), "s"), collect(ctx, receiver, "m"), receiver.Close(ctx))
}

func sessionState(ctx context.Context) error {
	receiver, err := client.AcceptSessionForQueue(ctx, "state", "s", nil)
	if err != nil {
		return err
	}
	before, err := receiver.GetSessionState(ctx, nil)
	err = errors.Join(err, receiver.SetSessionState(ctx, []byte("\x00state"), nil))
	after, bad := receiver.GetSessionState(ctx, nil)
	until := receiver.LockedUntil()
	err = errors.Join(err, bad, report.Equal(len(before), 0), report.Equal(string(after), "\x00state"), receiver.RenewSessionLock(ctx, nil))
	return errors.Join(err, report.Equal(receiver.LockedUntil().Before(until), false), receiver.Close(ctx))
}

func lockedSession(ctx context.Context) error {
	receiver, err := client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil)
	if err != nil {
		return err
	}
	_, err = client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil)
	return errors.Join(report.Refused(err, "session-cannot-be-locked", "timeout"), receiver.Close(ctx))
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

func adminQueues(ctx context.Context) error {
	lock, count := "PT1M30S", int32(7)
	made, err := manager.CreateQueue(ctx, "q1", &admin.CreateQueueOptions{
		Properties: &admin.QueueProperties{LockDuration: &lock, MaxDeliveryCount: &count},
	})
	if err != nil {
		return err
	}
	_, twice := manager.CreateQueue(ctx, "q1", nil)
	*made.MaxDeliveryCount = 8
	_, err = manager.UpdateQueue(ctx, "q1", made.QueueProperties, nil)
	if err := errors.Join(err, report.Refused(twice, "409")); err != nil {
		return err
	}
	got, err := manager.GetQueue(ctx, "q1", nil)
	if err != nil {
		return err
	}
	err = errors.Join(report.Equal(*got.MaxDeliveryCount, 8), report.Equal(*got.LockDuration, lock))
	_, bad := manager.DeleteQueue(ctx, "q1", nil)
	gone, none := manager.GetQueue(ctx, "q1", nil)
	return errors.Join(err, bad, none, report.Equal(gone == nil, true))
}

func adminSubscriptions(ctx context.Context) error {
	_, err := manager.CreateTopic(ctx, "t2", nil)
	_, bad := manager.CreateSubscription(ctx, "t2", "s", nil)
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	var names []string
	for pager := manager.NewListSubscriptionsPager("t2", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, each := range page.Subscriptions {
			names = append(names, each.SubscriptionName)
		}
	}
	_, err = manager.DeleteTopic(ctx, "t2", nil)
	return errors.Join(err, report.Same(names, []string{"s"}))
}

func adminCounts(ctx context.Context) error {
	if _, err := manager.CreateQueue(ctx, "counted", nil); err != nil {
		return err
	}
	err := onQueue(ctx, "counted", func(sender *azservicebus.Sender, _ *azservicebus.Receiver) error { return put(ctx, sender, "a", "b") })
	if err != nil {
		return err
	}
	got, err := manager.GetQueueRuntimeProperties(ctx, "counted", nil)
	if err != nil {
		return err
	}
	return errors.Join(report.Equal(got.ActiveMessageCount, 2), report.Equal(got.TotalMessageCount, 2))
}

func adminPages(ctx context.Context) error {
	for _, name := range report.Series(120) {
		if _, err := manager.CreateQueue(ctx, "page"+name, nil); err != nil {
			return err
		}
	}
	found := 0
	for pager := manager.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		found += len(page.Queues)
	}
	return report.Equal(found >= 120, true)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
