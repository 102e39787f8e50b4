package schema

// ofSources describes the fields of sources by path suffix.
var ofSources = map[string]Description{
	"source":             {"A source of events, which start jobs.", "", ""},
	"source.kind":        {"Distinguishes a source from a job.", "", "source"},
	"source.name":        {"The name of the source and of its events.", "the name of the file", "orders"},
	"source.collection":  {"The collection of the source.", "default", "sales"},
	"source.properties":  {"The fields of the source.", "", ""},
	"source.type":        {"Where the events come from. The field of that name has the settings.", "", "webhook"},
	"source.state":       {"Whether the source receives events.", "enabled for a new source, otherwise unchanged", "disabled"},
	"source.labels":      {"Free text by name.", "none", `{"team": "billing"}`},
	"source.description": {"A note for people.", "none", "orders of the web shop"},

	"source.nats": {"A subject, or a stream, of the scheduler's NATS.", "", ""},
	"source.nats.subject": {
		"A subject with wildcards. With a stream: only its messages on that subject.", "all of the stream", "orders.>",
	},
	"source.nats.stream": {
		"A stream. It needs a durable consumer; without a stream, messages are lost while no server runs.", "none", "ORDERS",
	},
	"source.nats.start": {"Where a new source begins in the stream: new, all, or a sequence.", "new", "all"},

	"source.webhook":                 {"An HTTP endpoint: POST /events/<collection>/<name>.", "", ""},
	"source.webhook.verify":          {"How to verify the sender.", "", ""},
	"source.webhook.verify.type":     {"The scheme. none permits any sender.", "", "github"},
	"source.webhook.verify.secret":   {"The key of the signature, or the token.", "", ""},
	"source.webhook.verify.user":     {"The user name of basic authentication.", "", "shop"},
	"source.webhook.verify.password": {"The password of basic authentication.", "", ""},
	"source.webhook.verify.header": {
		"The header with the signature, or the token.", "Authorization: Bearer for a token", "X-Signature",
	},
	"source.webhook.verify.algorithm": {"The hash function of the HMAC.", "sha256", "sha1"},
	"source.webhook.verify.encoding":  {"The encoding of the signature.", "hex", "base64"},
	"source.webhook.verify.prefix":    {"The text before the signature in the header.", "none", "sha256="},
	"source.webhook.tolerance": {
		"Maximum difference between a signed timestamp and the time of receipt. At most two minutes.", "PT1M", "PT2M",
	},
	"source.webhook.maxBytes": {"Maximum size of the body in bytes.", "65536", "4096"},
	"source.webhook.rateLimit": {
		"Limits verified requests, for each server. Required with verify.type none.", "600 a minute", "",
	},
	"source.webhook.rateLimit.requests": {"Number of requests in a period.", "", "100"},
	"source.webhook.rateLimit.period":   {"Length of the period.", "PT1S", "PT1M"},
	"source.webhook.challenge":          {"The query parameter that a GET request echoes.", "GET is refused", "hub.challenge"},
	"source.serviceBusQueue":            {"A queue of Azure Service Bus.", "", ""},
	"source.serviceBusSubscription":     {"A subscription of a topic of Azure Service Bus.", "", ""},
	"source.storageQueue":               {"A queue of Azure Storage.", "", ""},
	"connectionString":                  {"The connection string, with a key or a token that may receive.", "", ""},
	"connectionString.secretRef":        {"The name of a shared secret.", "", "bus"},
	"source.serviceBusQueue.queueName":  {"The name of the queue.", "", "orders"},
	"source.storageQueue.queueName":     {"The name of the queue.", "", "orders"},

	"source.serviceBusSubscription.topicName":        {"The name of the topic.", "", "orders"},
	"source.serviceBusSubscription.subscriptionName": {"The name of the subscription.", "", "carillon"},
	"sessions": {"Whether the entity has sessions. The messages of a session are received in order.", "false", "true"},
}
