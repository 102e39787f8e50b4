package queues

import (
	"context"
	"errors"
	"time"
)

// What the seams tell apart. Other errors are refusals, whose text is for people.
var (
	ErrMissing = errors.New("it is not there any more")
	ErrHeld    = errors.New("a receiver has the message")
)

// A Bus is a namespace of Service Bus.
type Bus interface {
	BusReader
	BusWriter
	BusManager
}

// A BusReader shows what there is.
type BusReader interface {
	EntityReader
	MessageReader
}

// A BusManager changes what there is for messages.
type BusManager interface {
	RuleTester
	RuleWriter
	EntityWriter
}

// A BusWriter changes messages.
type BusWriter interface {
	MessageWriter
	Burier
	Resubmitter
}

// An EntityReader shows what there is.
type EntityReader interface {
	// Entities are all: queues, then topics, each with its subscriptions behind it.
	Entities() []Entity
	// Entity returns one by its path, or ErrMissing.
	Entity(path string) (Entity, error)
	// Sessions are those whose ids have a text in them, up to most, and how many there are besides.
	Sessions(path, text string, most int) (found []Session, more int, err error)
}

// An EntityWriter makes, changes and removes entities.
type EntityWriter interface {
	// Create makes one of a kind, name, topic and settings.
	Create(e Entity) error
	// Update gives the one of the path its settings.
	Update(e Entity) error
	// Remove deletes one with its messages, and of a topic the subscriptions.
	Remove(path string) error
}

// A RuleWriter changes the rules of subscriptions. A [*RuleError] says which part of a rule is wrong.
type RuleWriter interface {
	PutRule(path string, r Rule, replace bool) error
	DeleteRule(path, name string) error
}

// A RuleError says what is wrong in a part of a rule: filter, action, parameters or fields.
type RuleError struct {
	Part string
	Text string
}

// Error says what is wrong.
func (e *RuleError) Error() string { return e.Text }

// A Session is one of an entity.
type Session struct {
	ID          string
	Messages    int
	LockedUntil time.Time // zero: no receiver has it
	State       []byte    // the beginning of what receivers keep with it
	StateSize   int       // -1: none
	Updated     time.Time // of the state
}

// A MessageReader shows messages. Receivers notice nothing of it.
type MessageReader interface {
	// Peek returns messages, or ErrMissing.
	Peek(q Query) (Page, error)
	// Message returns one, or ErrMissing.
	Message(path string, part Part, sequence int64) (Message, error)
}

// A MessageWriter changes messages that no receiver has: ErrHeld.
type MessageWriter interface {
	Send(path string, d Draft) error
	Delete(path string, part Part, sequence int64) error
	// Purge deletes messages. note is told how far it is.
	Purge(ctx context.Context, b Batch, note func(Tally)) (Tally, error)
}

// A Burier makes dead letters of messages.
type Burier interface {
	// Bury makes a dead letter of a message that waits or is deferred, unless a receiver has it: ErrHeld.
	Bury(path string, sequence int64, reason, description string) error
}

// A Resubmitter makes messages of dead letters, each in one step.
type Resubmitter interface {
	// Resubmit puts a dead letter back, as it is or edited, into its entity, or of a subscription into its topic.
	Resubmit(path string, part Part, sequence int64, edited *Draft, toTopic bool) error
	// ResubmitAll puts many back. note is told how far it is.
	ResubmitAll(ctx context.Context, b Batch, note func(Tally)) (Tally, error)
}

// A Batch says which messages something is done to.
type Batch struct {
	Path    string
	Part    Part
	Only    []int64 // their sequence numbers; none: all that there are now
	ToTopic bool    // dead letters of a subscription go to its topic
}

// A Tally is what became of many messages.
type Tally struct {
	Done    int
	Held    int    // by receivers, which keep them
	Refused int    // they stay where they are
	Why     string // of the first that was refused
}

// A RuleTester tells what rules make of messages. Nothing is sent.
type RuleTester interface {
	Rules(path string) ([]Rule, error)
	Try(path string, d Draft) ([]Trial, error)
	TryMessage(path, from string, part Part, sequence int64) ([]Trial, error)
}

// The kinds of entities.
const (
	Queue        = "queue"
	Topic        = "topic"
	Subscription = "subscription"
)

