// Package browse shows people what an emulator of Service Bus has, and lets them change it: entities, messages, dead letters
// and rules.
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
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A Namespace has the entities of an emulator. It may be used by many goroutines at once.
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

// An Entity is a queue, a topic or a subscription.
type Entity struct { //nolint:recvcheck // templates have copies
	Path   string // "orders", "events/Subscriptions/all"
	Name   string
	Topic  string // of a subscription
	Kind   string
	Status string

	Active             int64 // with those that are deferred
	Deferred           int64
	Scheduled          int64
	DeadLetter         int64
	Transfer           int64 // on their way to another entity
	TransferDeadLetter int64
	Size               int64 // bytes of all messages
	Receivers          int
	Subscriptions      int

	Created, Updated time.Time
	Accessed         time.Time // zero: not since the emulator runs

	LockDuration           time.Duration
	DefaultTTL             time.Duration // 0: for ever
	MaxDeliveryCount       int
	RequiresSession        bool
	DeadLetterOnExpiration bool
	DropOnFilterError      bool
	DuplicateWindow        time.Duration // 0: duplicates are not looked for
	ForwardTo              string
	ForwardDeadLettersTo   string
	AutoDeleteOnIdle       time.Duration // 0: never
	MaxSize                int64         // 0: no limit
	MaxMessageSize         int64
	UserMetadata           string
}

