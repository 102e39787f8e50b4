// Package storagequeue runs the actions of type StorageQueue: each attempt puts one message into a queue of Azure Queue
// Storage, or of an emulator.
//
// # Definition
//
// The field queueMessage of the action has Azure Scheduler's fields (its REST API 2016-03-01, StorageQueueMessage):
//
//	storageAccount   the account's name, in any letter case, or its endpoint: http(s)://host[:port][/account]
//	queueName        3 to 63 lower-case letters, digits and single dashes
//	sasToken         a shared access signature that permits adding messages; with or without its ?
//	message          the text
//
// and Carillon's additions: those of package payload (template, envelope none, cloudevents or azureScheduler) and
//
//	timeToLive       1 s to 68 years in ISO 8601, or never (also -1): when the message expires. Default: 7 days
//	visibilityDelay  0 to 7 days, less than timeToLive: how long the message is initially hidden. Default: 0
//	messageEncoding  none or base64, of UTF-8. Default: base64 in the envelope azureScheduler, else none
//
// Both times are whole seconds; a month counts as 30.44 days. Azure Scheduler and Azure Functions encode in base64,
// current SDKs do not, so configure consumers accordingly (Azure Functions: messageEncoding of the queue trigger in
// host.json).
//
// # Guarantees
//
//  1. An attempt sends at most one POST, through the Azure SDK without its retries: retries belong to the retry policy,
//     which records every attempt. Redirects are not followed, so that the signature stays with the account.
//  2. An attempt is completed once the service has answered 201: the message is then in the queue.
//  3. A message longer than 64 KiB after encoding, or with characters that XML 1.0 cannot carry unencoded, is not sent. A
//     job with such a text is refused; an attempt whose template or envelope produces one fails permanently.
//  4. An attempt ends with its context, and leaves behind only an idle connection for the next attempt. At most 64 KiB of
//     a response are read.
//  5. No secret is recorded: neither the token and its signature nor the message's pop receipt. Therefore the response to
//     a successful attempt is not recorded verbatim.
//
// Not guaranteed: exactly-once delivery. Queues have no message identity and no duplicate detection. After a lost response
// (a timeout, a broken connection, OperationTimedOut) the message may be in the queue, and the retry adds it again.
// Consumers that need deduplication can use the occurrence, which is the id in the envelope cloudevents and the
// ExecutionTag in azureScheduler. They need it in any case, because the service delivers at least once.
//
// # Failures
//
// The recorded status is the service's. A refusal is final by [scheduler.FinalStatus], such as 404 QueueNotFound, 403
// AuthenticationFailed and 413, except for 409: QueueBeingDeleted, QueueDisabled and AccountBeingCreated are transient. A
// missing response has status 0 and is retried, unless jobs must not reach the address. Retry-After and
// x-ms-retry-after-ms are passed on.
//
// A job with an expired sasToken is refused. A stored job whose token expires later stays readable and patchable.
//
// # Circuit breaker
//
// The target of an action, which collection rules name, is <account>.queue.core.windows.net for an account given by its
// name or Azure's endpoint, even if the scheduler's configuration maps it elsewhere; for another endpoint it is
// host[:port]/account as written. Attempts that sent nothing (because of a secret, a template or a refused address) and
// those answered with 501 or 507 do not count for its circuit breaker.
package storagequeue
