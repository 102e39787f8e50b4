// Package servicebus runs the actions of type ServiceBusQueue and
// ServiceBusTopic: one AMQP 1.0 message to an Azure Service Bus queue or topic
// for each attempt, through the official SDK, and a verdict on the answer.
//
// # The message
//
// The body is the job's message as UTF-8 text, the system properties are those
// of brokeredMessageProperties, and the application properties those of
// customMessageProperties (Azure Scheduler REST API 2016-03-01,
// ServiceBusMessage). The scheduler adds, where the job gives nothing itself:
//
//	message-id            the attempt's idempotency key, the same for every try of one action in one occurrence
//	content-type          that of the envelope, if there is one
//	cloudEvents:<name>    the attributes of a CloudEvent in binary mode, as application properties
//	traceparent, Diagnostic-Id, tracestate   W3C trace context, as application properties of an attempt that is traced
//	x-carillon-failed-…   what failed, as application properties of an errorAction's message
//
// Strings in customMessageProperties that are named like credentials
// ([document.IsCredential]) are secrets: written and never shown. Any value there
// may be {"secretRef": "name"}, a shared secret that is looked up for each
// attempt.
//
// What the job gives is sent as given. A key that is longer than the 128
// characters that Service Bus allows is shortened and ends in its SHA-256. An
// empty string in brokeredMessageProperties counts as not given.
// forcePersistence is accepted and has no effect: AMQP has no such property.
// transportType may have each of Azure Scheduler's values; AMQP is spoken
// whatever it says.
//
// # What is guaranteed
//
//  1. An attempt is completed, with status 202, when the service has
//     acknowledged the message. Other statuses are HTTP's nearest to what the
//     service said.
//  2. Every try of one action in one occurrence has the same message-id. A
//     queue or topic with duplicate detection therefore keeps one message of an
//     occurrence, however often it was tried, within its history window; a
//     job that gives a messageId of its own gives up on that, and a recurring
//     one would have its later occurrences dropped.
//  3. An attempt is one try. Repeating is the retry policy's task, and every
//     try is recorded, so the SDK's retries are off. One thing is mended on the
//     spot: a link that the service has closed is opened again, once, and the
//     message sent over the new one.
//  4. An attempt ends with its context, also when the SDK or the service does
//     not answer. What it leaves behind in the SDK ends within a minute, with
//     the connection if need be.
//  5. Jobs share connections: one for each endpoint and key, with one link for
//     each queue or topic. Another key has another connection, so a wrong key
//     disturbs no job with the right one, and a changed key is used from the
//     next attempt on. A connection that breaks is dropped, and the next
//     attempt dials anew.
//  6. A key is in no message, error or result.
//
// Not guaranteed: that a message arrives only once without duplicate
// detection. A message whose acknowledgement was lost is sent again.
//
// # Which failures are final
//
// A queue or topic that does not exist, a key that is refused, a message that
// is too large, one that the service calls wrong, and a namespace at addresses
// that jobs must not reach (see package egress) stay so: a retry cannot help. A
// service that is busy, a lost connection, a timeout, a full and a
// disabled queue can be otherwise at the next try.
//
// # Limits
//
// The target of an action, which rules of collections name, is
// <namespace>.servicebus.windows.net of a namespace that is given by its name or
// by Azure's host name, also when the scheduler's configuration maps it
// elsewhere (other clouds keep their own ending); and host:port of one that is
// given by another endpoint. A namespace's circuit does not count attempts that
// have not reached for it, because of a secret, a template, a refused address or
// links that were all in use; nor answers about one queue, topic or message: one
// that is not found, deleted, disabled, locked or full, or a message too large.
package servicebus
