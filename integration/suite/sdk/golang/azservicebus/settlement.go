package main

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func complete(ctx context.Context) {
	onQueue(ctx, "complete", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "m")
		collect(ctx, receiver, "m")
		waiting(ctx, receiver, 0)
	})
}

func abandon(ctx context.Context) {
	onQueue(ctx, "abandon", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "m")
		for count := range uint32(3) {
			got := one(ctx, receiver, "m")
			report.Equal(got.DeliveryCount, count+1) // this client counts from one
			report.Must(receiver.AbandonMessage(ctx, got, nil))
		}
		collect(ctx, receiver, "m")
	})
}

func deferring(ctx context.Context) {
	onQueue(ctx, "defer", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, report.Series(5)...)
		var numbers []int64
		for len(numbers) < 5 {
			for _, m := range report.Get(receiver.ReceiveMessages(ctx, 5, nil)) {
				numbers = append(numbers, *m.SequenceNumber)
				report.Must(receiver.DeferMessage(ctx, m, nil))
			}
		}
		got := report.Get(receiver.ReceiveDeferredMessages(ctx, numbers, nil))
		report.Equal(len(got), 5)
		for i, m := range got {
			report.Equal(string(m.Body), report.Series(5)[i])
			report.Must(receiver.CompleteMessage(ctx, m, nil))
		}
		waiting(ctx, receiver, 0)
	})
}

func deadLetter(ctx context.Context) {
	onQueue(ctx, "deadletter", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "m")
		why, because := "why", "because"
		options := &azservicebus.DeadLetterOptions{Reason: &why, ErrorDescription: &because}
		report.Must(receiver.DeadLetterMessage(ctx, one(ctx, receiver, "m"), options))
	})
	options := &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}
	onReceiver(ctx, "deadletter", options, func(_ *azservicebus.Sender, receiver *azservicebus.Receiver) {
		got := one(ctx, receiver, "m")
		report.Equal(*got.DeadLetterReason, "why")
		report.Equal(*got.DeadLetterErrorDescription, "because")
		report.Must(receiver.CompleteMessage(ctx, got, nil))
	})
}

func renew(ctx context.Context) {
	onQueue(ctx, "renew", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "m")
		got := one(ctx, receiver, "m")
		for range 2 {
			<-time.After(4 * time.Second)
			until := *got.LockedUntil
			report.Must(receiver.RenewMessageLock(ctx, got, nil))
			report.Equal(got.LockedUntil.After(until), true)
		}
		report.Must(receiver.CompleteMessage(ctx, got, nil))
		waiting(ctx, receiver, 0)
	})
}

func lose(ctx context.Context) {
	onQueue(ctx, "lose", func(sender *azservicebus.Sender, receiver *azservicebus.Receiver) {
		put(ctx, sender, "m")
		got := one(ctx, receiver, "m")
		<-time.After(3500 * time.Millisecond)
		report.Refused(receiver.CompleteMessage(ctx, got, nil), "lost", "lock")
		collect(ctx, receiver, "m")
	})
}
