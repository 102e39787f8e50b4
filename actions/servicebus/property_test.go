package servicebus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

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
	if diff := cmp.Diff(want, receive(t, server, "q1", 1)[0].ApplicationProperties); diff != "" {
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
	if got := receive(t, server, "q1", 1)[0].ApplicationProperties["n"]; got != 12345678901234567890.0 {
		t.Errorf("got %v", got)
	}
}
