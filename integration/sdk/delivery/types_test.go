package delivery

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

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

// TestServiceBusTopic sends the action of the seed's example, which has no key.
func TestServiceBusTopic(t *testing.T) {
	s := newSystem(t)
	if _, err := s.emulators.ServiceBus.Broker().Subscribe("t1", "all"); err != nil {
		t.Fatal(err)
	}
	s.put("topic", `{"action": {"type": "serviceBusTopic", "serviceBusTopicMessage": {"topicPath": "t1",
		"namespace": "mySBNamespace", "transportType": "netMessaging", "authentication": {"sasKeyName": "QPolicy", "type": "sharedAccessKey"},
		"message": "Some message", "brokeredMessageProperties": {}, "customMessageProperties": {"appname": "FromScheduler"}}}}`)
	record := once(t, s, "topic")
	m := s.fromBus("t1", "all")
	differ(t, "message", map[string]any{"body": string(m.Body), "id": m.MessageID, "appname": m.ApplicationProperties["appname"]},
		map[string]any{"body": "Some message", "id": record.Occurrence, "appname": "FromScheduler"})
}

func TestStorageQueue(t *testing.T) {
	s := newSystem(t)
	s.put("plain", `{"action": {"type": "storageQueue", "queueMessage": {"storageAccount": "myStorageAccount", "queueName": "myqueue",
		"sasToken": "TOKEN", "message": "My message body <&>"}}}`)
	record := once(t, s, "plain")
	m := s.fromQueue("mystorageaccount", "myqueue")
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
	var envelope struct {
		ExecutionTag, ClientRequestID, ExpectedExecutionTime, SchedulerJobID, SchedulerJobCollectionID, Region, Message string
	}
	var fields struct {
		XMLName xml.Name `xml:"StorageQueueMessage"`
		Inner   []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal([]byte(strings.Replace(string(text), "utf-16", "utf-8", 1)), &fields); err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(fields.Inner))
	for i, f := range fields.Inner {
		names[i] = f.XMLName.Local
		switch f.XMLName.Local {
		case "ExecutionTag":
			envelope.ExecutionTag = f.Text
		case "ExpectedExecutionTime":
			envelope.ExpectedExecutionTime = f.Text
		case "SchedulerJobId":
			envelope.SchedulerJobID = f.Text
		case "SchedulerJobCollectionId":
			envelope.SchedulerJobCollectionID = f.Text
		case "Message":
			envelope.Message = f.Text
		}
	}
	if got, want := strings.Join(names, " "), "ExecutionTag ClientRequestId ExpectedExecutionTime SchedulerJobId SchedulerJobCollectionId Region Message"; got != want {
		t.Errorf("elements %s, want %s", got, want)
	}
	if len(envelope.ExecutionTag) != 32 || envelope.ExpectedExecutionTime != record.Nominal.Format("2006-01-02T15:04:05") ||
		envelope.SchedulerJobID != "wrapped" || envelope.SchedulerJobCollectionID != "default" || envelope.Message != "membership" {
		t.Errorf("got %+v", envelope)
	}
	if m.ExpirationTime.Sub(*m.InsertionTime) != time.Hour {
		t.Errorf("expires %s", m.ExpirationTime)
	}
}
