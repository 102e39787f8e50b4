package protocol

import "github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"

// Error conditions of the standard that the protocol itself comes upon. Those of Service Bus come from the broker.
const (
	condInternal       amqp.Symbol = "amqp:internal-error"
	condNotFound       amqp.Symbol = "amqp:not-found"
	condUnauthorized   amqp.Symbol = "amqp:unauthorized-access"
	condDecode         amqp.Symbol = "amqp:decode-error"
	condLimit          amqp.Symbol = "amqp:resource-limit-exceeded"
	condNotAllowed     amqp.Symbol = "amqp:not-allowed"
	condInvalid        amqp.Symbol = "amqp:invalid-field"
	condNotImplemented amqp.Symbol = "amqp:not-implemented"
	condForced         amqp.Symbol = "amqp:connection:forced"
	condFraming        amqp.Symbol = "amqp:connection:framing-error"
	condWindow         amqp.Symbol = "amqp:session:window-violation"
	condHandle         amqp.Symbol = "amqp:session:unattached-handle"
	condHandleInUse    amqp.Symbol = "amqp:session:handle-in-use"
	condTooLarge       amqp.Symbol = "amqp:link:message-size-exceeded"
	condOverCredit     amqp.Symbol = "amqp:link:transfer-limit-exceeded" //nolint:gosec // no credentials
	condDetached       amqp.Symbol = "amqp:link:detach-forced"
	condUnknownTxn     amqp.Symbol = "amqp:transaction:unknown-id"
)
