package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Description documents a field in editors, in `carillon explain` and in the schemas.
type Description struct {
	Text    string // one or two sentences, with units and where the rule comes from
	Default string // what holds without the member; "" if there is nothing to say
	Example string // a value on one line, as in a job file
}

// Describe returns the description of a path, such as job.recurrence.schedule or
// collection.targets.*; the envelope and the indexes of lists are left out. It is
// the one with the longest end of the path. Defaults of a collection are described as settings of jobs, errorActions as actions.
func Describe(path string) (d Description, key string) {
	path = strings.Replace(path, "collection.defaults.", "job.", 1)
	if at := strings.LastIndex(path, errorActionMember+"."); at >= 0 {
		path = "job.action" + path[at+len(errorActionMember):]
	}
	for key = path; ; {
		for _, table := range []map[string]Description{ofJobs, ofActions, ofCollections} {
			if d, ok := table[key]; ok {
				return d, key
			}
		}
		_, rest, more := strings.Cut(key, ".")
		if !more {
			return Description{}, ""
		}
		key = rest
	}
}

// Bounds describes the minimum and maximum of a shape's values, "" if it is unbounded: "PT1S to PT30M", "0 to 20".
func Bounds(s *document.Shape) string {
	for _, f := range s.Forms {
		switch {
		case !f.Bounded():
		case f.Kind == document.FormLength:
			least, most := document.Duration{Exact: time.Duration(f.Least)}, document.Duration{Exact: time.Duration(f.Most)}
			return least.String() + " to " + most.String()
		default:
			return strconv.FormatInt(f.Least, 10) + " to " + strconv.FormatInt(f.Most, 10)
		}
	}
	return ""
}

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

// ofCollections describes the fields of a collection by the end of their path.
var ofCollections = map[string]Description{
	"collection": {"A collection: jobs with common quotas, limits for their targets, and one switch.", "", ""},

	"collection.name":       {"The collection's name.", "the name of the file", "partners"},
	"collection.properties": {"What the collection allows its jobs.", "", ""},
	"collection.location":   {"A text for people. Azure Scheduler has its region here.", "none", "westeurope"},
	"collection.tags":       {"Texts by name, for people.", "none", `{"team": "billing"}`},
	"collection.id":         {"The collection's path. That of Azure's resource manager says its subscription and resource group.", "", ""},
	"collection.type":       {"Microsoft.Scheduler/jobCollections, which tells a collection from a job in files.", "", ""},
	"collection.etag":       {"Shown: changes with every edit of the collection.", "", ""},
	"collection.result":     {"Shown: created, updated or unchanged.", "", ""},
	"collection.dryRun":     {"Shown: what a dry run found out.", "", ""},

	"collection.state": {
		"Whether its jobs run. disabled and suspended postpone them and change none; deleted cannot be asked for.",
		"as it is; enabled for a new one", "disabled",
	},
	"sku":      {"The collection's plan, as Azure Scheduler had them.", "none", ""},
	"sku.name": {"The plan, with quotas where the collection has none of its own.", "none", "Standard"},
	"defaults": {
		"Settings that jobs inherit unless they set them: errorAction, retryPolicy, timeout, lateAfter and labels.",
		"none",
		`{"labels": {"team": "billing"}, "timeout": "PT2M"}`,
	},
	"minRetryInterval": {
		"How soon a failed attempt of its jobs may be tried again at the least.", "PT15S, or what the process has", "PT1M",
	},
	"quota": {
		"How many jobs the collection may have, and how often they may recur.", "that of its plan, or no limit", "",
	},
	"maxJobCount":      {"How many jobs it may have, completed ones included.", "that of its plan, or no limit", "50"},
	"maxJobOccurrence": {"Without effect, as in Azure Scheduler.", "", ""},
	"maxRecurrence": {
		"The most often that a job may recur, told by frequency and interval.", "that of its plan, or no limit", "",
	},
	"targets":     {"What its jobs may do to a target, by the target's name.", "no rules", ""},
	"targets.*":   {"The rules of a target: a host, host:port, *.example.com for all below, or * for each other one.", "", ""},
	"concurrency": {"How many attempts may be under way at once, in each process.", "what the process allows", "4"},
	"rate":        {"How many attempts may begin in a length of time, spread evenly.", "no limit", ""},
	"rate.limit":  {"How many attempts.", "", "100"},
	"rate.per":    {"In which time.", "PT1S", "PT1M"},
	"circuitBreaker": {
		"When attempts to a target in trouble are postponed: without an answer, or with 408, 429 or 5xx.", "never", "",
	},
	"circuitBreaker.failures": {"How many failures in a row open the circuit.", "5", "10"},
	"openFor":                 {"How long it stays open, until one attempt finds out whether the target is back.", "PT30S", "PT1M"},
	"maxPostponement":         {"How long an attempt is postponed at the most; then it runs all the same.", "PT10M", "PT1H"},
}

