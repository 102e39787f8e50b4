package delivery

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	queueaction "github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The delivery to storage queues also runs against Azurite, unchanged:
//
//	go test ./integration/suite/sdk/delivery -run StorageQueue -azurite http://127.0.0.1:10001/devstoreaccount1
//
// The folder azurite beside this one starts one, does that and stops it.
var queueAzurite = flag.String("azurite", "", "URL of the queue endpoint of Azurite; \"\" delivers to the emulator of this repository")

// queueWait bounds a test.
const queueWait = 20 * time.Second

// A queueWorld is a service, an SDK client of one of its queues and an action client.
type queueWorld struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the test
	url     string          // of the account
	name    string
	key     *azqueue.SharedKeyCredential
	queue   *azqueue.QueueClient
	actions *queueaction.Client
}

// newQueueWorld returns a world with an empty queue.
func newQueueWorld(t *testing.T, name string) *queueWorld {
	t.Helper()
	w := &queueWorld{t: t, url: *queueAzurite, name: name, actions: queueaction.New(queueaction.Config{Region: "West Europe"})}
	t.Cleanup(w.actions.Close)
	if w.url == "" {
		server := must.Get(storagequeue.Start(context.WithoutCancel(t.Context()), storagequeue.Config{Addr: "127.0.0.1:0"}))(w.t)
		t.Cleanup(func() { must.Do(t, server.Close()) })
		w.url = server.URL() + "/" + storagequeue.DefaultAccount
	}
	ctx, cancel := context.WithTimeout(t.Context(), queueWait)
	t.Cleanup(cancel)
	w.ctx = ctx
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	var err error
	w.key, err = azqueue.NewSharedKeyCredential(storagequeue.DefaultAccount, storagequeue.DefaultKey)
	must.Do(w.t, err)
	w.queue, err = azqueue.NewQueueClientWithSharedKeyCredential(w.url+"/"+name, w.key, &azqueue.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	must.Do(w.t, err)
	_, err = w.queue.Create(ctx, nil)
	must.Do(w.t, err)
	t.Cleanup(func() {
		must.Get(w.queue.Delete(context.WithoutCancel(ctx), nil))(t)
	})
	return w
}

// sign makes a token that may add messages, over http too.
func (w *queueWorld) sign(change func(*sas.QueueSignatureValues)) string {
	w.t.Helper()
	values := sas.QueueSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "a", QueueName: w.name,
	}
	if change != nil {
		change(&values)
	}
	signed := must.Get(values.SignWithSharedKey(w.key))(w.t)
	return signed.Encode()
}

// deliver runs an attempt of an action whose members are right but for changes.
func (w *queueWorld) deliver(changes map[string]any) scheduler.Result {
	w.t.Helper()
	m := map[string]any{"storageAccount": w.url, "queueName": w.name, "message": "My message body"}
	maps.Copy(m, changes)
	if m["sasToken"] == nil {
		m["sasToken"] = w.sign(nil)
	}
	text := must.Get(json.Marshal(map[string]any{"queueMessage": m}))(w.t)
	v := must.Get(document.Parse(text))(w.t)
	r := document.NewReader()
	action := w.actions.ReadAction("StorageQueue", r.Object(v, "action"))
	must.Do(w.t, r.Err())
	return action.Invoke(w.ctx, scheduler.Attempt{
		Job:        scheduler.Key{Collection: "default", Job: "nightly"},
		Occurrence: "default/nightly@2026-03-01T09:30:00Z",
		ID:         "default/nightly@2026-03-01T09:30:00Z#1",
		Nominal:    time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		Try:        1,
		Key:        "default/nightly@2026-03-01T09:30:00Z",
		Timeout:    queueWait,
	})
}

// take takes the messages that are visible.
func (w *queueWorld) take() []*azqueue.DequeuedMessage {
	w.t.Helper()
	answer := must.Get(w.queue.DequeueMessages(w.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(32))}))(w.t)
	return answer.Messages
}

// TestStorageQueueTexts delivers texts and reads them back as they were.
func TestStorageQueueTexts(t *testing.T) {
	w := newQueueWorld(t, "delivery-texts")
	for _, text := range []string{
		"My message body", " \t\r\n<&\"'>]]> é 🦄 ", `{"order":4711}`, strings.Repeat("x", 65536), strings.Repeat("é", 32768),
	} {
		result := w.deliver(map[string]any{"message": text})
		got := w.take()
		if result.Failed || result.Status != http.StatusCreated || len(got) != 1 || *got[0].MessageText != text {
			t.Fatalf("%.40q: %+v, got %d messages", text, result, len(got))
		}
		if want := "StorageQueue Action - Message '" + *got[0].MessageID + "' put into queue 'delivery-texts' of account 'devstoreaccount1' at "; !strings.HasPrefix(result.Message, want) {
			t.Errorf("got  %s\nwant %s", result.Message, want)
		}
	}
}

