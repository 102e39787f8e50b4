// Package broker implements the entities of the Service Bus emulator: queues, topics, subscriptions and their messages.
// It does not know connections or links.
//
// A protocol asks a [Broker] for a [Target] to send to or a [Source] to receive from, keeps it for the lifetime of the
// link, and creates a [Receiver] for each link that receives messages.
//
// # Guarantees
//
//  1. No message is lost. A message that was accepted is in its entity until it
//     was settled, has expired, or was deleted with its entity. With a journal
//     this holds over any end of the process: what a [Receipt] has confirmed was
//     written before.
//  2. A message is with one receiver at a time. Its lock ends with a settlement
//     or with its time; after that its token settles nothing.
//  3. Messages are ordered by sequence number. A returned message keeps its
//     number. Within a session no message overtakes another.
//  4. Sends and settlements of one call, or of one transaction, take effect
//     together or not at all.
//  5. Receivers with credit take turns. A receiver that does not fetch its
//     messages holds at most [mailboxSize] of them, until their locks end.
//  6. Waiting messages cost no processor time. One goroutine serves all locks,
//     expiries, schedules and idle entities, and sleeps until the first is due.
//
// Package index finds messages, by number, turn and time; package wal keeps the
// journal; package fault has the faults that the protocol checks before every
// operation.
//
// The broker never decodes and encodes bodies and properties again, except for
// the additions of Service Bus itself: an id for a message without one, the
// reason of a dead letter, and properties that a receiver or a rule changes.
//
// # Locking
//
// Every entity has a mutex. An operation on several entities locks them in the
// order of their ids. The mutex of the broker, which guards the set of entities,
// comes before them; the mutexes of the journal and the timetable come last. The
// wake function of a [Receiver] is called with an entity's mutex held: it must
// not block, and must not call the broker. Messages that are forwarded to
// another entity therefore wait until the first one's mutex is free, and count
// as in transfer meanwhile.
package broker
