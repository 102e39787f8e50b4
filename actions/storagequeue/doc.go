// Package storagequeue runs the actions of type StorageQueue: each attempt puts one message into a queue of Azure Queue
// Storage, or of an emulator of it.
//
// # The job's part
//
// The member queueMessage of the action has Azure Scheduler's members (its REST API 2016-03-01, StorageQueueMessage):
//
//	storageAccount   the account's name, in any letter case, or its endpoint: http(s)://host[:port][/account]
//	queueName        3 to 63 lower-case letters, digits and single dashes
//	sasToken         a shared access signature that permits adding messages; with or without its ?
//	message          the text
//
// and, as additions of Carillon, those of package payload (template, envelope none, cloudevents or azureScheduler) and
//
//	timeToLive       1 s to 68 years in ISO 8601, or never (also -1): when the message expires. Default: 7 days
//	visibilityDelay  0 to 7 days, less than timeToLive: how long the message stays hidden at first. Default: 0
//	messageEncoding  none or base64, which is of UTF-8. Default: base64 in the envelope azureScheduler, else none
//
// Both times are whole seconds; a month counts as 30.44 days. Azure Scheduler and Azure Functions encode in base64, the
// SDKs of today do not, so consumers have to be told which of the two they get (Azure Functions: messageEncoding of the
// queue trigger in host.json).
//
// # What is guaranteed
//
//  1. An attempt sends at most one POST, by the Azure SDK without its retries: repeating is the retry policy's task, and
//     every try is recorded. Redirects are not followed, so that the signature stays with the account.
//  2. An attempt is completed when the service has answered 201, because then the message is in the queue.
//  3. What is longer than 64 KiB after its encoding, and what XML 1.0 cannot carry unencoded, is not sent: a job that
//     gives it plainly is refused, and an attempt that makes it of a template or an envelope fails at once and for good.
//  4. An attempt ends with its context, and leaves nothing behind but an idle connection that is kept for the next attempt.
//     Of an answer, the first 64 KiB are read.
//  5. No secret is recorded: neither the token nor its signature, nor the pop receipt of the message, which is why the
//     answer to a successful attempt is not recorded as it came.
//
// Not guaranteed: that a message comes once. Queues know no identity of messages and no duplicate detection. When an
// answer is lost (a timeout, a broken connection, OperationTimedOut), the message may be in the queue, and the retry puts
// it there again. Consumers that cannot bear that look at the occurrence, which is the id of the envelope cloudevents, and in
// the envelope azureScheduler the ExecutionTag. They have to in any case, as the service delivers at least once.
//
// # Failures
//
// The recorded status is the service's. A refusal is final as [scheduler.FinalStatus] says, such as 404 QueueNotFound,
// 403 AuthenticationFailed and 413, but 409 is not: QueueBeingDeleted, QueueDisabled and AccountBeingCreated pass. No answer
// has status 0 and is retried, unless jobs must not reach the address. Retry-After and x-ms-retry-after-ms are handed on.
//
// # Limits
//
// The target of an action, which rules of collections name, is <account>.queue.core.windows.net of an account that is given
// by its name or by Azure's endpoint, also when the scheduler's configuration maps it elsewhere; and host[:port]/account, as
// it stands there, of one that is given by another endpoint. Attempts that have sent nothing, because of a secret, a template or a refused
// address, and those answered with 501 or 507, say nothing about the account and do not count for its circuit.
//
// A sasToken that a job gives is refused when it has expired, as it is of no use from the beginning. A job whose token
// expires later stays as it is, can be read, and can be patched.
package storagequeue
