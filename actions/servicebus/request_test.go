package servicebus_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
)

const (
	rightKey   = `"authentication":{"sasKeyName":"n","sasKey":"k"}`
	rightPlace = `"namespace":"ns","queueName":"q1"`
)

// members returns an action for a queue with these members.
func members(list ...string) string {
	return `{"serviceBusQueueMessage":{` + strings.Join(list, ",") + `}}`
}

// properties returns an action that is right but for brokeredMessageProperties.
func properties(json string) string {
	return members(rightPlace, rightKey, `"brokeredMessageProperties":`+json)
}

// place returns an action that is right but for its namespace.
func place(namespace string) string {
	return members(`"queueName":"q1"`, rightKey, `"namespace":"`+namespace+`"`)
}

// authentication returns an action that is right but for its authentication.
func authentication(json string) string { return members(rightPlace, `"authentication":`+json) }

// TestRefused has one document for each message of validation.
func TestRefused(t *testing.T) { actiontest.CheckRefusals(t, newClient(t, servicebus.Config{})) }

func TestReadActionAccepts(t *testing.T) {
	strict, lenient := newClient(t, servicebus.Config{}), newClient(t, servicebus.Config{KeyOptional: true})
	for name, action := range map[string]string{
		"least":         members(rightPlace, rightKey),
		"nulls":         members(rightPlace, rightKey, `"message":null,"brokeredMessageProperties":null,"customMessageProperties":null,"transportType":null`),
		"letter case":   `{"SERVICEBUSQUEUEMESSAGE":{"NAMESPACE":"ns","queuename":"q1","transporttype":"NETMESSAGING","authentication":{"TYPE":"SharedAccessKey","saskeyname":"n","SASKEY":"k"}}}`,
		"shared secret": authentication(`{"sasKeyName":"n","sasKey":{"secretRef":"bus-key"}}`),
		"empty strings": properties(`{"contentType":"","correlationId":"","label":"","messageId":"","partitionKey":"","replyTo":"","replyToSessionId":"","sessionId":"","to":"","viaPartitionKey":""}`),
		"longest ids":   properties(`{"messageId":"` + strings.Repeat("ä", 128) + `","correlationId":"` + strings.Repeat("c", 1000) + `"}`),
		"path":          members(rightKey, `"namespace":"ns","queueName":"a/b.c-d_e~f/g_"`),
		"base64 key":    authentication(`{"type":"notSpecified","sasKeyName":"n","sasKey":"abc+/def=="}`),
	} {
		t.Run(name, func(t *testing.T) {
			mustRead(t, strict, "SERVICEBUSQUEUE", action)
		})
	}
	for _, action := range []string{members(rightPlace), authentication(`{}`), authentication(`{"type":"sharedAccessKey","sasKeyName":"n"}`), seedQueue} {
		mustRead(t, lenient, "ServiceBusQueue", action)
	}
}

func TestTarget(t *testing.T) {
	client := newClient(t, servicebus.Config{Endpoints: egress.Endpoints{ByName: map[string]string{"mapped": "amqp://127.0.0.1:1", "odd": "http://x"}}})
	for namespace, want := range map[string]string{
		"Orders":                              "orders.servicebus.windows.net",
		"sb://ORDERS.servicebus.windows.net/": "orders.servicebus.windows.net",
		"mapped":                              "mapped.servicebus.windows.net",
		"sb://localhost":                      "localhost:5672",
	} {
		if got := mustRead(t, client, "ServiceBusQueue", place(namespace)).Target(); got != want {
			t.Errorf("target of %s: got %s, want %s", namespace, got, want)
		}
	}
	const odd = `namespace: is mapped to "http://x" by the configuration, which has a scheme that is not sb, amqp or amqps`
	if _, err := read(t, client, "ServiceBusQueue", place("odd")); err == nil || !strings.HasSuffix(err.Error(), odd) {
		t.Errorf("got %v, want %s", err, odd)
	}
}
