package schema

// ofActions describes actions, by the end of a path.
var ofActions = map[string]Description{
	"job.action":      {"What the job does. Its type says which member tells the rest.", "", ""},
	"job.action.type": {"What an attempt does.", "", "Http"},
	"errorAction": {
		"What is done when all retries have failed: an action like the one it stands in, or a list of them. A job may have 5.", "none", "",
	},
	"template": {
		"Whether the text is a template, filled in at each attempt: {{.Job}}, {{.Nominal}}, {{.Data.region}} and others.", "false", "true",
	},
	"data": {"Values for the template, where the job's own data has none of the name.", "none", `{"region": "eu"}`},
	"envelope": {
		"What is put around the text: nothing, a CloudEvent, its attributes beside it, or Azure Scheduler's XML.", "none", "cloudevents",
	},
	"cloudEvent":            {"What the job says itself of its CloudEvents.", "", ""},
	"cloudEvent.type":       {"The type of the event.", "io.github.carillon-sched.occurrence", "com.example.report"},
	"cloudEvent.source":     {"The source of the event, a URI or a part of one.", "the job's path", "/orders/nightly"},
	"cloudEvent.subject":    {"The subject of the event.", "the occurrence's id", "orders"},
	"cloudEvent.dataSchema": {"The URI of the schema of its data.", "none", "https://example.com/order.json"},
	"secretRef":             {"The name of a shared secret, as in carillon secrets set NAME.", "", "orders-key"},

	"retryPolicy": {
		"When a failed attempt is tried again. An errorAction without one has that of its action.", "fixed, PT30S, 4 times", "",
	},
	"retryType": {
		"none: not at all; fixed: after the same pause; exponential: after pauses that grow.", "fixed", "exponential",
	},
	"retryCount": {"How many retries follow the first attempt.", "4", "10"},
	"retryInterval": {
		"The pause after a failed attempt, up to 18 months; the first one with exponential. The least is the server's, usually PT15S.",
		"PT30S", "PT1M",
	},
	"maxRetryInterval":   {"The longest pause, with exponential.", "PT1H", "PT6H"},
	"maxDoublings":       {"How many pauses double, with exponential; then each is longer by the last of these.", "5", "3"},
	"retryPolicy.jitter": {"Each pause is longer by a share of this.", "none; a tenth of the pause with exponential", "PT10S"},
	"finalOn": {
		"Statuses after which nothing is tried again, in place of 4xx but 408, 425 and 429.", "", `["4xx", "501"]`,
	},

	"request":        {"The request of an action of type Http or Https.", "", ""},
	"request.uri":    {"Where the request goes: an absolute URI, of at most 2,048 characters.", "", "https://shop.example.com/close"},
	"request.method": {"The method of the request.", "", "POST"},
	"headers":        {"Headers by name, at most 50, with 4,096 characters in all.", "none", `{"Content-Type": "application/json"}`},
	"headers.*":      {"The value of a header. One whose name is like a credential's is a secret, and any may name a shared one.", "", ""},
	"request.body":   {"The body of the request, of at most 8,192 characters.", "empty", "close the shop"},
	"success":        {"Which answers are a success.", "any 2xx", ""},
	"success.status": {"The statuses that are a success: 200, 2xx, 200-204.", "2xx", `["2xx", "404"]`},
	"bodyContains":   {"A text that the answer must contain, of at most 1,024 characters.", "none", "done"},
	"redirects":      {"How many redirects are followed.", "10", "0"},
	"webhook":        {"Signs the request by Standard Webhooks (https://www.standardwebhooks.com).", "none", ""},
	"webhook.secret": {"The key: whsec_ and 24 to 64 bytes in base64.", "", `{"secretRef": "hook"}`},
	"previousSecret": {"The key before, while receivers change over.", "none", `{"secretRef": "old-hook"}`},
	"request.authentication": {
		"How the request authenticates itself. Tokens are shared and renewed.", "not at all", "",
	},
	"request.authentication.type": {"The way of authentication.", "", "Basic"},
	"username":                    {"The user's name, without a colon.", "", "reports"},
	"authentication.password":     {"The password, of the user or of pfx.", "", `{"secretRef": "password"}`},
	"pfx": {
		"A client certificate with its private key: PKCS#12 in base64. The uri must be https.", "", `{"secretRef": "pfx"}`,
	},
	"certificateThumbprint":     {"Shown: of the client certificate.", "", ""},
	"certificateSubjectName":    {"Shown: of the client certificate.", "", ""},
	"certificateExpiration":     {"Shown: when the client certificate expires.", "", ""},
	"certificateExpirationDate": {"Shown: when the client certificate expires.", "", ""},
	"tenant":                    {"The directory, an id or a domain name.", "", "contoso.onmicrosoft.com"},
	"audience":                  {"For whom the token is to be.", "", "https://management.core.windows.net/"},
	"clientId":                  {"The client's id at the token server.", "", "reports"},
	"authentication.secret":     {"The client's secret at the token server.", "", `{"secretRef": "client"}`},
	"tokenUrl": {
		"Where tokens are asked for, by client credentials (RFC 6749, section 4.4).", "", "https://login.example.com/token",
	},
	"scope": {"What the token is to be good for.", "what the server says", "orders.write"},
	"authStyle": {
		"Whether the client authenticates itself in the header, by HTTP Basic, or in the body.", "header", "body",
	},

	"queueMessage":           {"The message of an action of type StorageQueue.", "", ""},
	"storageAccount":         {"The storage account, or the endpoint of its queues.", "", "contosostorage"},
	"queueMessage.queueName": {"The queue: 3 to 63 lower-case letters, digits and single hyphens.", "", "orders"},
	"sasToken":               {"A shared access signature that may add messages.", "", `{"secretRef": "queue"}`},
	"message":                {"The text of the message.", "empty", "close"},
	"messageEncoding": {
		"Whether the text goes into the queue as it is, or in base64.", "none; base64 with azureScheduler", "base64",
	},
	"queueMessage.timeToLive": {"How long the message stays in the queue; never or -1: it stays.", "P7D", "PT1H"},
	"visibilityDelay":         {"How long the message cannot be seen at first, at most P7D.", "none", "PT30S"},

	"serviceBusQueueMessage":  {"The message of an action of type ServiceBusQueue, sent over AMQP.", "", ""},
	"serviceBusTopicMessage":  {"The message of an action of type ServiceBusTopic, sent over AMQP.", "", ""},
	"namespace":               {"The Service Bus namespace: a name, its host, or an endpoint.", "", "contoso"},
	"queueName":               {"The path of the queue.", "", "orders"},
	"topicPath":               {"The path of the topic.", "", "orders"},
	"transportType":           {"Without effect, as messages go over AMQP; Azure Scheduler's documents have it.", "", ""},
	"authentication":          {"The key of a shared access policy that may send. dev takes messages without it.", "", ""},
	"authentication.type":     {"How the sender authenticates itself; always by the shared access key.", "", "sharedAccessKey"},
	"sasKeyName":              {"The name of the shared access policy.", "", "RootManageSharedAccessKey"},
	"sasKey":                  {"The key of the policy.", "", `{"secretRef": "bus-key"}`},
	"customMessageProperties": {"Application properties of the message, by name.", "none", `{"kind": "report"}`},
	"customMessageProperties.*": {
		"A string, number or boolean. A string whose name is like a credential's is a secret, and any may name a shared one.", "", "",
	},
	"brokeredMessageProperties": {"Properties of the message that Service Bus knows.", "none", ""},
	"contentType":               {"The type of the text.", "that of the envelope", "application/json"},
	"correlationId":             {"The id of what the message belongs to.", "none", "order-7"},
	"forcePersistence":          {"Without effect; Azure Scheduler's documents have it.", "", ""},
	"label":                     {"What the message is about; AMQP's subject.", "none", "close"},
	"messageId": {
		"The message's id, for duplicate detection; at most 128 characters.", "the occurrence's id", "order-7",
	},
	"partitionKey":                      {"Which partition takes it; at most 128 characters, and the same as sessionId.", "none", "shop"},
	"brokeredMessageProperties.replyTo": {"Where answers go.", "none", "answers"},
	"replyToSessionId":                  {"The session of answers; at most 128 characters.", "none", "shop"},
	"scheduledEnqueueTimeUtc": {
		"When the message can be seen: ISO 8601, in UTC unless it has an offset.", "at once", "2026-12-07T09:00:00Z",
	},
	"sessionId":  {"The session of the message; at most 128 characters.", "none", "shop"},
	"timeToLive": {"How long the message is kept.", "as the entity has it", "PT1H"},
	"to":         {"Whom the message is for; Service Bus does not look at it.", "none", "warehouse"},
	"viaPartitionKey": {
		"Which partition a message takes through a transfer queue; at most 128 characters.", "none", "shop",
	},

	"natsMessage": {"The message of an action of type NatsMessage.", "", ""},
	"natsMessage.mode": {
		"publish: send it; jetstream: a stream stores it; request: wait for a reply, and record it.", "publish", "jetstream",
	},
	"natsMessage.subject": {"The subject, without wildcards.", "", "orders.close"},
	"replyTo":             {"The subject of answers, with mode publish.", "none", "orders.answers"},
	"expectStream":        {"The stream that must take the message, with mode jetstream.", "any", "ORDERS"},
	"natsMessage.timeToLive": {
		"How long the stream keeps the message, with mode jetstream; at least PT1S.", "as the stream has it", "PT1H",
	},
	"servers": {
		"Servers to send the message to, a list of URLs or one text with commas.", "the scheduler's own connection",
		`["nats://nats.example.com:4222"]`,
	},
	"credentials":          {"The text of a credentials file, for servers.", "none", `{"secretRef": "nats-creds"}`},
	"token":                {"A token, for servers.", "none", `{"secretRef": "nats-token"}`},
	"user":                 {"A user's name, for servers; with password.", "none", "reports"},
	"natsMessage.password": {"The user's password.", "none", `{"secretRef": "nats-password"}`},
}
