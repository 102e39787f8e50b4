package servicebus_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
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
	subscriber := must.Get(consumer(t, server).NewReceiverForSubscription("t1", "all", nil))(t)
	must.Get(subscriber.PeekMessages(t.Context(), 1, nil))(t)

	queue := succeed(t, mustRead(t, client, "serviceBusQueue", seedQueue), attempt())
	topic := succeed(t, mustRead(t, client, "serviceBusTopic", seedTopic), attempt())
	id := attempt().Key
	if want := "ServiceBusQueue Action - Message '" + id + "' sent to queue 'q1' of namespace 'mySBNamespace'"; queue.Message != want {
		t.Errorf("got  %s\nwant %s", queue.Message, want)
	}
	if want := "ServiceBusTopic Action - Message '" + id + "' sent to topic 't1' of namespace 'mySBNamespace'"; topic.Message != want {
		t.Errorf("got  %s\nwant %s", topic.Message, want)
	}
	for _, m := range []*azservicebus.ReceivedMessage{receive(t, server), take(t, subscriber)} {
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
	m := receive(t, server)

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
	receiver := must.Get(consumer(t, server).NewReceiverForQueue("q1", nil))(t)
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
	p := receive(t, server).RawAMQPMessage.Properties
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
	succeed(t, toQueue(t, client, "q1", `"message":"hello","brokeredMessageProperties":{"sessionId":"s1"}`), attempt())
}

// TestSecretProperties sends application properties that can be written but not read, and shared secrets as others.
func TestSecretProperties(t *testing.T) {
	server, client := start(t)
	const message = `{"serviceBusQueueMessage":{"namespace":"ns","queueName":"q1","message":"x","customMessageProperties":{
		"apiKey":"s3cret-key","Auth-Token":{"secretRef":"token"},"shop":{"SECRETREF":"shop"},"pwd":17,"partitionKey":"plain","author":"me"}}}`
	action, shown, err := actiontest.Read(t, client, "ServiceBusQueue", message)
	if err != nil {
		t.Fatal(err)
	}
	const properties = `"customMessageProperties":{"Auth-Token":{"secretRef":"token"},"shop":{"secretRef":"shop"},"pwd":17,` +
		`"partitionKey":"plain","author":"me"}`
	if !strings.Contains(shown.String(), properties) {
		t.Errorf("shown as %s", shown)
	}
	at := attempt()
	shared := map[string]string{"token": "t0ken", "shop": "north"}
	at.Shared = func(name string) (string, error) {
		if text, ok := shared[name]; ok {
			return text, nil
		}
		return "", errors.New("not found")
	}
	succeed(t, action, at)
	want := map[string]any{
		"apiKey": "s3cret-key", "Auth-Token": "t0ken", "shop": "north", "pwd": int64(17), "partitionKey": "plain", "author": "me",
	}
	if diff := cmp.Diff(want, receive(t, server).ApplicationProperties); diff != "" {
		t.Error(diff)
	}
	delete(shared, "token")
	wantFailure(t, invoke(t, action, at), 0, false, `shared secret "token": not found`)
	_, err = read(t, client, "ServiceBusQueue", strings.Replace(message, `"secretRef":"token"`, `"ref":"planted"`, 1))
	const problem = "action.serviceBusQueueMessage.customMessageProperties.Auth-Token.secretRef: is required"
	if err == nil || !strings.HasPrefix(err.Error(), problem) || strings.Contains(err.Error(), "planted") {
		t.Errorf("got %v", err)
	}
}

// TestConfides has who is shown the secrets of an action.
func TestConfides(t *testing.T) {
	client := newClient(t, servicebus.Config{KeyOptional: true, Endpoints: egress.Endpoints{ByName: map[string]string{"here": "localhost"}}})
	for namespace, want := range map[string]string{
		"Shop": "amqps://shop.servicebus.windows.net", "sb://shop.servicebus.windows.net/": "amqps://shop.servicebus.windows.net",
		"amqp://HOST": "amqp://host", "amqps://host": "amqps://host", "host:1": "amqps://host:1", "here": "here.servicebus.windows.net",
	} {
		action := mustRead(t, client, "ServiceBusQueue", `{"serviceBusQueueMessage":{"namespace":"`+namespace+`","queueName":"q1"}}`)
		if diff := cmp.Diff([]scheduler.Recipient{{Address: want}}, action.(scheduler.SecretDestination).Recipients()); diff != "" {
			t.Errorf("%s: %s", namespace, diff)
		}
	}
}

// TestStoredNumber reads a job that was accepted when a large number was still rounded.
func TestStoredNumber(t *testing.T) {
	server, client := start(t)
	r := document.NewReader()
	r.Stored = true
	action, _, err := actiontest.ReadWith(t, r, client, "ServiceBusQueue",
		`{"serviceBusQueueMessage":{"namespace":"ns","queueName":"q1","customMessageProperties":{"n":12345678901234567890}}}`)
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, action, attempt())
	if got := receive(t, server).ApplicationProperties["n"]; got != 12345678901234567890.0 {
		t.Errorf("got %v", got)
	}
}
