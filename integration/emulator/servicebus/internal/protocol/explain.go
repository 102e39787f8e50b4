package protocol

import (
	"errors"
	"log/slog"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// hints are remedies for developers, by the condition of the error.
var hints = map[amqp.Symbol]string{
	broker.NotFound: "no entity has this name, in any case of letters: make it, name it in the config, or let it be made when it is used",
	condUnauthorized: "the key or token is wrong, has expired, or is not for this: compare its name, its text and its rights with those " +
		"configured",
	broker.MessageLockLost: "the message was settled before, or took longer than its lock: settle once, renew the lock in time, or " +
		"have a longer lock duration",
	broker.SessionLockLost:       "the session's lock expired: renew it in time, and accept the session again",
	broker.SessionCannotBeLocked: "another receiver has the session: close that one first, or ask for the next free session",
	broker.MessageNotFound:       "a sequence number is not that of a deferred, or scheduled, message: it may have been taken already",
	broker.EntityDisabled:        "the entity's status forbids this: set it to Active",
	broker.ResourceLimitExceeded: "something is full: receive messages, or ask for less at a time",
	broker.MessageSizeExceeded:   "the message is larger than the entity takes: send less at a time",
	broker.NotAllowed:            "the entity does not allow this operation: check its sessions, its forwarding and its kind",
	condOverCredit:               "the client sent more than it was given credit for: wait for a flow",
	condUnknownTxn:               "the transaction has been discharged, took too long, or is another connection's",
	condDecode:                   "the bytes are not a message of AMQP 1.0",
	condFraming:                  "the client breaks the rules of AMQP 1.0: look at the frames it sent last",
	broker.InvalidField:          "a field is missing or has the wrong type",
	condNotImplemented:           "the emulator does not have this",
	condWindow:                   "the client sent more frames than the session's window: wait for a flow",
}

// hint returns the remedy for an error; empty if none is known.
func hint(err error) string {
	if errors.Is(err, auth.ErrDenied) {
		return hints[condUnauthorized]
	}
	return hints[broker.Condition(err)]
}

// Explain logs the refusal of a client for its developer: the operation, the entity if any, and the remedy. The attributes
// identify the client; why describes the error.
func Explain(log *slog.Logger, attributes []any, what, entity string, err error, why ...any) {
	attributes = append(attributes, slog.String("what", what))
	if entity != "" {
		attributes = append(attributes, slog.String("entity", entity))
	}
	attributes = append(attributes, why...)
	if remedy := hint(err); remedy != "" {
		attributes = append(attributes, slog.String("hint", remedy))
	}
	log.Warn("refused a client", attributes...)
}

// explain reports a client's error to its developer.
func (c *conn) explain(what, entity string, err error) {
	if c.server.config.Explain == nil || err == nil {
		return
	}
	reason := asError(err)
	if reason.Condition == broker.Timeout {
		return // no session had messages, which is not a mistake
	}
	client := []any{slog.String("container", c.name), slog.String("client", c.socket.RemoteAddr().String())}
	Explain(c.server.config.Explain, client, what, entity, reason,
		slog.String("condition", string(reason.Condition)), slog.String("err", reason.Description))
}

// explainEnd is explain for what ends a connection, if that is something that the client did.
func (c *conn) explainEnd(what string, err error) {
	switch {
	case errors.Is(err, auth.ErrDenied):
		err = &amqp.Error{Condition: condUnauthorized, Description: err.Error()}
	case errors.Is(err, errNoHandshake):
		err = &amqp.Error{Condition: condFraming, Description: err.Error()}
	default:
		reason := farewell(err)
		if reason == nil || reason.Condition == condForced && c.ctx.Err() != nil {
			return
		}
		err = reason
	}
	c.explain(what, "", err)
}

// errUnknownDelivery reports a disposition of an unknown delivery; AMQP has no answer to it.
var errUnknownDelivery = amqp.Errorf(broker.MessageLockLost,
	"the delivery is not open on this session: it was settled before, or its link has ended")

// Error conditions of the standard that the protocol detects itself. The conditions of Service Bus come from the broker.
const (
	condUnauthorized   amqp.Symbol = "amqp:unauthorized-access"
	condDecode         amqp.Symbol = "amqp:decode-error"
	condNotImplemented amqp.Symbol = "amqp:not-implemented"
	condForced         amqp.Symbol = "amqp:connection:forced"
	condFraming        amqp.Symbol = "amqp:connection:framing-error"
	condWindow         amqp.Symbol = "amqp:session:window-violation"
	condHandle         amqp.Symbol = "amqp:session:unattached-handle"
	condHandleInUse    amqp.Symbol = "amqp:session:handle-in-use"
	condOverCredit     amqp.Symbol = "amqp:link:transfer-limit-exceeded" //nolint:gosec // no credentials
	condDetached       amqp.Symbol = "amqp:link:detach-forced"
	condUnknownTxn     amqp.Symbol = "amqp:transaction:unknown-id"
)
