// Package broker holds the entities of the Service Bus emulator and their
// messages: queues, topics, subscriptions and what happens in them. It knows
// nothing of connections and links.
//
// A protocol asks a [Broker] for a [Target] to send to or a [Source] to receive
// from, keeps it as long as the link lives, and makes a [Receiver] for each link
// on which messages go out.
//
// # What is guaranteed
//
//  1. No message is lost. A message that was accepted is in its entity until it
//     was settled, has expired, or was deleted with its entity. With a journal
//     this holds over any end of the process: what a [Receipt] has confirmed was
//     written before.
//  2. A message is with one receiver at a time. Its lock ends with a settlement
//     or with its time; after that its token settles nothing.
//  3. Order is that of sequence numbers. A message that comes back takes its old
//     place. Within a session no message overtakes another.
//  4. Sends and settlements of one call, or of one transaction, happen together
//     or not at all.
//  5. Receivers with credit take turns. One that does not fetch what it was
//     given holds at most [mailboxSize] messages, until their locks end.
//  6. Nothing runs for a message that waits. One goroutine serves all locks,
//     expiries, schedules and idle entities, and sleeps until the first is due.
//
// Package index finds messages, by number, turn and time; package wal keeps the
// journal; the faults of package fault are here for the protocol, which asks for
// them before every operation.
//
// Bodies and properties are never decoded and written again; the exceptions are
// what Service Bus itself adds: an id for a message without one, the reason of
// a dead letter, and properties that a receiver or a rule changes.
//
// # Locking
//
// Every entity has a mutex. Whoever needs several takes them in the order of
// entity ids; that of the broker, which guards what entities there are, comes
// before them, and those of the journal and the timetable come last. The wake
// function of a [Receiver] is called with an entity's mutex held: it must not
// block, and must not call the broker. So messages that go on to another entity
// wait until the first one's mutex is free, and count as in transfer meanwhile.
package broker
