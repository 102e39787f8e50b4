// Package browse shows the entities, messages, dead letters and rules of a Service Bus emulator to people, and lets
// them change these.
//
// # Guarantees
//
//  1. Looking changes nothing that receivers see: nothing is locked, no delivery is counted, and no entity is made or kept from
//     deleting itself.
//  2. A message that a receiver holds is not deleted, purged or resubmitted.
//  3. A dead letter is resubmitted in one step: it is in one place at any time, and in one after any end of the process.
//  4. Messages share their bytes with the emulator: to look at one of 100 MB needs no memory.
package browse

import (
	"errors"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A Namespace contains the entities of an emulator. It is safe for concurrent use.
type Namespace struct{ broker *broker.Broker }

// New returns the namespace of an emulator, whose [servicebus.Server.Broker] b is.
//
// [servicebus.Server.Broker]: https://pkg.go.dev/github.com/carillon-sched/carillon/integration/emulator/servicebus#Server.Broker
func New(b *broker.Broker) *Namespace { return &Namespace{b} }

// The kinds of entities.
const (
	Queue        = "queue"
	Topic        = "topic"
	Subscription = "subscription"
)

var kinds = [...]string{broker.QueueKind: Queue, broker.TopicKind: Topic, broker.SubscriptionKind: Subscription}

// An Entity is a queue, a topic or a subscription.
type Entity struct { //nolint:recvcheck // templates have copies
	// Options differ from those stored: ForwardTo has names instead of addresses, DuplicateWindow is 0 without duplicate detection,
	// and MaxMessageSize is the effective limit.
	Options
	broker.Usage

	Path          string // "orders", "events/Subscriptions/all"
	Name          string
	Topic         string // of a subscription
	Kind          string
	Undecided     bool // a queue that sending created: a first subscription makes it a topic
	Subscriptions int
}

// Label is the kind for display, "undecided" for a queue that may be a topic.
func (e Entity) Label() string {
	if e.Undecided {
		return "undecided"
	}
	return e.Kind
}

// Options are the settings of an entity.
type Options = broker.Options

// A Status limits the operations on an entity.
type Status = broker.Status

// Entities are all, by kind and name: queues, then topics, each with its subscriptions behind it.
func (n *Namespace) Entities() []Entity {
	all := n.broker.Entities()
	shown := make([]Entity, len(all))
	for i, info := range all {
		shown[i] = n.entity(info)
	}
	return shown
}

// Entity returns the entity at a path. Its errors are described by [IsMissing].
func (n *Namespace) Entity(path string) (Entity, error) {
	info, err := n.broker.Entity(path)
	if err != nil {
		return Entity{}, err
	}
	return n.entity(info), nil
}

func (n *Namespace) entity(info broker.Info) Entity {
	e := Entity{
		Path: info.Path, Name: info.Name, Topic: info.Topic, Kind: kinds[info.Kind], Options: info.Options, Usage: info.Usage,
		Subscriptions: info.Subscriptions, Undecided: info.Undecided,
	}
	e.ForwardTo, e.ForwardDeadLettersTo = broker.TargetName(e.ForwardTo), broker.TargetName(e.ForwardDeadLettersTo)
	if !e.DuplicateDetection {
		e.DuplicateWindow = 0
	}
	if e.MaxMessageSize == 0 && info.Kind != broker.SubscriptionKind {
		e.MaxMessageSize = n.broker.MaxMessageSize()
	}
	return e
}

// IsMissing reports whether an error means that the entity or message does not exist.
func IsMissing(err error) bool {
	c := broker.Condition(err)
	return c == broker.NotFound || c == broker.MessageNotFound || c == broker.RuleNotFound
}

// IsHeld reports whether an error means that a receiver holds the message.
func IsHeld(err error) bool { return broker.Condition(err) == broker.MessageLockLost }

// Reason returns the text of an error for people; "" unless the emulator refused the operation.
func Reason(err error) string {
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		return e.Description
	}
	return ""
}

// A Part is one of the lists that an entity has of its messages.
type Part string

// The parts.
const (
	Active    Part = "active"
	Scheduled Part = "scheduled"
	Deferred  Part = "deferred"
	Dead      Part = "dead"
	Transfer  Part = "transfer" // dead letters that could not be forwarded
)

// anyStage is each of them.
const anyStage = broker.Waiting | broker.Held | broker.Deferred | broker.Scheduled

// inspector returns where the messages of a part are, and in which stages.
func (n *Namespace) inspector(path string, part Part) (*broker.Inspector, broker.Stage, error) {
	stages := anyStage
	switch part {
	case Active:
		stages = broker.Waiting | broker.Held
	case Scheduled:
		stages = broker.Scheduled
	case Deferred:
		stages = broker.Deferred
	case Dead:
		path += "/$DeadLetterQueue"
	case Transfer:
		path += "/$Transfer/$DeadLetterQueue"
	}
	w, err := n.broker.Inspect(path)
	return w, stages, err
}

// Delete deletes one message. A receiver may have it: [IsHeld].
func (n *Namespace) Delete(path string, part Part, sequence int64) error {
	w, _, err := n.inspector(path, part)
	if err != nil {
		return err
	}
	return broker.Written(w.Remove(sequence))
}

// DeadLetter makes a dead letter of a message, with a reason and a description of it. A receiver may have it: [IsHeld].
func (n *Namespace) DeadLetter(path string, sequence int64, reason, description string) error {
	w, _, err := n.inspector(path, Active)
	if err != nil {
		return err
	}
	return broker.Written(w.DeadLetter(sequence, reason, description))
}

// Send sends a message to a queue or topic.
func (n *Namespace) Send(path string, d Draft) error {
	w, err := n.broker.Inspect(path)
	if err != nil {
		return err
	}
	raw, err := d.encode(plainHeader, nil)
	if err != nil {
		return err
	}
	m, err := amqp.ParseMessage(raw)
	if err != nil {
		return err
	}
	return broker.Written(w.Send(m))
}

// Waiting is the number of messages that wait for a receiver or are locked by one.
func (e Entity) Waiting() int64 { return e.Active + e.Transfer - e.Deferred }

// Buried is the number of dead letters.
func (e Entity) Buried() int64 { return e.DeadLetter + e.TransferDeadLetter }

// Grave is where they are.
func (e Entity) Grave() Part {
	if e.DeadLetter == 0 && e.TransferDeadLetter > 0 {
		return Transfer
	}
	return Dead
}

// A Session is one of an entity, as it was at a moment.
type Session = broker.SessionSnapshot

// Sessions returns up to most sessions of a queue or subscription whose ids contain a text, in any case, by id; more is
// the number of the remaining ones.
func (n *Namespace) Sessions(path, text string, most int) (found []Session, more int, err error) {
	w, err := n.broker.Inspect(path)
	if err != nil {
		return nil, 0, err
	}
	return w.Sessions(text, most)
}
