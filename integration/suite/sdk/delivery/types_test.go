package delivery

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// once is the history of a job that ran well.
func once(t *testing.T, s *system, job string) *scheduler.Record {
	t.Helper()
	if got := s.ended(job); got != "completed" {
		t.Fatalf("job %s: history %q: %s", job, got, s.last(job).Message)
	}
	return s.last(job)
}

func TestHTTP(t *testing.T) {
	s := newSystem(t)
	s.put("web", `{"action": {"type": "http", "request": {"method": "PUT", "uri": "`+s.target.URL+`/orders?x=1",
		"headers": {"X-Custom": "yes", "Content-Type": "text/csv"}, "body": "a,b"}}}`)
	record := once(t, s, "web")
	got := s.target.get(t, "/orders")
	differ(t, "request", map[string]any{
		"body": got.body, "custom": got.header.Get("X-Custom"), "type": got.header.Get("Content-Type"),
		"key": got.header.Get("Idempotency-Key"), "job": got.header.Get("X-Ms-Scheduler-Jobid"), "attempt": got.header.Get("X-Carillon-Attempt"),
	}, map[string]any{"body": "a,b", "custom": "yes", "type": "text/csv", "key": record.Occurrence, "job": "web", "attempt": "1"})
	if !strings.HasPrefix(record.Message, "Http Action - Response from host '"+strings.TrimPrefix(s.target.URL, "http://")+"': 'OK'") || record.Status != http.StatusOK {
		t.Errorf("record %+v", record)
	}
}

func TestServiceBusQueue(t *testing.T) {
	s := newSystem(t)
	later := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	s.put("queue", `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"queueName": "orders", "namespace": "shop", "transportType": "AMQP",
		"authentication": {"type": "sharedAccessKey", "sasKeyName": "send", "sasKey": "any"}, "message": "héllo",
		"brokeredMessageProperties": {"contentType": "text/plain", "correlationId": "c1", "forcePersistence": true, "label": "l1", "messageId": "m1",
			"partitionKey": "p1", "replyTo": "r1", "replyToSessionId": "rs1", "scheduledEnqueueTimeUtc": "`+later.Format(time.RFC3339)+`",
			"timeToLive": "PT1H", "to": "t1"},
		"customMessageProperties": {"appname": "FromScheduler", "two": "2"}}}}`)
	record := once(t, s, "queue")
	m := s.fromBus("orders")
	text := func(p *string) string {
		if p == nil {
			return "(none)"
		}
		return *p
	}
	differ(t, "message", map[string]any{
		"body": string(m.Body), "contentType": text(m.ContentType), "correlationId": text(m.CorrelationID), "label": text(m.Subject), "id": m.MessageID,
		"partitionKey": text(m.PartitionKey), "replyTo": text(m.ReplyTo), "replyToSessionId": text(m.ReplyToSessionID), "to": text(m.To),
		"ttl": *m.TimeToLive, "appname": m.ApplicationProperties["appname"], "two": m.ApplicationProperties["two"],
	}, map[string]any{
		"body": "héllo", "contentType": "text/plain", "correlationId": "c1", "label": "l1", "id": "m1", "partitionKey": "p1", "replyTo": "r1",
		"replyToSessionId": "rs1", "to": "t1", "ttl": time.Hour, "appname": "FromScheduler", "two": "2",
	})
	if !strings.HasPrefix(record.Message, "ServiceBusQueue Action - ") || record.Type != "ServiceBusQueue" || record.Target == "" {
		t.Errorf("record %+v", record)
	}
}

// TestServiceBusTopic sends the action of Azure Scheduler's example, which has no key.
func TestServiceBusTopic(t *testing.T) {
	s := newSystem(t)
	s.put("topic", `{"action": {"type": "serviceBusTopic", "serviceBusTopicMessage": {"topicPath": "t1",
		"namespace": "mySBNamespace", "transportType": "netMessaging", "authentication": {"sasKeyName": "QPolicy", "type": "sharedAccessKey"},
		"message": "Some message", "brokeredMessageProperties": {}, "customMessageProperties": {"appname": "FromScheduler"}}}}`)
	record := once(t, s, "topic")
	m := s.fromBus("t1", "all")
	differ(t, "message", map[string]any{"body": string(m.Body), "id": m.MessageID, "appname": m.ApplicationProperties["appname"]},
		map[string]any{"body": "Some message", "id": record.Occurrence, "appname": "FromScheduler"})
}

