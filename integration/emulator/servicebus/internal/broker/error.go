package broker

import (
	"errors"
	"fmt"

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
	return &amqp.Error{Condition: condition, Description: fmt.Sprintf(format, args...)}
}

func errNotFound(path string) error {
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
