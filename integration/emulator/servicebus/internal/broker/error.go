package broker

import (
	"cmp"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// The conditions of the errors that the broker returns, each as an [amqp.Error].
const (
	NotFound              amqp.Symbol = "amqp:not-found"
	NotAllowed            amqp.Symbol = "amqp:not-allowed"
	InvalidField          amqp.Symbol = "amqp:invalid-field"
	InternalError         amqp.Symbol = "amqp:internal-error"
	ResourceLimitExceeded amqp.Symbol = "amqp:resource-limit-exceeded"
	MessageSizeExceeded   amqp.Symbol = "amqp:link:message-size-exceeded"
	TransactionRollback   amqp.Symbol = "amqp:transaction:rollback"

	EntityExists          amqp.Symbol = "com.microsoft:entity-already-exists"
	EntityDisabled        amqp.Symbol = "com.microsoft:entity-disabled"
	MessageLockLost       amqp.Symbol = "com.microsoft:message-lock-lost"
	MessageNotFound       amqp.Symbol = "com.microsoft:message-not-found"
	SessionLockLost       amqp.Symbol = "com.microsoft:session-lock-lost"
	SessionCannotBeLocked amqp.Symbol = "com.microsoft:session-cannot-be-locked"
	SessionNotFound       amqp.Symbol = "com.microsoft:session-not-found"
	RuleNotFound          amqp.Symbol = "com.microsoft:rule-not-found"
	ServerBusy            amqp.Symbol = "com.microsoft:server-busy"
	Timeout               amqp.Symbol = "com.microsoft:timeout"
	ArgumentError         amqp.Symbol = "com.microsoft:argument-error"
	DeadLetter            amqp.Symbol = "com.microsoft:dead-letter"
)

// Condition returns the condition of an error of the broker, or "".
func Condition(err error) amqp.Symbol {
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		return e.Condition
	}
	return ""
}

func fail(condition amqp.Symbol, format string, args ...any) error {
	return amqp.Errorf(condition, format, args...)
}

// ErrNotFound reports that no entity has the path.
func ErrNotFound(path string) error {
	return fail(NotFound, "The messaging entity '%s' could not be found.", path)
}

func errDisabled(path string) error {
	return fail(EntityDisabled, "Messaging entity '%s' is currently disabled.", path)
}

func errLockLost() error {
	return fail(MessageLockLost, "The lock supplied is invalid. Either the lock expired, or the message has already been removed from "+
		"the queue.")
}

func errSessionTaken(id string) error {
	return fail(SessionCannotBeLocked, "The requested session '%s' cannot be accepted. It may be locked by another receiver.", id)
}

func errNoMessage(seq int64, state string) error {
	return fail(MessageNotFound, "The specified message with sequence number %d was not found among the %s.", seq, state)
}

func errSessionLockLost(id string) error {
	return fail(SessionLockLost, "The session lock has expired on the MessageSession '%s'. Accept a new MessageSession.", id)
}

// An operation is a label of the tally.
type operation uint8

const (
	sendOperation operation = iota
	receiveOperation
	settleOperations // settlements follow in the order of [OutcomeKind]
)

const operations = settleOperations + operation(MoveDeadLetter) + 1

// String is the name of the operation in metrics.
func (o operation) String() string {
	return [...]string{"send", "receive", "complete", "abandon", "release", "defer", "dead_letter"}[o]
}

// A tally counts messages by operation and outcome: "ok", or the condition of the error.
type tally struct {
	all  *prometheus.CounterVec
	good [operations]prometheus.Counter
}

func newTally() (t tally) {
	t.all = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "carillon_emulator_servicebus_operations_total",
		Help: "Messages sent, received and settled, by outcome: ok or the condition of the error.",
	}, []string{"operation", "outcome"})
	for o := range operations {
		t.good[o] = t.all.WithLabelValues(o.String(), "ok")
	}
	return t
}

// count counts n messages that an operation was about, and its outcome.
func (t *tally) count(o operation, n int, err error) {
	if err == nil {
		t.good[o].Add(float64(n))
		return
	}
	t.all.WithLabelValues(o.String(), cmp.Or(string(Condition(err)), string(InternalError))).Add(float64(n))
}

// Operations counts the messages sent, received and settled since the broker started.
func (b *Broker) Operations() prometheus.Collector { return b.tally.all }
