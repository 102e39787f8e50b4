package sdk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServiceBusAbandon shows that an abandoned message comes again, with a higher count and changed properties.
func TestServiceBusAbandon(t *testing.T) {
	client := connect(t, queue("orders", ""))
	send(t, client, "orders", text("again"))
	r := receiver(t, client, "orders")
	first := one(t, r, "again")
	must.Do(t, r.AbandonMessage(within(t), first, &azservicebus.AbandonMessageOptions{
		PropertiesToModify: map[string]any{"why": "busy"},
	}))
	second := one(t, r, "again")
	if first.DeliveryCount != 1 || second.DeliveryCount != 2 || second.ApplicationProperties["why"] != "busy" {
		t.Errorf("counts %d and %d, properties %v", first.DeliveryCount, second.DeliveryCount, second.ApplicationProperties)
	}
	if *first.SequenceNumber != *second.SequenceNumber {
		t.Error("another sequence number")
	}
	must.Do(t, r.CompleteMessage(within(t), second, nil))
}

func TestServiceBusDeadLetter(t *testing.T) {
	client := connect(t, queue("orders", ""))
	send(t, client, "orders", text("bad"))
	r := receiver(t, client, "orders")
	must.Do(t, r.DeadLetterMessage(within(t), one(t, r, "bad"), &azservicebus.DeadLetterOptions{
		Reason: new("because"), ErrorDescription: new("it is bad"), PropertiesToModify: map[string]any{"extra": int64(1)},
	}))
	none(t, r)
	deadLetters := receiver(t, client, "orders/$dead")
	dead := one(t, deadLetters, "bad")
	if *dead.DeadLetterReason != "because" || *dead.DeadLetterErrorDescription != "it is bad" || dead.ApplicationProperties["extra"] != int64(1) {
		t.Errorf("%+v", dead.ApplicationProperties)
	}
	must.Do(t, deadLetters.AbandonMessage(within(t), dead, nil))
	again := one(t, deadLetters, "bad")
	if dead.DeliveryCount != 1 || again.DeliveryCount != 1 { // they count no deliveries of their own
		t.Error("delivery counts", dead.DeliveryCount, again.DeliveryCount)
	}
	must.Do(t, deadLetters.CompleteMessage(within(t), again, nil))
	none(t, deadLetters)
}

func TestServiceBusDefer(t *testing.T) {
	client := connect(t, queue("orders", ""))
	r := receiver(t, client, "orders")
	for _, verdict := range []string{"complete", "abandon", "dead-letter", "defer"} {
		send(t, client, "orders", text(verdict))
		message := one(t, r, verdict)
		must.Do(t, r.DeferMessage(within(t), message, &azservicebus.DeferMessageOptions{PropertiesToModify: map[string]any{"later": true}}))
		none(t, r)
		numbers := []int64{*message.SequenceNumber}
		peeked := must.Get(r.PeekMessages(within(t), 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: message.SequenceNumber}))(t)
		if peeked[0].State != azservicebus.MessageStateDeferred {
			t.Error("state", peeked[0].State)
		}
		deferred := must.Get(r.ReceiveDeferredMessages(within(t), numbers, nil))(t)
		if len(deferred) != 1 || deferred[0].State != azservicebus.MessageStateDeferred || string(deferred[0].Body) != verdict || deferred[0].ApplicationProperties["later"] != any(true) {
			t.Fatalf("%d deferred messages", len(deferred))
		}
		must.Do(t, r.RenewMessageLock(within(t), deferred[0], nil))
		switch verdict {
		case "complete":
			must.Do(t, r.CompleteMessage(within(t), deferred[0], nil))
		case "abandon":
			must.Do(t, r.AbandonMessage(within(t), deferred[0], nil))
			again := must.Get(r.ReceiveDeferredMessages(within(t), numbers, nil))(t)
			if len(again) != 1 {
				t.Fatal("an abandoned deferred message is no longer deferred")
			}
			must.Do(t, r.CompleteMessage(within(t), again[0], nil))
		case "dead-letter":
			must.Do(t, r.DeadLetterMessage(within(t), deferred[0], &azservicebus.DeadLetterOptions{Reason: new("deferred")}))
			if dead := one(t, receiver(t, client, "orders/$dead"), verdict); *dead.DeadLetterReason != "deferred" {
				t.Error(*dead.DeadLetterReason)
			}
		case "defer":
			must.Do(t, r.DeferMessage(within(t), deferred[0], nil))
			again := must.Get(r.ReceiveDeferredMessages(within(t), numbers, nil))(t)
			if len(again) != 1 {
				t.Fatal("a message that was deferred twice is gone")
			}
		}
	}
	if _, err := r.ReceiveDeferredMessages(within(t), []int64{4711}, nil); err == nil {
		t.Error("a deferred message that does not exist was received")
	}
}

