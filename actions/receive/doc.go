// Package receive runs the sources of a scheduler: it receives the messages of brokers, and stores them as events.
//
//	bucket of sources ─▶ Manager ─▶ Receiver of the type ─▶ Feed ─▶ stream of events
//	                                   ▲ settles the message ◀─ stored, or refused
//
// Every process runs every enabled source. The processes compete for the messages, as consumers of one queue group,
// consumer or queue, so that no leader is needed. The receivers are in the packages of the actions, whose connections,
// guards and settings they use.
//
// # Guarantees
//
//  1. A message leaves its broker only after the store has acknowledged its event. While the store is unavailable, the
//     receiver keeps the lock of the message. The exception is a core NATS subject, which keeps no messages.
//  2. A message that is delivered again within two minutes is stored once: the event carries the message's identity at
//     its broker in Nats-Msg-Id. The identity includes the topic, so that two sources can receive the same message.
//  3. A message that can never be an event does not block its source. The receiver moves it to the dead-letter queue of
//     the broker, or terminates it, and reports the reason.
//  4. A receiver that fails starts again after a pause of 1 s to 1 min. A changed source starts again immediately; a
//     disabled or deleted one stops, and so do all with the process. A receiver that stops releases its messages.
//  5. Headers that instruct a NATS server (Nats-…) or the scheduler (Carillon-…) do not pass.
//
// Not guaranteed: exactly-once delivery. A message whose acknowledgement was lost, and that its broker delivers again
// after more than two minutes, is stored twice. Order: only messages of a Service Bus session are stored in order.
//
// # Messages
//
// The body becomes the data of the event, and the headers become attributes, in lower case:
//
//	source         attributes                                      identity                    a message that cannot be an event
//	nats subject   headers, subject                                Nats-Msg-Id                 is dropped
//	nats stream    headers, subject                                stream, sequence and time   is terminated
//	serviceBus…    application properties, cloudEvents:… without   messageId and sequence      moves to $DeadLetterQueue with
//	               prefix, messageid, correlationid, sessionid,    number                      the reason CarillonRefused
//	               subject, content-type, content-encoding, …
//	storageQueue   messageid, insertiontime, dequeuecount          message ID                  moves to the queue <name>-poison
//
// Sources of NATS use the scheduler's own connection, whose user needs permission to subscribe to the subject; for a
// stream, the permission for the API of JetStream suffices. Subjects of the scheduler are refused, and so are those that
// its settings do not let sources receive.
//
// The body of a storage queue's message is decoded if it is base64 of JSON or of printable text.
package receive
