package main

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

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