// TestStorageQueueForms delivers a text in every encoding and envelope.
func TestStorageQueueForms(t *testing.T) {
	w := newQueueWorld(t, "delivery-forms")
	for _, test := range []struct {
		changes    map[string]any
		head, tail string
	}{
		{map[string]any{"messageEncoding": "base64"}, "TXkgbWVzc2FnZSBib2R5", ""},
		{map[string]any{"message": "{{.Job}}", "template": true}, "default/nightly", ""},
		{
			map[string]any{"envelope": "azureScheduler", "messageEncoding": "none"},
			`<?xml version="1.0" encoding="utf-16"?>`,
			"<Region>West Europe</Region>\n  <Message>My message body</Message>\n</StorageQueueMessage>",
		},
		{map[string]any{"envelope": "azureScheduler"}, "PD94bWwgdmVyc2lvbj0iMS4wIiBlbmNvZGluZz0idXRmLTE2Ij8+", "L1N0b3JhZ2VRdWV1ZU1lc3NhZ2U+"},
		{map[string]any{"envelope": "cloudevents"}, "{", "}"},
	} {
		result := w.deliver(test.changes)
		got := w.take()
		if result.Failed || len(got) != 1 || !strings.HasPrefix(*got[0].MessageText, test.head) || !strings.HasSuffix(*got[0].MessageText, test.tail) {
			t.Errorf("%v: %+v, got %+v", test.changes, result, got)
		}
	}
}

// TestStorageQueueTimes delivers messages that live and hide for as long as their jobs say.
func TestStorageQueueTimes(t *testing.T) {
	w := newQueueWorld(t, "delivery-times")
	for life, want := range map[string]time.Duration{"": 7 * 24 * time.Hour, "PT1M": time.Minute, "P400D": 400 * 24 * time.Hour} {
		changes := map[string]any{"timeToLive": life}
		if life == "" {
			changes = nil
		}
		result := w.deliver(changes)
		if got := w.take(); result.Failed || len(got) != 1 || got[0].ExpirationTime.Sub(*got[0].InsertionTime) != want {
			t.Errorf("%q: %+v, got %+v", life, result, got)
		}
	}
	result := w.deliver(map[string]any{"timeToLive": "never"})
	if got := w.take(); result.Failed || len(got) != 1 || got[0].ExpirationTime.Year() != 9999 || !strings.Contains(result.Message, "never expires") {
		t.Errorf("%+v, got %+v", result, got)
	}
	result = w.deliver(map[string]any{"visibilityDelay": "PT1H"})
	if got := w.take(); result.Failed || len(got) != 0 || !strings.Contains(result.Message, ", visible from ") {
		t.Errorf("%+v, got %+v", result, got)
	}
}

// TestStorageQueueRefused has what the service refuses. Nothing that is secret may be in the result.
func TestStorageQueueRefused(t *testing.T) {
	w := newQueueWorld(t, "delivery-refused")
	for want, changes := range map[string]map[string]any{
		"'QueueNotFound' (status 404)": {"queueName": "delivery-none", "sasToken": w.sign(func(v *sas.QueueSignatureValues) { v.QueueName = "delivery-none" })},
		"'AuthenticationFailed' (status 403)": {"sasToken": w.sign(func(v *sas.QueueSignatureValues) {
			v.StartTime = time.Now().Add(time.Hour / 2).UTC()
		})},
		"'AuthorizationProtocolMismatch' (status 403)": {"sasToken": w.sign(func(v *sas.QueueSignatureValues) { v.Protocol = sas.ProtocolHTTPS })},
	} {
		result := w.deliver(changes)
		head := "StorageQueue Action - Response from account 'devstoreaccount1': " + want
		if !result.Failed || !result.Final || !strings.HasPrefix(result.Message, head) || !strings.Contains(result.Message, " Hint: ") {
			t.Errorf("got  %+v\nwant %s", result, head)
		}
		_, signature, _ := strings.Cut(changes["sasToken"].(string), "sig=")
		if signature, _, _ = strings.Cut(signature, "&"); strings.Contains(result.Message+result.Response, signature) {
			t.Errorf("the signature is in %+v", result)
		}
	}
	if got := w.take(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}