// Entities are all, by kind and name: queues, then topics, each with its subscriptions behind it.
func (n *Namespace) Entities() []Entity {
	var all []Entity
	for _, info := range n.broker.Queues() {
		all = append(all, n.queue(info))
	}
	for _, info := range n.broker.Topics() {
		all = append(all, n.topic(info))
		subscriptions, err := n.broker.Subscriptions(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		for _, s := range subscriptions {
			all = append(all, subscription(s))
		}
	}
	return all
}

// Entity returns one, by its path. It fails as [IsMissing] tells.
func (n *Namespace) Entity(path string) (Entity, error) {
	if topic, name, ok := broker.CutSubscription(path); ok {
		info, err := n.broker.Subscription(topic, name)
		if err != nil {
			return Entity{}, err
		}
		return subscription(info), nil
	}
	if info, err := n.broker.Queue(path); err == nil {
		return n.queue(info), nil
	}
	info, err := n.broker.Topic(path)
	if err != nil {
		return Entity{}, err
	}
	return n.topic(info), nil
}

func (n *Namespace) queue(info broker.QueueInfo) Entity {
	o := info.Options
	e := Entity{
		Path: info.Name, Name: info.Name, Kind: Queue, LockDuration: o.LockDuration, DefaultTTL: o.DefaultTTL,
		MaxDeliveryCount: o.MaxDeliveryCount, RequiresSession: o.RequiresSession, DeadLetterOnExpiration: o.DeadLetterOnExpiration,
		ForwardTo: broker.TargetName(o.ForwardTo), ForwardDeadLettersTo: broker.TargetName(o.ForwardDeadLettersTo),
		AutoDeleteOnIdle: o.AutoDeleteOnIdle, MaxSize: o.MaxSize, UserMetadata: o.UserMetadata,
	}
	if o.DuplicateDetection {
		e.DuplicateWindow = o.DuplicateWindow
	}
	e.MaxMessageSize = n.limit(o.MaxMessageSize)
	e.use(o.Status, info.Usage)
	return e
}

func (n *Namespace) topic(info broker.TopicInfo) Entity {
	o := info.Options
	e := Entity{
		Path: info.Name, Name: info.Name, Kind: Topic, Subscriptions: info.Subscriptions, DefaultTTL: o.DefaultTTL,
		AutoDeleteOnIdle: o.AutoDeleteOnIdle, MaxSize: o.MaxSize, UserMetadata: o.UserMetadata,
	}
	if o.DuplicateDetection {
		e.DuplicateWindow = o.DuplicateWindow
	}
	e.MaxMessageSize = n.limit(o.MaxMessageSize)
	e.use(o.Status, info.Usage)
	return e
}

// limit is how large a message may be in an entity that says so, or does not.
func (n *Namespace) limit(own int64) int64 {
	if own > 0 {
		return own
	}
	return n.broker.MaxMessageSize()
}

func subscription(info broker.SubscriptionInfo) Entity {
	o := info.Options
	e := Entity{
		Path: info.Topic + "/Subscriptions/" + info.Name, Name: info.Name, Topic: info.Topic, Kind: Subscription,
		LockDuration: o.LockDuration, DefaultTTL: o.DefaultTTL, MaxDeliveryCount: o.MaxDeliveryCount, RequiresSession: o.RequiresSession,
		DeadLetterOnExpiration: o.DeadLetterOnExpiration, DropOnFilterError: o.DropOnFilterError,
		ForwardTo: broker.TargetName(o.ForwardTo), ForwardDeadLettersTo: broker.TargetName(o.ForwardDeadLettersTo),
		AutoDeleteOnIdle: o.AutoDeleteOnIdle, UserMetadata: o.UserMetadata,
	}
	e.use(o.Status, info.Usage)
	return e
}

// use adds what the entity holds.
func (e *Entity) use(status broker.Status, u broker.Usage) {
	if status == "" {
		status = broker.Active
	}
	e.Status = string(status)
	e.Active, e.Deferred, e.Scheduled, e.DeadLetter = u.Counts.Active, u.Deferred, u.Counts.Scheduled, u.Counts.DeadLetter
	e.Transfer, e.TransferDeadLetter = u.Counts.Transfer, u.Counts.TransferDeadLetter
	e.Size, e.Receivers, e.Created, e.Updated, e.Accessed = u.Size, u.Receivers, u.Created, u.Updated, u.Accessed
}

// IsMissing reports whether an error says that there is no such entity or message.
func IsMissing(err error) bool {
	c := broker.Condition(err)
	return c == broker.NotFound || c == broker.MessageNotFound || c == broker.RuleNotFound
}

// IsHeld reports whether an error says that a receiver has the message.
func IsHeld(err error) bool { return broker.Condition(err) == broker.MessageLockLost }

// Reason is what an error says to people; "" when it is none of the emulator's refusals.
func Reason(err error) string {
	if e, ok := asError(err); ok {
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

// window returns where the messages of a part are, and in which stages.
func (n *Namespace) window(path string, part Part) (*broker.Window, broker.Stage, error) {
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
	w, err := n.broker.Window(path)
	return w, stages, err
}

// Delete deletes one message. A receiver may have it: [IsHeld].
func (n *Namespace) Delete(path string, part Part, sequence int64) error {
	w, _, err := n.window(path, part)
	if err != nil {
		return err
	}
	receipt, err := w.Remove(sequence)
	if err != nil {
		return err
	}
	return receipt.Wait()
}

// Bury makes a dead letter of a message, with a reason and a description of it. A receiver may have it: [IsHeld].
func (n *Namespace) Bury(path string, sequence int64, reason, description string) error {
	w, _, err := n.window(path, Active)
	if err != nil {
		return err
	}
	receipt, err := w.Bury(sequence, reason, description)
	if err != nil {
		return err
	}
	return receipt.Wait()
}

// Send sends a message to a queue or topic.
func (n *Namespace) Send(path string, d Draft) error {
	w, err := n.broker.Window(path)
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
	receipt, err := w.Send(m)
	if err != nil {
		return err
	}
	return receipt.Wait()
}

// Waiting is how many messages wait for receivers, or are with one.
func (e Entity) Waiting() int64 { return e.Active + e.Transfer - e.Deferred }

// Buried is how many dead letters there are.
func (e Entity) Buried() int64 { return e.DeadLetter + e.TransferDeadLetter }

// Grave is where they are.
func (e Entity) Grave() Part {
	if e.DeadLetter == 0 && e.TransferDeadLetter > 0 {
		return Transfer
	}
	return Dead
}