// ofJobs describes the fields of a job outside its action, by the end of their path.
var ofJobs = map[string]Description{
	"job": {"A job: when to run, what to do, and what becomes of failures.", "", ""},

	"job.name": {
		"The job's name, or collection/name. In a file with several jobs each must have one.", "the name of the file", "nightly-report",
	},
	"job.collection": {"The collection that the job is in.", "default", "partners"},
	"job.properties": {"The members of the job. They may stand at the top of the document as well.", "", ""},
	"job.id":         {"Shown: the job's path. It is not read when a job is put.", "", ""},
	"job.type":       {"Shown: what kind of document this is. Microsoft.Scheduler/jobCollections makes it a collection.", "", ""},
	"job.etag":       {"Shown: changes with every edit of the job.", "", ""},
	"job.result":     {"Shown: created, updated or unchanged.", "", ""},
	"job.warnings":   {"Shown: what is allowed and may not be meant so.", "", ""},
	"job.dryRun":     {"Shown: what a dry run found out.", "", ""},
	"job.status":     {"Shown: when the job runs next, and what it has done.", "", ""},

	"job.pausedUntil": {
		"A job starts nothing before this instant, and goes on by itself then. What falls due meanwhile is recorded as skipped; " +
			"a job that runs once runs at the end. Its state stays enabled; null ends a pause.", "as it is; none for a new job",
		"2027-01-07T09:00:00+01:00",
	},
	"job.state": {
		"Whether the job runs by its schedule. It can be run by hand in either state.", "as it is; enabled for a new job", "disabled",
	},
	"job.data": {
		"Values for the templates of the job's actions, as {{.Data.region}}. They are no secrets.", "none", `{"region": "eu"}`,
	},
	"job.input": {
		"A JSON Schema of the data that a manual run may give to the templates. Its properties are names that templates may use.",
		"none: only names that a template uses", `{"properties": {"order": {"type": "integer"}}, "required": ["order"]}`,
	},
	"job.startTime": {
		"When the job begins: ISO 8601, in UTC unless it has an offset. A job without recurrence runs at this time, once.",
		"now", "2026-12-07T09:00:00+01:00",
	},
	"job.timeZone": {
		"The time zone of a cron or rrule schedule that names none itself: an IANA name, or an offset.", "UTC", "Europe/Berlin",
	},
	"job.dst":     {"What becomes of times that a change of the clock leaves out or repeats.", "the schedule language's own way", ""},
	"dst.gap":     {"A time that the clock jumps over runs at the next one there is, later by the gap, or not at all.", "", "next"},
	"dst.overlap": {"A time that the clock shows twice runs the first time, or both times.", "", "first"},
	"job.recurrence": {
		"When the job runs again: by frequency and interval as in Azure Scheduler, or by a cron or rrule text.", "the job runs once", "",
	},
	"frequency": {"The unit in which the job recurs. It stands in place of cron and rrule.", "", "day"},
	"interval":  {"How many units of frequency there are from one time to the next.", "1", "2"},
	"count":     {"How many times the job runs. It is over then, or at endTime, whichever comes first.", "no limit", "10"},
	"endTime":   {"When the job is over: ISO 8601, in UTC unless it has an offset.", "never", "2027-01-01T00:00:00Z"},
	"cron":      {"A cron expression, in the dialect of Obsidian or dsari.", "", "15 5,17 * * 1-5"},
	"rrule": {
		"A recurrence of RFC 5545: DTSTART, RRULE, EXRULE, RDATE and EXDATE, the last two not in awx or dsari.",
		"", "RRULE:FREQ=DAILY;BYHOUR=9",
	},
	"dialect": {"How cron or rrule is read: obsidian or dsari of cron; rfc5545, awx or dsari of rrule.", "obsidian, or rfc5545", "dsari"},
	"anchor": {
		"The base of the interval of a frequency or an @recur: the grid of startTime, or the start of the last execution.",
		"grid, and lastExecution of @recur", "lastExecution",
	},
	"schedule":  {"At which times of its unit a recurrence with a frequency runs, in UTC.", "those of startTime", ""},
	"minutes":   {"Minutes of the hour, 0 to 59.", "that of startTime", "[0, 30]"},
	"hours":     {"Hours of the day, 0 to 23.", "that of startTime", "[9, 17]"},
	"weekDays":  {"Days of the week, with frequency week.", "that of startTime", `["Monday", "Friday"]`},
	"monthDays": {"Days of the month, with frequency month: 1 to 31, or from its end, -1 to -31.", "that of startTime", "[1, -1]"},
	"months":    {"Months of the year, 1 to 12, with frequency year.", "that of startTime", "[1, 7]"},
	"monthlyOccurrences": {
		"Weekdays of the month, such as the last Friday, with frequency month.", "none", `[{"day": "Friday", "occurrence": -1}]`,
	},
	"monthlyOccurrences.day":        {"The day of the week.", "", "Friday"},
	"monthlyOccurrences.occurrence": {"Which of them in the month: 1 to 5, or from its end, -1 to -5.", "each", "-1"},

	"job.jitter":  {"Each occurrence is put off by its own share of this, always the same.", "none", "PT5M"},
	"job.timeout": {"How long one attempt may take.", "PT60S", "PT2M"},
	"job.lateAfter": {
		"How late an occurrence may begin. The history marks later ones as late, and a metric counts them for an alert.",
		"none", "PT1M",
	},
	"job.overlap":    {"Whether an occurrence that falls due while the one before runs is skipped, or runs beside it.", "skip", "allow"},
	"job.catchUp":    {"Which of the times run that were missed while no scheduler ran.", "once, of those in the last hour", ""},
	"catchUp.policy": {"The last of the missed times runs once, all of them do, or none.", "once", "all"},
	"catchUp.window": {
		"How late a missed time may still start.", "PT1H; without a limit for a job that runs once", "PT15M",
	},
	"job.labels":      {"Texts by name, to pick jobs by.", "none", `{"team": "billing"}`},
	"job.description": {"A text for people, of at most 1,024 bytes.", "", "Sends the report of the day before."},
}