// TestServiceBusReceiveDeferredAndDelete shows that deferred messages can be received for good.
func TestServiceBusReceiveDeferredAndDelete(t *testing.T) {
	client := connect(t, queue("orders", ""))
	send(t, client, "orders", text("later"))
	r := receiver(t, client, "orders")
	message := one(t, r, "later")
	must.Do(t, r.DeferMessage(within(t), message, nil))
	r = receiverMode(t, client, "orders", azservicebus.ReceiveModeReceiveAndDelete)
	deferred := must.Get(r.ReceiveDeferredMessages(within(t), []int64{*message.SequenceNumber}, nil))(t)
	if len(deferred) != 1 {
		t.Fatal(len(deferred))
	}
	if _, err := r.ReceiveDeferredMessages(within(t), []int64{*message.SequenceNumber}, nil); err == nil {
		t.Error("received twice")
	}
}

// TestServiceBusSettleAfterClose shows that a message can be settled when the link it came on is gone.
func TestServiceBusSettleAfterClose(t *testing.T) {
	client := connect(t, queue("orders", ""))
	for _, body := range []string{"complete", "abandon", "dead-letter", "defer"} {
		send(t, client, "orders", text(body))
	}
	first := receiver(t, client, "orders")
	messages := receive(t, first, 4)
	must.Do(t, first.Close(within(t)))
	r := receiver(t, client, "orders")
	must.Do(t, r.CompleteMessage(within(t), messages[0], nil))
	must.Do(t, r.AbandonMessage(within(t), messages[1], nil))
	must.Do(t, r.DeadLetterMessage(within(t), messages[2], &azservicebus.DeadLetterOptions{Reason: new("late")}))
	must.Do(t, r.DeferMessage(within(t), messages[3], nil))
	if again := one(t, r, "abandon"); again.DeliveryCount != 2 {
		t.Error("delivery count", again.DeliveryCount)
	}
	if dead := one(t, receiver(t, client, "orders/$dead"), "dead-letter"); *dead.DeadLetterReason != "late" {
		t.Error(*dead.DeadLetterReason)
	}
	deferred := must.Get(r.ReceiveDeferredMessages(within(t), []int64{*messages[3].SequenceNumber}, nil))(t)
	if len(deferred) != 1 {
		t.Error("not deferred")
	}
}

// TestServiceBusReleased shows that messages which arrive when nobody waits are given back uncounted.
func TestServiceBusReleased(t *testing.T) {
	client := connect(t, queue("orders", ""))
	r := receiver(t, client, "orders")
	if _, err := r.ReceiveMessages(briefly(t, 50*time.Millisecond), 10, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	for range 10 { // the credit of the call before
		send(t, client, "orders", text("early"))
	}
	for _, message := range receive(t, receiver(t, client, "orders"), 10) {
		if message.DeliveryCount != 1 {
			t.Fatal("delivery count", message.DeliveryCount)
		}
	}
}