// An Entity is a queue, a topic or a subscription. Lengths of time and sizes of 0 are none.
type Entity struct {
	Path, Name, Topic, Kind, Status string

	Active             int64 // with those that are deferred
	Deferred           int64
	Scheduled          int64
	DeadLetter         int64
	Transfer           int64 // on their way to another entity
	TransferDeadLetter int64
	Size               int64
	Receivers          int
	Subscriptions      int

	Created, Updated, Accessed time.Time

	LockDuration           time.Duration
	DefaultTTL             time.Duration
	MaxDeliveryCount       int
	RequiresSession        bool
	DeadLetterOnExpiration bool
	DropOnFilterError      bool
	DuplicateWindow        time.Duration
	ForwardTo              string
	ForwardDeadLettersTo   string
	AutoDeleteOnIdle       time.Duration
	MaxSize                int64
	MaxMessageSize         int64
	UserMetadata           string
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

// A Query says which messages are wanted.
type Query struct {
	Path string
	Part Part
	From int64 // the least sequence number, or with Newest the greatest one; 0: all
	Most int
	Text string // that they have somewhere

	Session *string // that they are of; nil: any, or none
	Newest  bool    // first
}

// A Page is some messages.
type Page struct {
	Messages []Message
	Next     int64 // the sequence number to go on with; 0 at the end
	Seen     int   // messages that were looked at
}

// A Property is a value with its name and its AMQP type, as text.
type Property struct {
	Name, Type, Value string
}

// A Message is one as it was at a moment.
type Message struct {
	Sequence, EnqueuedSequence int64
	Part                       Part
	Held                       bool // by a receiver
	Size                       int64

	Enqueued    time.Time
	Expires     time.Time // zero: never
	Due         time.Time // zero: not scheduled
	LockedUntil time.Time // zero: not held
	TTL         time.Duration
	Deliveries  int
	Priority    int
	Durable     bool

	MessageID, SessionID, CorrelationID, Subject, ContentType, ContentEncoding string
	To, ReplyTo, ReplyToSessionID, PartitionKey                                string
	HasSession                                                                 bool
	UserID                                                                     []byte
	Creation, AbsoluteExpiry                                                   time.Time

	Reason, Description, Source string // of a dead letter

	Properties, Annotations []Property

	Body Body
}

// A Body is what the sender wrote. Its bytes are not to be changed.
type Body struct {
	Kind string   // data, value, sequence or none
	Data [][]byte // of data, each of its sections
	Type string   // of a value
	Text string   // of a value or of sequences; "" when it is too large
	Raw  []byte   // the encoding
	Size int64
}

// A Draft is a message to be sent.
type Draft struct {
	MessageID, SessionID, CorrelationID, Subject, ContentType, To, ReplyTo, ReplyToSessionID, PartitionKey string

	TTL        time.Duration
	Scheduled  time.Time
	Properties []Property
	Body       []byte
	KeepBody   bool // of the message that is resubmitted
}

// A Rule is one of a subscription.
type Rule struct {
	Name, Kind, Expression string // Kind: true, false, sql or correlation
	Parameters, Fields     []Property
	Action                 string
	Created                time.Time
}

// A Trial is what a rule makes of a message.
type Trial struct {
	Rule    Rule
	Passes  bool
	Err     string
	Reasons []Question
	Changes []Change
}

// A Question is a part of a filter with its answer: true, false, unknown or fails. What is found without a type is not there.
type Question struct {
	Text, Answer, Why string
	Found             []Property
}

// A Change is what an action does to a property.
type Change struct {
	Property, Before, After string
	Removed                 bool
}

// Storage is the queues of a storage emulator.
type Storage interface {
	StorageReader
	StorageWriter
}

// A StorageReader shows what there is.
type StorageReader interface {
	QueueReader
	LetterReader
}

// A StorageWriter changes it.
type StorageWriter interface {
	LetterWriter
	LetterMover
	QueueWriter
}

// A QueueReader shows storage queues.
type QueueReader interface {
	Queues() []StorageQueue
	Queue(account, name string) (StorageQueue, error)
	// Accounts are the names of those that may have queues.
	Accounts() []string
}

// A LetterReader shows their messages. Receivers notice nothing of it.
type LetterReader interface {
	// Messages returns up to most from a place on, and the place to go on with, 0 at the end.
	Messages(account, queue string, from uint64, most int, text string) ([]Letter, uint64, error)
	Message(account, queue, id string) (Letter, error)
}

// A LetterWriter changes single messages.
type LetterWriter interface {
	Put(account, queue, text string, hidden, ttl time.Duration) error
	Delete(account, queue, id string) error
}

// A LetterMover puts messages into other queues of their account, each in one step.
type LetterMover interface {
	Move(account, queue, id, to string) error
	// MoveAll moves up to most, and returns how many.
	MoveAll(account, queue, to string, most int) (int, error)
}

// A QueueWriter changes storage queues.
type QueueWriter interface {
	// Clear deletes all messages, and returns how many.
	Clear(account, queue string) (int, error)
	Create(account, queue string) error
	// Drop deletes a queue with its messages.
	Drop(account, queue string) error
}

// A StorageQueue is a queue of a storage account.
type StorageQueue struct {
	Account, Name string
	Metadata      map[string]string
	Messages      int
	Hidden        int // of them, because they were taken or are not due; -1: too many to count
	Size          int64
}

// A Letter is a message of a storage queue.
type Letter struct {
	Place        uint64
	ID, Text     string
	Inserted     time.Time
	Expires      time.Time // zero: never
	NextVisible  time.Time
	DequeueCount int
}
