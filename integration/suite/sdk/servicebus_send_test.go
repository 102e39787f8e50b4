package sdk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServiceBusSendAndReceive shows that every part of a message arrives as it was sent.
func TestServiceBusSendAndReceive(t *testing.T) {
	client := connect(t, queue("orders", ""))
	sent := &azservicebus.Message{
		Body:             []byte("body"),
		MessageID:        new("id"),
		Subject:          new("label"),
		To:               new("to"),
		ReplyTo:          new("reply"),
		ReplyToSessionID: new("reply session"),
		CorrelationID:    new("correlation"),
		ContentType:      new("text/plain"),
		PartitionKey:     new("partition"),
		TimeToLive:       new(time.Hour),
		ApplicationProperties: map[string]any{
			"text": "x", "long": int64(1 << 40), "int": int32(-5), "double": 2.5, "bool": true, "bytes": []byte{1}, "null": nil,
			"time": time.UnixMilli(1_700_000_000_000).UTC(), "ubyte": uint8(3), "float": float32(1.5),
		},
	}
	before := time.Now().Add(-time.Second)
	send(t, client, "orders", sent)
	r := receiver(t, client, "ORDERS") // names know no case
	got := one(t, r, "body")
	for what, pair := range map[string][2]any{
		"message id": {*sent.MessageID, got.MessageID}, "subject": {*sent.Subject, *got.Subject}, "to": {*sent.To, *got.To},
		"reply to": {*sent.ReplyTo, *got.ReplyTo}, "reply-to session": {*sent.ReplyToSessionID, *got.ReplyToSessionID},
		"correlation id": {*sent.CorrelationID, *got.CorrelationID}, "content type": {*sent.ContentType, *got.ContentType},
		"partition key": {*sent.PartitionKey, *got.PartitionKey}, "time to live": {*sent.TimeToLive, *got.TimeToLive},
		"properties": {sent.ApplicationProperties, got.ApplicationProperties}, "delivery count": {uint32(1), got.DeliveryCount},
		"state": {azservicebus.MessageStateActive, got.State}, "sequence number": {int64(1), *got.SequenceNumber},
		"enqueued sequence number": {(*int64)(nil), got.EnqueuedSequenceNumber}, // only what was forwarded has one
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: sent -, received +\n%s", what, diff)
		}
	}
	if got.EnqueuedTime.Before(before) || got.EnqueuedTime.After(time.Now().Add(time.Second)) {
		t.Error("enqueued at", got.EnqueuedTime)
	}
	if !got.LockedUntil.After(time.Now()) || got.LockToken == ([16]byte{}) {
		t.Error("locked until", got.LockedUntil, "by", got.LockToken)
	}
	must.Do(t, r.CompleteMessage(within(t), got, nil))
	none(t, r)
}

// TestServiceBusReceiveAndDelete shows that a message is gone once it is received.
func TestServiceBusReceiveAndDelete(t *testing.T) {
	client := connect(t, queue("orders", `"LockDuration": "PT1S"`))
	send(t, client, "orders", text("once"))
	r := receiverMode(t, client, "orders", azservicebus.ReceiveModeReceiveAndDelete)
	one(t, r, "once")
	none(t, receiver(t, client, "orders"))
}

// TestServiceBusTooLarge shows that a message above the limit is refused, and that the sender lives on.
func TestServiceBusTooLarge(t *testing.T) {
	client := connect(t, queue("orders", ""))
	s := sender(t, client, "orders")
	err := s.SendMessage(within(t), &azservicebus.Message{Body: make([]byte, 3<<20)}, nil)
	if !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		t.Fatal(err)
	}
	must.Do(t, s.SendMessage(within(t), text("small"), nil))
	one(t, receiver(t, client, "orders"), "small")
}

