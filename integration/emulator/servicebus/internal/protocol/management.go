package protocol

import (
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// operations are what "$management" can be asked for, after "com.microsoft:".
var operations = map[string]func(*request) response{
	"renew-lock":                 fromSource((*request).renewLock),
	"peek-message":               fromSource((*request).peek),
	"schedule-message":           (*request).schedule,
	"cancel-scheduled-message":   (*request).cancelScheduled,
	"receive-by-sequence-number": fromSource((*request).receiveDeferred),
	"update-disposition":         fromSource((*request).updateDisposition),
	"batch-delete-messages":      fromSource((*request).batchDelete),
	"renew-session-lock":         inSession((*request).renewSession),
	"get-session-state":          inSession((*request).sessionState),
	"set-session-state":          inSession((*request).setSessionState),
	"get-message-sessions":       fromSource((*request).sessions),
	"add-rule":                   (*request).addRule,
	"remove-rule":                (*request).removeRule,
	"enumerate-rules":            (*request).enumerateRules,
}

const operationPrefix = "com.microsoft:"

// management returns the node that manages an entity. A token for the node is enough.
func (c *conn) management(entity string) (sink, error) {
	if err := c.permitted(entity+managementSuffix, auth.All); err != nil {
		return nil, err
	}
	if !c.server.config.Broker.Exists(entity) {
		return nil, notFound(entity)
	}
	return node{conn: c, entity: entity, answer: (*request).manage}, nil
}

// manage answers a request to "$management".
func (r *request) manage() response {
	if len(r.operation) > len(operationPrefix) {
		name := r.operation[len(operationPrefix):]
		if operation := operations[name]; operation != nil {
			if err := r.conn.permitted(r.entity+managementSuffix, neededFor(name)); err != nil {
				return failure(err)
			}
			return operation(r)
		}
	}
	return response{
		code: http.StatusNotImplemented, condition: condNotImplemented,
		description: "The operation '" + r.operation + "' is not supported.",
	}
}

// neededFor returns the right that an operation wants: that to send, or, as for rules too, that to listen.
func neededFor(operation string) auth.Rights {
	switch operation {
	case "schedule-message", "cancel-scheduled-message":
		return auth.Send
	default:
		return auth.Listen
	}
}

// ok is the answer to a request that was carried out.
func ok(body amqp.Map) response {
	return response{code: http.StatusOK, description: "OK", body: body}
}

// written is the answer to a request that was carried out but is still to be written.
func written(receipt broker.Receipt, body amqp.Map) response {
	answer := ok(body)
	answer.receipt = receipt
	return answer
}

// arrayOf is an array for an answer.
func arrayOf[T any](values []T) amqp.Array {
	array := make(amqp.Array, len(values))
	for i, value := range values {
		array[i] = value
	}
	return array
}

// noContent is the answer when there is nothing to return.
func noContent() response {
	return response{code: http.StatusNoContent, description: "No content"}
}

// invalid is the answer to a request that lacks something.
func invalid(field string) response {
	return failure(&amqp.Error{Condition: condInvalid, Description: "The request has no valid '" + field + "'."})
}

// codes are the status codes of conditions. Clients try again after some, which is why lost locks are gone (410).
var codes = map[amqp.Symbol]int32{
	broker.NotFound:              http.StatusNotFound,
	broker.MessageNotFound:       http.StatusNotFound,
	broker.RuleNotFound:          http.StatusNotFound,
	broker.SessionNotFound:       http.StatusNotFound,
	broker.EntityExists:          http.StatusConflict,
	broker.SessionCannotBeLocked: http.StatusConflict,
	broker.MessageLockLost:       http.StatusGone,
	broker.SessionLockLost:       http.StatusGone,
	broker.NotAllowed:            http.StatusBadRequest,
	broker.InvalidField:          http.StatusBadRequest,
	broker.ArgumentError:         http.StatusBadRequest,
	broker.MessageSizeExceeded:   http.StatusBadRequest,
	condUnknownTxn:               http.StatusBadRequest,
	condDecode:                   http.StatusBadRequest,
	broker.EntityDisabled:        http.StatusForbidden,
	broker.ResourceLimitExceeded: http.StatusForbidden,
	condUnauthorized:             http.StatusUnauthorized,
	broker.ServerBusy:            http.StatusServiceUnavailable,
	broker.Timeout:               http.StatusRequestTimeout,
}

// failure is the answer to a request that failed.
func failure(err error) response {
	e := asError(err)
	code, ok := codes[e.Condition]
	if !ok {
		code = http.StatusInternalServerError
	}
	return response{code: code, description: e.Description, condition: e.Condition}
}

// fromSource is an operation on what can be received from.
func fromSource(operation func(*request, *broker.Source) response) func(*request) response {
	return func(r *request) response {
		source, err := r.conn.server.config.Broker.Source(r.entity)
		if err != nil {
			return failure(err)
		}
		return operation(r, source)
	}
}

// inSession is an operation on a session.
func inSession(operation func(*request, *broker.Source, string) response) func(*request) response {
	return fromSource(func(r *request, source *broker.Source) response {
		id := r.session()
		if id == nil {
			return invalid("session-id")
		}
		return operation(r, source, *id)
	})
}

func (r *request) target() (*broker.Target, error) {
	return r.conn.server.config.Broker.Target(r.entity)
}

// session returns the session that the request is about, or nil. Some clients do not name it, but the link that has it.
func (r *request) session() *string {
	if id, ok := r.body.Get("session-id").(string); ok {
		return &id
	}
	link, _ := r.parameters.Get("associated-link-name").(string)
	if id, ok := r.conn.locked[link]; ok {
		return &id
	}
	return nil
}

// number returns a field of the body that is an integer.
func (r *request) number(field string, absent int64) int64 {
	if n, ok := asInteger(r.body.Get(field)); ok {
		return n
	}
	return absent
}

// asInteger returns an integer of whatever width the client chose.
func asInteger(value any) (int64, bool) {
	switch n := value.(type) {
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	case uint8:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint64:
		return int64(min(n, 1<<62)), true
	default:
		return 0, false
	}
}

// items returns a field of the body that is a list or an array.
func (r *request) items(field string) []any {
	switch items := r.body.Get(field).(type) {
	case amqp.Array:
		return items
	case amqp.List:
		return items
	default:
		return nil
	}
}

// itemsOf returns the items of a field as a type, or nil if there are none or one of them is of another type.
func itemsOf[T any](r *request, field string, as func(any) (T, bool)) []T {
	items := r.items(field)
	typed := make([]T, len(items))
	for i, item := range items {
		var ok bool
		if typed[i], ok = as(item); !ok {
			return nil
		}
	}
	return typed
}

// numbers returns the sequence numbers in the body.
func (r *request) numbers() []int64 { return itemsOf(r, "sequence-numbers", asInteger) }

// tokens returns the lock tokens in the body.
func (r *request) tokens() []amqp.UUID {
	return itemsOf(r, "lock-tokens", func(item any) (amqp.UUID, bool) {
		token, ok := item.(amqp.UUID)
		return token, ok
	})
}
