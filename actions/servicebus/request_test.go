package servicebus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
)

const (
	path       = "action.serviceBusQueueMessage."
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

// TestReadActionProblems has one document for each message of validation.
func TestReadActionProblems(t *testing.T) {
	long := strings.Repeat("ä", 129)
	const (
		neither = path + "namespace: is neither a namespace nor an endpoint: write name, name.servicebus.windows.net, host:port, " +
			"sb://host:port, amqp://host:port or amqps://host:port"
		noKey = path + "authentication.sasKey: is required. It is never returned, so a job that was read and is put back lacks it: " +
			`give the key again, or {"secretRef": "name"}`
		noName = path + "authentication.sasKeyName: is required: the name of the shared access policy that sasKey belongs to"
		noText = path + "authentication.sasKey: must not contain semicolons, spaces or line breaks"
	)
	tests := map[string]struct{ action, want string }{
		"nothing":       {`{}`, "action.serviceBusQueueMessage: is required"},
		"not an object": {`{"serviceBusQueueMessage":1}`, "action.serviceBusQueueMessage: must be an object, not a number"},
		"other member": {
			`{"serviceBusTopicMessage":{}}`, "action.serviceBusQueueMessage: is required\naction.serviceBusTopicMessage: unknown field",
		},
		"everything at once": {
			members(`"namespace":"-","queueName":"/","transportType":"sbmp","message":1,"customMessageProperties":[],"topicPath":"t"`),
			path + "namespace: is not a namespace: 1 to 50 letters, digits and hyphens, beginning with a letter and not ending in a hyphen\n" +
				path + "queueName: is not the path of a queue: letters, digits and . - _ ~ / are allowed, with a letter or digit at either end\n" +
				path + `transportType: "sbmp" is not one of notSpecified, netMessaging, AMQP` + "\n" +
				path + "authentication: is required: give the sasKeyName and sasKey of a shared access policy that may send\n" +
				path + "message: must be a string, not a number\n" +
				path + "customMessageProperties: must be an object, not an array\n" +
				path + "topicPath: unknown field",
		},
		"empty":              {members(rightKey), path + "namespace: is required\n" + path + "queueName: is required"},
		"namespace host":     {place("a b.c"), neither},
		"namespace path":     {place("sb://ns.servicebus.windows.net/q1"), neither},
		"namespace scheme":   {place("https://host"), path + `namespace: has a scheme that is not sb, amqp or amqps`},
		"namespace port":     {place("host:0"), path + `namespace: has a port that is not in 1-65535`},
		"namespace string":   {place("Endpoint=sb://x/;SharedAccessKey=abc"), path + "namespace: is a connection string; give its host here, and its key name and key in authentication"},
		"namespace mapped":   {place("odd"), path + `namespace: is mapped to "http://x" by the configuration, which has a scheme that is not sb, amqp or amqps`},
		"queue long":         {members(rightKey, `"namespace":"ns","queueName":"`+strings.Repeat("q", 261)+`"`), path + "queueName: is 261 characters long, at most 260 are allowed"},
		"queue management":   {members(rightKey, `"namespace":"ns","queueName":"q/$management"`), path + "queueName: is not the path of a queue: letters, digits and . - _ ~ / are allowed, with a letter or digit at either end"},
		"authentication":     {authentication(`1`), path + "authentication: must be an object, not a number"},
		"authentication not": {authentication(`{"type":"notSpecified"}`), noName + "\n" + noKey},
		"type":               {authentication(`{"type":"basic","sasKeyName":"n","sasKey":"k"}`), path + `authentication.type: "basic" is not one of notSpecified, sharedAccessKey`},
		"key name":           {authentication(`{"sasKeyName":"a&b","sasKey":"k"}`), path + "authentication.sasKeyName: is not the name of a shared access policy: 1 to 256 letters, digits, dots, hyphens and underscores"},
		"key name empty":     {authentication(`{"sasKeyName":"","sasKey":"k"}`), noName},
		"key":                {authentication(`{"sasKeyName":"n"}`), noKey},
		"key empty":          {authentication(`{"sasKeyName":"n","sasKey":""}`), noKey},
		"key kind":           {authentication(`{"sasKeyName":"n","sasKey":1}`), path + `authentication.sasKey: must be a string or {"secretRef": name}, not a number`},
		"key break":          {authentication(`{"sasKeyName":"n","sasKey":"s3cret\n"}`), noText},
		"key injection":      {authentication(`{"sasKeyName":"n","sasKey":"s3cret;Endpoint=sb://x"}`), noText},
		"key string":         {authentication(`{"sasKeyName":"n","sasKey":"Endpoint=sb://x/;SharedAccessKey=s3cret"}`), path + "authentication.sasKey: is a connection string; give what follows SharedAccessKey= alone"},
		"key token":          {authentication(`{"sasKeyName":"n","sasKey":"SharedAccessSignature sr=s3cret"}`), path + "authentication.sasKey: is a shared access signature; give the key of the policy, with which the scheduler signs itself"},
		"properties":         {properties(`"x"`), path + "brokeredMessageProperties: must be an object, not a string"},
		"property":           {properties(`{"lable":"x"}`), path + `brokeredMessageProperties.lable: unknown field; did you mean "label"?`},
		"property kinds": {
			properties(`{"contentType":1,"forcePersistence":"yes","scheduledEnqueueTimeUtc":"soon"}`),
			path + "brokeredMessageProperties.contentType: must be a string, not a number\n" +
				path + "brokeredMessageProperties.forcePersistence: must be a boolean, not a string\n" +
				path + `brokeredMessageProperties.scheduledEnqueueTimeUtc: "soon" is not a date or time: `,
		},
		"property lengths": {
			properties(`{"messageId":"` + long + `","partitionKey":"` + long + `","replyToSessionId":"` + long + `","sessionId":"` + long + `","viaPartitionKey":"` + long + `"}`),
			path + "brokeredMessageProperties.messageId: is 129 characters long, at most 128 are allowed\n" +
				path + "brokeredMessageProperties.partitionKey: is 129 characters long, at most 128 are allowed\n" +
				path + "brokeredMessageProperties.replyToSessionId: is 129 characters long, at most 128 are allowed\n" +
				path + "brokeredMessageProperties.sessionId: is 129 characters long, at most 128 are allowed\n" +
				path + "brokeredMessageProperties.viaPartitionKey: is 129 characters long, at most 128 are allowed",
		},
		"partition":    {properties(`{"sessionId":"a","partitionKey":"b"}`), path + "brokeredMessageProperties.partitionKey: must be the same as sessionId when both are given"},
		"time to live": {properties(`{"timeToLive":"PT0S"}`), path + "brokeredMessageProperties.timeToLive: must be longer than zero, at least a millisecond"},
		"custom": {
			members(rightPlace, rightKey, `"customMessageProperties":{"":"a","b c":[],"d":{},"e":"f","g":9223372036854775808,"h":1e999}`),
			path + `customMessageProperties: "" cannot be the name of a property` + "\n" +
				path + `customMessageProperties["b c"]: must be a string, number or boolean, not an array` + "\n" +
				path + `customMessageProperties.d.secretRef: is required` + "\n" +
				path + "customMessageProperties.g: is a whole number of more than 64 bits; give it as a string\n" +
				path + "customMessageProperties.h: is larger than a double can be; give it as a string",
		},
	}
	client := newClient(t, servicebus.Config{Endpoints: egress.Endpoints{ByName: map[string]string{"odd": "http://x"}}})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			action, err := read(t, client, "ServiceBusQueue", test.action)
			if err == nil || action != nil {
				t.Fatalf("got %v, %v; want no action and an error", action, err)
			}
			got := err.Error()
			if before, _, ok := strings.Cut(got, "is not a date or time: "); ok { // what follows is the document reader's matter
				got = before + "is not a date or time: "
			}
			if diff := cmp.Diff(strings.Split(test.want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got, "s3cret") {
				t.Error("the key is shown")
			}
		})
	}
}

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
	client := newClient(t, servicebus.Config{Endpoints: egress.Endpoints{ByName: map[string]string{"mapped": "amqp://127.0.0.1:1"}}})
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
}
