// Package servicebus runs the actions of type ServiceBusQueue and ServiceBusTopic: one AMQP 1.0 message per attempt to an
// Azure Service Bus queue or topic, through the official SDK, and a verdict on the response.
//
// # Message
//
// The body is the job's message as UTF-8 text. brokeredMessageProperties contains the system properties, and
// customMessageProperties the application properties (Azure Scheduler REST API 2016-03-01, ServiceBusMessage). The
// scheduler adds, unless the job sets them:
//
//	message-id            the attempt's idempotency key, the same for every attempt of one action in one occurrence
//	content-type          of the envelope, if any
//	cloudEvents:<name>    the attributes of a CloudEvent in binary mode, as application properties
//	traceparent, Diagnostic-Id, tracestate   W3C trace context, as application properties of a traced attempt
//	x-carillon-failed-…   the failure, as application properties of an errorAction's message
//
// Strings in customMessageProperties that are named like credentials ([document.IsCredential]) are write-only secrets.
// Any value there can be {"secretRef": "name"}, a shared secret that is looked up for each attempt.
//
// The job's values are sent unchanged. A key longer than the 128 characters that Service Bus allows is shortened and ends
// in its SHA-256. An empty string in brokeredMessageProperties counts as missing. forcePersistence is accepted without
// effect: AMQP has no such property. transportType can have each of Azure Scheduler's values; the protocol is always AMQP.
//
// # Guarantees
//
//  1. An attempt is completed, with status 202, once the service has acknowledged the message. Other statuses are the
//     HTTP equivalents of the service's error.
//  2. Every attempt of one action in one occurrence has the same message-id. A queue or topic with duplicate detection
//     therefore keeps one message per occurrence within its history window. A job with its own messageId loses that, and
//     a recurring one would have its later occurrences dropped.
//  3. The SDK's retries are off: retries belong to the retry policy, which records every attempt. One exception: a link
//     that the service has closed is reopened once, and the message sent over the new link.
//  4. An attempt ends with its context, even if the SDK or the service does not respond. Its remains in the SDK end within
//     a minute, if necessary with the connection.
//  5. Jobs share one connection per endpoint and key, with one link per queue or topic. Because each key has a separate
//     connection, a wrong key does not affect jobs with the right one, and a changed key is used from the next attempt.
//     A broken connection is dropped, and the next attempt dials again.
//  6. A key appears in no message, error or result.
//
// Not guaranteed: exactly-once delivery without duplicate detection. A message whose acknowledgement was lost is sent
// again.
//
// # Failures
//
// Final: a missing queue or topic, a refused key, a message that is too large or invalid, and a namespace at an address
// that jobs must not reach (see package egress). Transient: a busy service, a lost connection, a timeout, a full or
// disabled queue.
//
// # Circuit breaker
//
// The target of an action, which collection rules name, is <namespace>.servicebus.windows.net for a namespace given by its
// name or Azure's host name, even if the scheduler's configuration maps it elsewhere (other clouds keep their suffix), and
// host:port for another endpoint. Attempts that did not reach the namespace (because of a secret, a template, a refused
// address, or because all links were in use) do not count for its circuit breaker. Responses about a single queue,
// topic or message do not count either: not found, deleted, disabled, locked, full, or too large.
package servicebus