func TestStorageQueue(t *testing.T) {
	s := newSystem(t, func(c *node.Config) { c.Delivery.Region = "here" })
	s.put("plain", `{"action": {"type": "storageQueue", "queueMessage": {"storageAccount": "myStorageAccount", "queueName": "myqueue",
		"sasToken": "TOKEN", "message": "My message body <&>"}}}`)
	record := once(t, s, "plain")
	m := s.fromQueue("myStorageAccount", "myqueue")
	if *m.MessageText != "My message body <&>" || m.ExpirationTime.Sub(*m.InsertionTime) != 7*24*time.Hour {
		t.Errorf("got %q, which expires %s", *m.MessageText, m.ExpirationTime)
	}
	if !strings.HasPrefix(record.Message, "StorageQueue Action - ") || !strings.Contains(record.Message, *m.MessageID) || record.Status != http.StatusCreated {
		t.Errorf("record %+v", record)
	}

	s.put("wrapped", `{"action": {"type": "storageQueue", "queueMessage": {"storageAccount": "acc", "queueName": "wrapped", "sasToken": "?sv=1&sig=x",
		"message": "membership", "envelope": "azureScheduler", "timeToLive": "PT1H"}}}`)
	record = once(t, s, "wrapped")
	m = s.fromQueue("acc", "wrapped")
	text, err := base64.StdEncoding.DecodeString(*m.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), `<?xml version="1.0" encoding="utf-16"?>`) {
		t.Errorf("got %s", text)
	}
	var fields struct {
		XMLName xml.Name `xml:"StorageQueueMessage"`
		Inner   []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	err = xml.Unmarshal([]byte(strings.Replace(string(text), "utf-16", "utf-8", 1)), &fields) //nolint:musttag // XMLName takes any element
	if err != nil {
		t.Fatal(err)
	}
	names, texts := make([]string, len(fields.Inner)), map[string]any{}
	for i, f := range fields.Inner {
		names[i], texts[f.XMLName.Local] = f.XMLName.Local, f.Text
	}
	if got, want := strings.Join(names, " "), "ExecutionTag ClientRequestId ExpectedExecutionTime SchedulerJobId SchedulerJobCollectionId Region Message"; got != want {
		t.Errorf("elements %s, want %s", got, want)
	}
	differ(t, "envelope", texts, map[string]any{
		"ExpectedExecutionTime": record.Nominal.UTC().Format("2006-01-02T15:04:05"), "SchedulerJobId": "wrapped",
		"SchedulerJobCollectionId": "default", "Message": "membership", "Region": "here",
	})
	if m.ExpirationTime.Sub(*m.InsertionTime) != time.Hour {
		t.Errorf("expires %s", m.ExpirationTime)
	}
}

// natsJob is a job that sends a NATS message.
func natsJob(mode, subject string) string {
	return `{"action": {"type": "natsMessage", "natsMessage": {"mode": "` + mode + `", "subject": "` + subject + `", "message": "ring", "headers": {"X-Custom": "yes"}}}}`
}

func TestNATSMessage(t *testing.T) {
	s := newSystem(t)
	js := must.Get(jetstream.New(s.nc))(t)
	must.Get(js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BELLS", Subjects: []string{"bells.>"}}))(t)
	for mode, subject := range map[string]string{"publish": "plain.a", "jetstream": "bells.a", "request": "asked.a"} {
		sub := must.Get(s.nc.SubscribeSync(subject))(t)
		if mode == "request" {
			must.Get(s.nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("dong")) }))(t)
		}
		must.Do(t, s.nc.Flush())
		s.put(mode, natsJob(mode, subject))
		record := once(t, s, mode)
		m := must.Get(sub.NextMsg(patience))(t)
		differ(t, mode, map[string]any{
			"data": string(m.Data), "id": m.Header.Get("Nats-Msg-Id"), "custom": m.Header.Get("X-Custom"), "job": m.Header.Get("Carillon-Job"),
		}, map[string]any{"data": "ring", "id": record.Occurrence, "custom": "yes", "job": "default/" + mode})
		if want := map[string]string{"request": "dong"}[mode]; record.Response != want || !strings.HasPrefix(record.Message, "NatsMessage Action - ") {
			t.Errorf("%s: response %q, message %q", mode, record.Response, record.Message)
		}
	}
	stream := must.Get(js.Stream(t.Context(), "BELLS"))(t)
	if n := stream.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d messages in the stream", n)
	}
}
