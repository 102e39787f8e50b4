package servicebus_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// The examples of Azure Scheduler's documentation ("Job action types"), as they are but for comments.
const (
	seedTopic = `{"type":"serviceBusTopic","serviceBusTopicMessage":{"topicPath":"t1","namespace":"mySBNamespace",` +
		`"transportType":"netMessaging","authentication":{"sasKeyName":"QPolicy","type":"sharedAccessKey"},"message":"Some message",` +
		`"brokeredMessageProperties":{},"customMessageProperties":{"appname":"FromScheduler"}}}`
	seedQueue = `{"serviceBusQueueMessage":{"queueName":"q1","namespace":"mySBNamespace","transportType":"netMessaging",` +
		`"authentication":{"sasKeyName":"QPolicy","type":"sharedAccessKey"},"message":"Some message",` +
		`"brokeredMessageProperties":{},"customMessageProperties":{"appname":"FromScheduler"}},"type":"serviceBusQueue"}`
)

func TestSeedExamples(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	client := newClient(t, dev(server))
	// A subscription has what comes after it was made.
	subscriber, err := consumer(t, server).NewReceiverForSubscription("t1", "all", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := subscriber.PeekMessages(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}

	queue := succeed(t, mustRead(t, client, "serviceBusQueue", seedQueue), attempt())
	topic := succeed(t, mustRead(t, client, "serviceBusTopic", seedTopic), attempt())
	id := attempt().Key
	if want := "ServiceBusQueue Action - Message '" + id + "' sent to queue 'q1' of namespace 'mySBNamespace'"; queue.Message != want {
		t.Errorf("got  %s\nwant %s", queue.Message, want)
	}
	if want := "ServiceBusTopic Action - Message '" + id + "' sent to topic 't1' of namespace 'mySBNamespace'"; topic.Message != want {
		t.Errorf("got  %s\nwant %s", topic.Message, want)
	}
	for _, m := range append(receive(t, server, "q1", 1), take(t, subscriber, 1)...) {
		if string(m.Body) != "Some message" || m.MessageID != id {
			t.Errorf("got %q, id %s", m.Body, m.MessageID)
		}
		if diff := cmp.Diff(map[string]any{"appname": "FromScheduler"}, m.ApplicationProperties); diff != "" {
			t.Error(diff)
		}
		if m.ContentType != nil || m.Subject != nil || m.SessionID != nil || m.PartitionKey != nil || m.CorrelationID != nil ||
			m.ReplyTo != nil || m.ReplyToSessionID != nil || m.To != nil || m.ScheduledEnqueueTime != nil {
			t.Errorf("a property that was not given: %+v", m)
		}
	}
}

// TestEveryProperty sends every property there is, and reads each back.
func TestEveryProperty(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1", `"message":"Grüße\n","transportType":"amqp"`, `"brokeredMessageProperties":{
		"contentType":"text/plain","correlationId":"c1","forcePersistence":true,"label":"l1","messageId":"m1",
		"partitionKey":"s1","replyTo":"q2","replyToSessionId":"r1","scheduledEnqueueTimeUtc":"2020-01-01T00:00:00Z",
		"sessionId":"s1","timeToLive":"PT1H30M","to":"t1","viaPartitionKey":"v1"}`,
		`"customMessageProperties":{"text":"a","whole":42,"real":1.5,"large":-9223372036854775808,"huge":1e19,"yes":true,"none":null,"Name":"b","name":"c"}`)
	succeed(t, action, attempt())
	m := receive(t, server, "q1", 1)[0]

	p := m.RawAMQPMessage.Properties
	got := map[string]any{
		"body": string(m.Body), "contentType": *p.ContentType, "correlationId": p.CorrelationID, "label": *p.Subject,
		"messageId": p.MessageID, "partitionKey": m.RawAMQPMessage.MessageAnnotations["x-opt-partition-key"],
		"viaPartitionKey": m.RawAMQPMessage.MessageAnnotations["x-opt-via-partition-key"], "replyTo": *p.ReplyTo,
		"replyToSessionId": *p.ReplyToGroupID, "sessionId": *p.GroupID, "to": *p.To, "timeToLive": *m.TimeToLive,
	}
	want := map[string]any{
		"body": "Grüße\n", "contentType": "text/plain", "correlationId": "c1", "label": "l1",
		"messageId": "m1", "partitionKey": "s1", "viaPartitionKey": "v1", "replyTo": "q2",
		"replyToSessionId": "r1", "sessionId": "s1", "to": "t1", "timeToLive": 90 * time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	custom := map[string]any{
		"text": "a", "whole": int64(42), "real": 1.5, "large": int64(math.MinInt64), "huge": 1e19, "yes": true, "Name": "b", "name": "c",
	}
	if diff := cmp.Diff(custom, m.ApplicationProperties); diff != "" {
		t.Error(diff)
	}
	if m.ScheduledEnqueueTime != nil {
		t.Errorf("scheduled for %v, which has passed", m.ScheduledEnqueueTime)
	}
}

// TestScheduledTime sends a message for later.
func TestScheduledTime(t *testing.T) {
	server, client := start(t)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	action := toQueue(t, client, "q1", `"message":"later","brokeredMessageProperties":{"scheduledEnqueueTimeUtc":"`+at.Format(time.RFC3339)+`"}`)
	succeed(t, action, attempt())
	receiver, err := consumer(t, server).NewReceiverForQueue("q1", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.PeekMessages(t.Context(), 1, nil)
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	if m := messages[0]; m.State != azservicebus.MessageStateScheduled || !m.ScheduledEnqueueTime.Equal(at) {
		t.Errorf("state %v, scheduled for %v, want %v", m.State, m.ScheduledEnqueueTime, at)
	}
}

// TestLongTimeToLive sends messages that live longer than AMQP's header can tell.
func TestLongTimeToLive(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1", `"message":"old","brokeredMessageProperties":{"timeToLive":"P1Y"}`)
	succeed(t, action, attempt())
	p := receive(t, server, "q1", 1)[0].RawAMQPMessage.Properties
	if p.CreationTime == nil || p.AbsoluteExpiryTime == nil || !p.CreationTime.AddDate(1, 0, 0).Equal(*p.AbsoluteExpiryTime) {
		t.Errorf("created %v, expires %v", p.CreationTime, p.AbsoluteExpiryTime)
	}
}

func TestSession(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{Entities: emulator.Entities{
		Queues: []emulator.Queue{{Name: "q1", Options: emulator.QueueOptions{RequiresSession: true}}},
	}})
	client := newClient(t, dev(server))
	fail(t, toQueue(t, client, "q1"), 400, true, "'amqp:not-allowed' (the queue 'q1' needs a sessionId in brokeredMessageProperties)")
	for _, session := range []string{"s1", "s2", "s1"} {
		succeed(t, toQueue(t, client, "q1", `"message":"hello","brokeredMessageProperties":{"sessionId":"`+session+`"}`), attempt())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	receiver, err := consumer(t, server).AcceptSessionForQueue(ctx, "q1", "s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range take(t, receiver, 2) {
		if *m.SessionID != "s1" {
			t.Errorf("session %s", *m.SessionID)
		}
	}
}

// TestSubscriptions sends to a topic with subscriptions that select by a custom property.
func TestSubscriptions(t *testing.T) {
	entities, err := emulator.ReadConfig(strings.NewReader(`{"UserConfig":{"Namespaces":[{"Name":"ns","Topics":[{"Name":"events/all",
		"Subscriptions":[{"Name":"red","Rules":[{"Name":"r","Properties":{"FilterType":"Sql","SqlFilter":{"SqlExpression":"colour = 'red' AND size > 1"}}}]},
		{"Name":"blue","Rules":[{"Name":"r","Properties":{"FilterType":"Correlation","CorrelationFilter":{"Label":"b","Properties":{"colour":"blue"}}}}]}]}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	server := emulatortest.ServiceBus(t, emulator.Config{Entities: entities})
	client := newClient(t, dev(server))
	topic := func(properties string) string {
		return `{"serviceBusTopicMessage":{"namespace":"ns","topicPath":"events/all",` + properties + `}}`
	}
	red := topic(`"message":"r","customMessageProperties":{"colour":"red","size":2}`)
	blue := topic(`"message":"b","customMessageProperties":{"colour":"blue"},"brokeredMessageProperties":{"label":"b"}`)
	for _, action := range []string{red, blue, red} {
		succeed(t, mustRead(t, client, "ServiceBusTopic", action), attempt())
	}
	for subscription, want := range map[string]string{"red": "rr", "blue": "b"} {
		receiver, err := consumer(t, server).NewReceiverForSubscription("events/all", subscription, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, m := range take(t, receiver, len(want)) {
			got.Write(m.Body)
		}
		if got.String() != want {
			t.Errorf("%s got %q, want %q", subscription, got.String(), want)
		}
	}
}

// TestDuplicateDetection shows that tries of one action in one occurrence make one message.
func TestDuplicateDetection(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{Entities: emulator.Entities{
		Queues: []emulator.Queue{{Name: "q1", Options: emulator.QueueOptions{DuplicateDetection: true}}},
	}})
	client := newClient(t, dev(server))
	action := toQueue(t, client, "q1", `"message":"hello"`)
	long := strings.Repeat("ä", 200)
	for _, key := range []string{"k1", "k1", "k2", long + "1", long + "1", long + "2", "k1"} {
		succeed(t, action, keyed(key))
	}
	messages := receive(t, server, "q1", 4)
	ids := make(map[string]bool)
	for _, m := range messages {
		ids[m.MessageID] = true
		if n := len([]rune(m.MessageID)); n > 128 {
			t.Errorf("id of %d characters", n)
		}
	}
	if len(ids) != 4 || !ids["k1"] || !ids["k2"] {
		t.Errorf("got %v", ids)
	}
	receiver, err := consumer(t, server).NewReceiverForQueue("q1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if more, err := receiver.PeekMessages(t.Context(), 1, nil); err != nil || len(more) > 0 {
		t.Errorf("%d more, %v", len(more), err)
	}
}
