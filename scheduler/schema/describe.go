package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Description documents a field in editors, in `carillon explain` and in the schemas.
type Description struct {
	Text    string // one or two sentences, with units and the origin of the rule
	Default string // the effect of omitting the field; "" if irrelevant
	Example string // a value on one line, as in a job file
}

// Describe returns the description of a path, such as job.recurrence.schedule or
// collection.targets.*, without the envelope and list indexes. The entry with the longest matching suffix wins.
// Defaults of a collection use the descriptions of jobs; errorActions use the descriptions of actions.
func Describe(path string) (d Description, key string) {
	path = strings.Replace(path, "collection.defaults.", "job.", 1)
	if at := strings.LastIndex(path, errorActionMember+"."); at >= 0 {
		path = "job.action" + path[at+len(errorActionMember):]
	}
	for key = path; ; {
		for _, table := range []map[string]Description{ofJobs, ofActions, ofCollections, ofSources} {
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

// ofActions describes the fields of actions by path suffix.
var ofActions = map[string]Description{
	"job.action":      {"The action of the job. Its type selects the field with the details.", "", ""},
	"job.action.type": {"The kind of action.", "", "Http"},
	"errorAction": {
		"Action or list of actions to run when all retries have failed. At most 5 per job.", "none", "",
	},
	"template": {
		"Whether the text is a template, rendered at each attempt: {{.Job}}, {{.Nominal}}, {{.Data.region}} and others.", "false", "true",
	},
	"data": {"Default values for the template. The job's data overrides them.", "none", `{"region": "eu"}`},
	"envelope": {
		"Wraps the text in a CloudEvent (structured or binary mode) or in Azure Scheduler's XML.", "none", "cloudevents",
	},
	"cloudEvent":            {"Attributes of the job's CloudEvents.", "", ""},
	"cloudEvent.type":       {"The type of the event.", "io.github.carillon-sched.occurrence", "com.example.report"},
	"cloudEvent.source":     {"The source of the event, a URI reference.", "the job's path", "/orders/nightly"},
	"cloudEvent.subject":    {"The subject of the event.", "the occurrence ID", "orders"},
	"cloudEvent.dataSchema": {"The URI of the schema of the event data.", "none", "https://example.com/order.json"},
	"secretRef":             {"The name of a shared secret, as set with carillon secrets set NAME.", "", "orders-key"},

	"retryPolicy": {
		"When to retry a failed attempt. An errorAction inherits the policy of its action.", "fixed, PT30S, 4 times", "",
	},
	"retryType": {
		"none: no retries; fixed: a constant backoff; exponential: a growing backoff.", "fixed", "exponential",
	},
	"retryCount": {"Number of retries after the first attempt.", "4", "10"},
	"retryInterval": {
		"Backoff after a failed attempt, up to 18 months; with exponential, the initial backoff. The server's minimum is usually PT15S.",
		"PT30S", "PT1M",
	},
	"maxRetryInterval":   {"Maximum backoff, with exponential.", "PT1H", "PT6H"},
	"maxDoublings":       {"Number of times the backoff doubles, with exponential; after that it grows linearly.", "5", "3"},
	"retryPolicy.jitter": {"Maximum random delay added to each backoff.", "none; a tenth of the backoff with exponential", "PT10S"},
	"finalOn": {
		"HTTP statuses that are not retried. Replaces the default: 4xx except 408, 425 and 429.", "", `["4xx", "501"]`,
	},

	"request":        {"The request of an action of type Http or Https.", "", ""},
	"request.uri":    {"The absolute URI of the request, at most 2,048 characters.", "", "https://shop.example.com/close"},
	"request.method": {"The method of the request.", "", "POST"},
	"headers":        {"Headers by name. At most 50, with 4,096 characters in total.", "none", `{"Content-Type": "application/json"}`},
	"headers.*":      {"The value of a header, or a reference to a shared secret. Values of credential-like names are secrets.", "", ""},
	"request.body":   {"The body of the request, at most 8,192 characters.", "empty", "close the shop"},
	"success":        {"Which responses count as a success.", "any 2xx", ""},
	"success.status": {"HTTP statuses that count as a success, such as 200, 2xx or 200-204.", "2xx", `["2xx", "404"]`},
	"bodyContains":   {"Text that the response must contain, at most 1,024 characters.", "none", "done"},
	"redirects":      {"Maximum number of redirects to follow.", "10", "0"},
	"webhook":        {"Signs the request according to Standard Webhooks (https://www.standardwebhooks.com).", "none", ""},
	"webhook.secret": {"The signing key: whsec_ and 24 to 64 bytes in base64.", "", `{"secretRef": "hook"}`},
	"previousSecret": {"The previous key, while receivers rotate.", "none", `{"secretRef": "old-hook"}`},
	"request.authentication": {
		"How the request authenticates. Tokens are cached and renewed.", "none", "",
	},
	"request.authentication.type": {"The authentication scheme.", "", "Basic"},
	"username":                    {"The user name, without a colon.", "", "reports"},
	"authentication.password":     {"The password of the user or of pfx.", "", `{"secretRef": "password"}`},
	"pfx": {
		"A client certificate with its private key: PKCS#12 in base64. The uri must be https.", "", `{"secretRef": "pfx"}`,
	},
	"certificateThumbprint":     {"Read-only: from the client certificate.", "", ""},
	"certificateSubjectName":    {"Read-only: from the client certificate.", "", ""},
	"certificateExpiration":     {"Read-only: expiry of the client certificate.", "", ""},
	"certificateExpirationDate": {"Read-only: expiry of the client certificate.", "", ""},
	"tenant":                    {"The directory (tenant): an ID or a domain name.", "", "contoso.onmicrosoft.com"},
	"audience":                  {"The audience (resource) of the token.", "", "https://management.core.windows.net/"},
	"clientId":                  {"The client ID at the token server.", "", "reports"},
	"authentication.secret":     {"The client secret at the token server.", "", `{"secretRef": "client"}`},
	"tokenUrl": {
		"The token endpoint for the client credentials grant (RFC 6749, section 4.4).", "", "https://login.example.com/token",
	},
	"scope": {"The scope of the token.", "set by the server", "orders.write"},
	"authStyle": {
		"Where the client sends its credentials: in the header (HTTP Basic) or in the body.", "header", "body",
	},

	"queueMessage":           {"The message of an action of type StorageQueue.", "", ""},
	"storageAccount":         {"The storage account, or its queue endpoint.", "", "contosostorage"},
	"queueMessage.queueName": {"The queue: 3 to 63 lower-case letters, digits and single hyphens.", "", "orders"},
	"sasToken":               {"A shared access signature with permission to add messages.", "", `{"secretRef": "queue"}`},
	"message":                {"The text of the message.", "empty", "close"},
	"messageEncoding": {
		"The encoding of the text in the queue: none or base64.", "none; base64 with azureScheduler", "base64",
	},
	"queueMessage.timeToLive": {"How long the queue keeps the message. never or -1: no expiry.", "P7D", "PT1H"},
	"visibilityDelay":         {"How long the message is initially invisible, at most P7D.", "none", "PT30S"},

	"serviceBusQueueMessage":  {"The message of an action of type ServiceBusQueue, sent over AMQP.", "", ""},
	"serviceBusTopicMessage":  {"The message of an action of type ServiceBusTopic, sent over AMQP.", "", ""},
	"namespace":               {"The Service Bus namespace: a name, a host or an endpoint.", "", "contoso"},
	"queueName":               {"The path of the queue.", "", "orders"},
	"topicPath":               {"The path of the topic.", "", "orders"},
	"transportType":           {"Ignored: messages use AMQP. Accepted for compatibility with Azure Scheduler.", "", ""},
	"authentication":          {"The key of a shared access policy with the right to send. Optional in dev.", "", ""},
	"authentication.type":     {"The authentication scheme. Always sharedAccessKey.", "", "sharedAccessKey"},
	"sasKeyName":              {"The name of the shared access policy.", "", "RootManageSharedAccessKey"},
	"sasKey":                  {"The key of the policy.", "", `{"secretRef": "bus-key"}`},
	"customMessageProperties": {"Application properties of the message by name.", "none", `{"kind": "report"}`},
	"customMessageProperties.*": {
		"A string, number or boolean, or a reference to a shared secret. Strings with credential-like names are secrets.", "", "",
	},
	"brokeredMessageProperties": {"System properties of the message.", "none", ""},
	"contentType":               {"The content type of the text.", "set by the envelope", "application/json"},
	"correlationId":             {"The correlation ID of the message.", "none", "order-7"},
	"forcePersistence":          {"Ignored. Accepted for compatibility with Azure Scheduler.", "", ""},
	"label":                     {"The label of the message (subject in AMQP).", "none", "close"},
	"messageId": {
		"The message ID for duplicate detection, at most 128 characters.", "the occurrence ID", "order-7",
	},
	"partitionKey":                      {"Partition key, at most 128 characters. Must equal sessionId if both are set.", "none", "shop"},
	"brokeredMessageProperties.replyTo": {"The reply-to address.", "none", "answers"},
	"replyToSessionId":                  {"The session of replies, at most 128 characters.", "none", "shop"},
	"scheduledEnqueueTimeUtc": {
		"When the message becomes visible: ISO 8601, in UTC unless it has an offset.", "immediately", "2026-12-07T09:00:00Z",
	},
	"sessionId":  {"The session of the message, at most 128 characters.", "none", "shop"},
	"timeToLive": {"How long the message is kept.", "set by the queue or topic", "PT1H"},
	"to":         {"The recipient of the message. Service Bus ignores it.", "none", "warehouse"},
	"viaPartitionKey": {
		"The partition key for a transfer queue, at most 128 characters.", "none", "shop",
	},

	"natsMessage": {"The message of an action of type NatsMessage.", "", ""},
	"natsMessage.mode": {
		"publish: send it; jetstream: a stream stores it; request: wait for a reply, and record it.", "publish", "jetstream",
	},
	"natsMessage.subject": {"The subject, without wildcards.", "", "orders.close"},
	"replyTo":             {"The reply subject, with mode publish.", "none", "orders.answers"},
	"expectStream":        {"The stream that must store the message, with mode jetstream.", "any", "ORDERS"},
	"natsMessage.timeToLive": {
		"How long the stream keeps the message, with mode jetstream. At least PT1S.", "set by the stream", "PT1H",
	},
	"servers": {
		"NATS servers to send the message to: a list of URLs, or one comma-separated string.", "the scheduler's connection",
		`["nats://nats.example.com:4222"]`,
	},
	"credentials":          {"The content of a credentials file, for servers.", "none", `{"secretRef": "nats-creds"}`},
	"token":                {"A token, for servers.", "none", `{"secretRef": "nats-token"}`},
	"user":                 {"A user name, for servers. Requires password.", "none", "reports"},
	"natsMessage.password": {"The user's password.", "none", `{"secretRef": "nats-password"}`},
}

// ofCollections describes the fields of collections by path suffix.
var ofCollections = map[string]Description{
	"collection": {"A group of jobs with shared quotas, defaults, target limits and state.", "", ""},

	"collection.name":       {"The collection's name.", "the name of the file", "partners"},
	"collection.properties": {"The fields of the collection.", "", ""},
	"collection.location":   {"Free text. Azure Scheduler uses it for the region.", "none", "westeurope"},
	"collection.tags":       {"Free text by name.", "none", `{"team": "billing"}`},
	"collection.id":         {"The path of the collection. On Azure paths it includes the subscription and resource group.", "", ""},
	"collection.type":       {"Microsoft.Scheduler/jobCollections. Distinguishes collections from jobs in files.", "", ""},
	"collection.etag":       {"Read-only: changes with every edit of the collection.", "", ""},
	"collection.result":     {"Read-only: created, updated or unchanged.", "", ""},
	"collection.dryRun":     {"Read-only: the result of a dry run.", "", ""},

	"collection.state": {
		"Whether the jobs run. disabled and suspended postpone them without changing any job. You cannot set deleted.",
		"unchanged; enabled for a new collection", "disabled",
	},
	"sku":      {"The plan of the collection, as in Azure Scheduler.", "none", ""},
	"sku.name": {"The plan. It sets the quotas that the collection does not.", "none", "Standard"},
	"defaults": {
		"Settings that jobs inherit unless they set them: errorAction, retryPolicy, timeout, lateAfter and labels.",
		"none",
		`{"labels": {"team": "billing"}, "timeout": "PT2M"}`,
	},
	"minRetryInterval": {
		"Minimum backoff between attempts of the collection's jobs.", "set by the process, usually PT15S", "PT1M",
	},
	"quota": {
		"Limits for the number of jobs and their frequency.", "set by the plan, or no limit", "",
	},
	"maxJobCount":      {"Maximum number of jobs, including completed jobs.", "set by the plan, or no limit", "50"},
	"maxJobOccurrence": {"Ignored, as in Azure Scheduler.", "", ""},
	"maxRecurrence": {
		"The shortest allowed recurrence, as frequency and interval.", "set by the plan, or no limit", "",
	},
	"targets":     {"Limits for calls to targets, by target name.", "no limits", ""},
	"targets.*":   {"The limits of a target: a host, host:port, *.example.com for all subdomains, or * for each other target.", "", ""},
	"concurrency": {"Maximum number of concurrent attempts per process.", "set by the process", "4"},
	"rate":        {"Rate limit: attempts per period, spread evenly.", "no limit", ""},
	"rate.limit":  {"Number of attempts per period.", "", "100"},
	"rate.per":    {"The period.", "PT1S", "PT1M"},
	"circuitBreaker": {
		"Postpones attempts to a failing target: no response, 408, 429 or 5xx.", "never", "",
	},
	"circuitBreaker.failures": {"Number of consecutive failures that open the circuit breaker.", "5", "10"},
	"openFor":                 {"How long the circuit breaker stays open before one attempt probes the target.", "PT30S", "PT1M"},
	"maxPostponement":         {"Maximum postponement of an attempt, which then runs regardless of the limits.", "PT10M", "PT1H"},
}

// ofJobs describes the fields of jobs outside their actions by path suffix.
var ofJobs = map[string]Description{
	"job": {"A job: its schedule, its action, and how it handles failures.", "", ""},

	"job.name": {
		"The name of the job, or collection/name. Required in a file with several jobs.", "the name of the file", "nightly-report",
	},
	"job.collection": {"The collection of the job.", "default", "partners"},
	"job.properties": {"The fields of the job. You can also place them at the top level of the document.", "", ""},
	"job.id":         {"Read-only: the path of the job. Ignored in requests.", "", ""},
	"job.type":       {"Read-only: the resource type. Microsoft.Scheduler/jobCollections makes the document a collection.", "", ""},
	"job.etag":       {"Read-only: changes with every edit of the job.", "", ""},
	"job.result":     {"Read-only: created, updated or unchanged.", "", ""},
	"job.warnings":   {"Read-only: warnings about valid but probably unintended settings.", "", ""},
	"job.dryRun":     {"Read-only: the result of a dry run.", "", ""},
	"job.status":     {"Read-only: the next run and statistics of past runs.", "", ""},

	"job.pausedUntil": {
		"Pauses the job until this time; then it resumes automatically. Runs that fall due during the pause are recorded as skipped; " +
			"a one-time job runs when the pause ends. The state stays enabled. null ends the pause.", "unchanged; none for a new job",
		"2027-01-07T09:00:00+01:00",
	},
	"job.state": {
		"Whether the schedule is active. Manual runs work in either state.", "unchanged; enabled for a new job", "disabled",
	},
	"job.data": {
		"Values for the templates of the job's actions, such as {{.Data.region}}. Not for secrets.", "none", `{"region": "eu"}`,
	},
	"job.input": {
		"JSON Schema of the data that a manual run can pass to the templates. Templates can use the names of its properties.",
		"none: only names that the templates use", `{"properties": {"order": {"type": "integer"}}, "required": ["order"]}`,
	},
	"job.startTime": {
		"Start of the schedule: ISO 8601, in UTC unless it has an offset. A job without recurrence runs once, at this time.",
		"now", "2026-12-07T09:00:00+01:00",
	},
	"job.timeZone": {
		"Time zone of a cron or rrule schedule that does not name one: an IANA name or an offset.", "UTC", "Europe/Berlin",
	},
	"job.dst":     {"How to handle local times that a daylight saving time change skips or repeats.", "set by the schedule language", ""},
	"dst.gap":     {"Skipped local times run at the next valid time, later by the length of the gap, or not at all.", "", "next"},
	"dst.overlap": {"Repeated local times run the first time or both times.", "", "first"},
	"job.recurrence": {
		"How the job recurs: frequency and interval as in Azure Scheduler, or a cron or rrule expression.", "the job runs once", "",
	},
	"frequency": {"The unit of the recurrence. Excludes cron and rrule.", "", "day"},
	"interval":  {"Number of frequency units between occurrences.", "1", "2"},
	"count":     {"Number of runs. The job is completed after them or at endTime, whichever comes first.", "no limit", "10"},
	"endTime":   {"End of the schedule: ISO 8601, in UTC unless it has an offset.", "never", "2027-01-01T00:00:00Z"},
	"cron":      {"A cron expression in the Obsidian or dsari dialect.", "", "15 5,17 * * 1-5"},
	"rrule": {
		"An RFC 5545 recurrence: DTSTART, RRULE, EXRULE, RDATE and EXDATE. awx and dsari do not support RDATE and EXDATE.",
		"", "RRULE:FREQ=DAILY;BYHOUR=9",
	},
	"dialect": {"The dialect of the expression. cron: obsidian or dsari; rrule: rfc5545, awx or dsari.", "obsidian, or rfc5545", "dsari"},
	"anchor": {
		"The base of the interval of a frequency or @recur: the grid from startTime, or the start of the last execution.",
		"grid; lastExecution for @recur", "lastExecution",
	},
	"schedule":  {"Times within the frequency unit, in UTC.", "taken from startTime", ""},
	"minutes":   {"Minutes of the hour, 0 to 59.", "taken from startTime", "[0, 30]"},
	"hours":     {"Hours of the day, 0 to 23.", "taken from startTime", "[9, 17]"},
	"weekDays":  {"Days of the week, with frequency week.", "taken from startTime", `["Monday", "Friday"]`},
	"monthDays": {"Days of the month, with frequency month: 1 to 31, or -1 to -31 from its end.", "taken from startTime", "[1, -1]"},
	"months":    {"Months of the year, 1 to 12, with frequency year.", "taken from startTime", "[1, 7]"},
	"monthlyOccurrences": {
		"Weekdays of the month, such as the last Friday, with frequency month.", "none", `[{"day": "Friday", "occurrence": -1}]`,
	},
	"monthlyOccurrences.day":        {"The day of the week.", "", "Friday"},
	"monthlyOccurrences.occurrence": {"Position in the month: 1 to 5, or -1 to -5 from its end.", "each", "-1"},

	"job.trigger": {
		"Events that start runs, with or instead of the recurrence. Expressions use CEL, over event and job. Empty: only other " +
			"jobs start the job, by onSuccess or onFailure.",
		"none: only the schedule starts the job", `{"on": {"source": "order-placed"}}`,
	},
	"trigger.on": {
		"The events that start a run: one source, subject or job, or a list of at most 16.", "only jobs that name this one",
		`[{"job": "extract"}, {"source": "order-placed"}]`,
	},
	"trigger.on.source": {"The name of an event in the job's collection.", "", "order-placed"},
	"trigger.on.subject": {
		"An event of any collection, as collection.event: the end of its NATS subject carillon.event.<collection>.<event>.", "",
		"sales.order-placed",
	},
	"trigger.on.job": {
		"Another job, whose runs start this one when they end: a name in the same collection, or collection/job.", "", "extract",
	},
	"trigger.on.outcome": {
		"Which ends of the other job's runs count: failed is an attempt that is retried, faulted a run after all retries, any both " +
			"completed and faulted. recovered is a completed run after a faulted one.", "completed", "faulted",
	},
	"trigger.on.filter": {"A CEL expression that selects events. At most 4,096 bytes.", "all events", "event.data.total > 100"},
	"trigger.on.key": {
		"A CEL expression for the subject of an event, such as an order ID; at most 256 bytes. Events with the same key share a " +
			"waiting run.", "one key for all events", "event.data.id",
	},
	"trigger.delay": {
		"Time from an event to its run, or a CEL expression: the time of the run, or a duration.", "none",
		"timestamp(event.data.due) - duration('24h')",
	},
	"debounce":        {"Starts one run per key when its events have stopped.", "every event starts a run", `{"period": "PT30S"}`},
	"debounce.period": {"Time without an event of the key after which the run starts.", "", "PT30S"},
	"debounce.max":    {"Maximum time from the first event to the run.", "10 periods", "PT5M"},
	"batch":           {"Starts one run for several events of a key.", "every event starts a run", `{"size": 100, "wait": "PT1M"}`},
	"batch.size":      {"Number of events that start the run.", "", "100"},
	"batch.wait":      {"Maximum time from the first event to the run.", "", "PT1M"},
	"require":         {"Whether an event of any listener starts a run, or one of each of them together.", "any", "all"},
	"within":          {"With require all: maximum time from the first event of a key to the last.", "", "PT1H"},
	"otherwise": {
		"With require all: whether the run is skipped or starts with the events that have come, if others are missing.", "skip", "run",
	},
	"once": {"Starts one run per key; its further events in this period have no effect.", "every event starts a run", "P1D"},
	"rateLimit": {
		"Limits the runs per key. Further events start none, which is recorded.", "no limit", `{"runs": 10, "period": "PT1H"}`,
	},
	"rateLimit.runs":   {"Maximum number of runs in a period.", "", "10"},
	"rateLimit.period": {"The period, from the first run on.", "", "PT1H"},
	"throttle": {
		"Limits the runs per key. Further events start theirs in later periods.", "no limit", `{"runs": 10, "period": "PT1H"}`,
	},
	"throttle.runs":   {"Maximum number of runs in a period.", "", "10"},
	"throttle.period": {"The period, from the first run on.", "", "PT1H"},
	"trigger.overlap": {
		"Policy for a run while as many runs of its key as concurrency are in progress: it starts, waits for its turn (at most " +
			"1,000 runs wait), is skipped, or cancels the earliest one. The schedule has its own overlap.", "allow", "queue",
	},
	"trigger.concurrency": {"Maximum number of runs of a key at the same time. Implies overlap queue.", "1, if overlap limits runs", "2"},
	"priority": {
		"Order of the runs that wait for a slot of the same target, highest first. It has no effect on running ones.", "0", "10",
	},
	"unless": {
		"A CEL expression. If it is true for an event, the waiting run of its key is canceled.", "never", "event.data.paid",
	},
	"maxDepth": {
		"Allows the job in a cycle of jobs, and ends a chain after this number of jobs; without it, after 100.", "no cycle", "5",
	},

	"job.onSuccess": {
		"Jobs to start when a run has completed: at most 16, each a name in the same collection, or collection/job. The same as " +
			"on: {job} in the trigger of each.", "none", `["load", "sales/report"]`,
	},
	"job.onFailure": {
		"Jobs to start when a run has failed after all retries and its error actions have ended. The same as on: {job, outcome: " +
			"faulted} in the trigger of each.", "none", `["alert"]`,
	},

	"trigger.count": {
		"Number of runs that events start. Further events start none, and a job without a recurrence is completed.", "no limit", "10",
	},
	"trigger.endTime": {
		"End of the trigger: later events start no run, and a job without a recurrence is completed.", "never", "2027-01-01T00:00:00Z",
	},

	"job.onlyIf": {
		"A condition of planned runs: another job has ended recently. It is checked when a run is due.", "none",
		`{"job": "extract", "since": "PT24H"}`,
	},
	"onlyIf.job":     {"The other job: a name in the same collection, or collection/job.", "", "extract"},
	"onlyIf.outcome": {"Which ends of the other job count; failed is an attempt, faulted a run after all retries.", "completed", "any"},
	"onlyIf.since":   {"How long ago the other job may have ended.", "", "PT24H"},
	"onlyIf.waitUpTo": {
		"How long a run waits for the other job, at most until the next run is due. After that, it is skipped.", "it does not wait",
		"PT2H",
	},

	"job.jitter":  {"Delays each occurrence by a fixed pseudorandom part of this duration.", "none", "PT5M"},
	"job.timeout": {"Maximum duration of an attempt.", "PT60S", "PT2M"},
	"job.lateAfter": {
		"Start delay above which an occurrence counts as late in the history and metrics.",
		"none", "PT1M",
	},
	"job.overlap": {
		"Whether an occurrence that falls due during the previous run is skipped, runs concurrently, or runs after it (queue).", "skip",
		"queue",
	},
	"job.catchUp":    {"Misfire policy: which missed occurrences run after downtime.", "once, within the last hour", ""},
	"catchUp.policy": {"Runs the last missed occurrence, all of them, or none.", "once", "all"},
	"catchUp.window": {
		"Maximum delay of a missed occurrence.", "PT1H; unlimited for a one-time job", "PT15M",
	},
	"job.labels":      {"Labels by name, for selecting jobs.", "none", `{"team": "billing"}`},
	"job.description": {"A description, at most 1,024 bytes.", "", "Sends the report of the day before."},
}