// TestServiceBusAnnotatedMessage shows bodies that are no bytes, and annotations of the user's own.
func TestServiceBusAnnotatedMessage(t *testing.T) {
	client := connect(t, queue("orders", ""))
	s := sender(t, client, "orders")
	for _, body := range []azservicebus.AMQPAnnotatedMessageBody{
		{Value: "a value"},
		{Value: map[string]any{"list": []any{int64(1), "two", nil}}},
		{Sequence: [][]any{{"a", int64(1)}, {"b"}}},
		{Data: [][]byte{[]byte("one"), []byte("two")}},
	} {
		must.Do(t, s.SendAMQPAnnotatedMessage(within(t), &azservicebus.AMQPAnnotatedMessage{
			Body:                body,
			DeliveryAnnotations: map[any]any{"x-hop": "kept too"},
			MessageAnnotations:  map[any]any{"x-mine": "kept"},
			Footer:              map[any]any{"foot": "er"},
			Properties:          &azservicebus.AMQPAnnotatedMessageProperties{GroupSequence: new(uint32(7)), UserID: []byte("user")},
		}, nil))
		message := receive(t, receiver(t, client, "orders"), 1)[0]
		got := message.RawAMQPMessage
		if diff := cmp.Diff(body, got.Body); diff != "" {
			t.Error(diff)
		}
		if got.MessageAnnotations["x-mine"] != "kept" || got.Footer["foot"] != "er" || *got.Properties.GroupSequence != 7 {
			t.Errorf("%+v", got)
		}
		// The service adds these, and nothing else, to what was sent.
		keys := slices.Sorted(maps.Keys(inText(got.MessageAnnotations)))
		if want := []string{"x-mine", "x-opt-enqueued-time", "x-opt-locked-until", "x-opt-sequence-number"}; !slices.Equal(keys, want) {
			t.Errorf("message annotations %q", keys)
		}
		if len(got.DeliveryAnnotations) != 2 || got.DeliveryAnnotations["x-hop"] != "kept too" ||
			got.DeliveryAnnotations["x-opt-lock-token"] != amqp.UUID(message.LockToken) {
			t.Errorf("delivery annotations %v", got.DeliveryAnnotations)
		}
	}
}

// inText returns annotations by the text of their keys.
func inText(annotations map[any]any) map[string]any {
	texts := map[string]any{}
	for key, value := range annotations {
		texts[fmt.Sprint(key)] = value
	}
	return texts
}

func TestServiceBusPeek(t *testing.T) {
	client := connect(t, queue("orders", ""))
	r := receiver(t, client, "orders")
	messages := must.Get(r.PeekMessages(within(t), 10, nil))(t)
	if len(messages) != 0 {
		t.Fatal("peeked in an empty queue:", len(messages))
	}
	for i := range 5 {
		send(t, client, "orders", text(strconv.Itoa(i)))
	}
	locked := one(t, r, "0")
	for _, want := range []int{3, 2, 0} {
		messages = must.Get(r.PeekMessages(within(t), 3, nil))(t)
		if len(messages) != want {
			t.Fatalf("peeked %d messages, want %d", len(messages), want)
		}
	}
	messages = must.Get(r.PeekMessages(within(t), 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64(4))}))(t)
	if len(messages) != 2 || string(messages[0].Body) != "3" || *messages[0].SequenceNumber != 4 {
		t.Fatalf("peeked %d messages from 4", len(messages))
	}
	must.Do(t, r.CompleteMessage(within(t), locked, nil))
}

func TestServiceBusScheduled(t *testing.T) {
	client := connect(t, queue("orders", ""))
	s, r := sender(t, client, "orders"), receiver(t, client, "orders")
	soon := time.Now().Add(700 * time.Millisecond)
	numbers := must.Get(s.ScheduleMessages(within(t), []*azservicebus.Message{text("a"), text("cancelled"), text("b")}, soon, nil))(t)
	if len(numbers) != 3 {
		t.Fatal(numbers)
	}
	must.Do(t, s.CancelScheduledMessages(within(t), numbers[1:2], nil))
	later := text("by annotation")
	later.ScheduledEnqueueTime = new(soon)
	must.Do(t, s.SendMessage(within(t), later, nil))
	peeked := must.Get(r.PeekMessages(within(t), 10, nil))(t)
	if len(peeked) != 3 || peeked[0].State != azservicebus.MessageStateScheduled || peeked[0].ScheduledEnqueueTime.IsZero() {
		t.Fatalf("%d scheduled messages", len(peeked))
	}
	none(t, r)
	bodies := map[string]bool{}
	for _, message := range receive(t, r, 3) {
		bodies[string(message.Body)] = true
		if early := soon.Sub(*message.EnqueuedTime); early > time.Millisecond {
			t.Error("early by", early)
		}
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "by annotation": true}, bodies); diff != "" {
		t.Error(diff)
	}
}
