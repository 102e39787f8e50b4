package protocol

import (
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// operations are the requests of "$management", by their name after "com.microsoft:", with the required right.
var operations = map[string]struct {
	needs auth.Rights
	do    func(*request) (response, error)
}{
	"renew-lock":                 {auth.Listen, fromSource((*request).renewLock)},
	"peek-message":               {auth.Listen, fromSource((*request).peek)},
	"schedule-message":           {auth.Send, (*request).schedule},
	"cancel-scheduled-message":   {auth.Send, (*request).cancelScheduled},
	"receive-by-sequence-number": {auth.Listen, fromSource((*request).receiveDeferred)},
	"update-disposition":         {auth.Listen, fromSource((*request).updateDisposition)},
	"batch-delete-messages":      {auth.Listen, fromSource((*request).batchDelete)},
	"renew-session-lock":         {auth.Listen, inSession((*request).renewSession)},
	"get-session-state":          {auth.Listen, inSession((*request).sessionState)},
	"set-session-state":          {auth.Listen, inSession((*request).setSessionState)},
	"get-message-sessions":       {auth.Listen, fromSource((*request).sessions)},
	"add-rule":                   {auth.Listen, ofSubscription((*request).addRule)},
	"remove-rule":                {auth.Listen, ofSubscription((*request).removeRule)},
	"enumerate-rules":            {auth.Listen, ofSubscription((*request).enumerateRules)},
}

const operationPrefix = "com.microsoft:"

// management returns the node that manages an entity. A token for the node is enough.
func (c *conn) management(entity string) (sink, error) {
	if err := c.permitted(entity+managementSuffix, auth.All); err != nil {
		return nil, err
	}
	if !c.server.config.Broker.Exists(entity) {
		return nil, broker.ErrNotFound(entity)
	}
	return node{conn: c, entity: entity, answer: (*request).manage}, nil
}

// manage answers a request to "$management".
func (r *request) manage() response {
	operation, known := operations[r.operation[min(len(operationPrefix), len(r.operation)):]]
	if !known {
		return response{
			code: http.StatusNotImplemented, condition: condNotImplemented,
			description: "The operation '" + r.operation + "' is not supported.",
		}
	}
	err := r.conn.permitted(r.entity+managementSuffix, operation.needs)
	var answer response
	if err == nil {
		answer, err = operation.do(r)
	}
	if err != nil {
		return failure(err)
	}
	return answer
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

// some is the answer with a list, or with "no content" for an empty one.
func some(key string, list amqp.List) response {
	if len(list) == 0 {
		return noContent()
	}
	return ok(amqp.Map{{Key: key, Value: list}})
}

// noContent is the answer when there is nothing to return.
func noContent() response {
	return response{code: http.StatusNoContent, description: "No content"}
}

// invalid is the error of a request that lacks something.
func invalid(field string) error {
	return amqp.Errorf(broker.InvalidField, "The request has no valid '%s'.", field)
}

// codes are the status codes of conditions. Clients retry after some codes, so lost locks have 410 (gone).
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
func fromSource(do func(*request, *broker.Source) (response, error)) func(*request) (response, error) {
	return func(r *request) (response, error) {
		source, err := r.conn.server.config.Broker.Source(r.entity)
		if err != nil {
			return response{}, err
		}
		return do(r, source)
	}
}

// inSession is an operation on a session.
func inSession(do func(*request, *broker.Source, string) (response, error)) func(*request) (response, error) {
	return fromSource(func(r *request, source *broker.Source) (response, error) {
		id := r.session()
		if id == nil {
			return response{}, invalid("session-id")
		}
		return do(r, source, *id)
	})
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
	if n, ok := amqp.Integer(r.body.Get(field)); ok {
		return n
	}
	return absent
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
func (r *request) numbers() []int64 { return itemsOf(r, "sequence-numbers", amqp.Integer) }

// tokens returns the lock tokens in the body.
func (r *request) tokens() []amqp.UUID {
	return itemsOf(r, "lock-tokens", func(item any) (amqp.UUID, bool) {
		token, ok := item.(amqp.UUID)
		return token, ok
	})
}

// Limits of one answer.
const (
	maxPeek      = 256
	maxPeekBytes = 1 << 20
)

func (r *request) renewLock(source *broker.Source) (response, error) {
	tokens := r.tokens()
	if len(tokens) == 0 {
		return response{}, invalid("lock-tokens")
	}
	expirations := make(amqp.Array, len(tokens))
	for i, token := range tokens {
		until, err := source.Renew(token)
		if err != nil {
			return response{}, err
		}
		expirations[i] = until
	}
	return ok(amqp.Map{{Key: "expirations", Value: expirations}}), nil
}

func (r *request) peek(source *broker.Source) (response, error) {
	most := r.number("message-count", 1)
	if most <= 0 {
		return response{}, invalid("message-count")
	}
	peeked, err := source.Peek(r.number("from-sequence-number", 0), int(min(most, maxPeek)), r.session())
	messages, size := amqp.List{}, 0
	for _, d := range peeked {
		if size += len(d.Payload); size > maxPeekBytes && len(messages) > 0 {
			break // the client peeks on from the last it got
		}
		messages = append(messages, amqp.Map{{Key: "message", Value: d.Payload}})
	}
	return some("messages", messages), err
}

func (r *request) schedule() (response, error) {
	var messages []amqp.Message
	for _, item := range r.items("messages") {
		entry, _ := item.(amqp.Map)
		raw, _ := entry.Get("message").([]byte)
		m, err := amqp.ParseMessage(raw)
		if err != nil {
			return response{}, undecodable(err)
		}
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return response{}, invalid("messages")
	}
	target, err := r.conn.server.config.Broker.Target(r.entity)
	if err != nil {
		return response{}, err
	}
	txn, err := r.conn.txns.find(r.txn)
	if err != nil {
		return response{}, err
	}
	numbers, receipt, err := target.Schedule(messages, txn)
	return written(receipt, amqp.Map{{Key: "sequence-numbers", Value: arrayOf(numbers)}}), err
}

func (r *request) cancelScheduled() (response, error) {
	numbers := r.numbers()
	if len(numbers) == 0 {
		return response{}, invalid("sequence-numbers")
	}
	target, err := r.conn.server.config.Broker.Target(r.entity)
	if err != nil {
		return response{}, err
	}
	receipt, err := target.Cancel(numbers)
	return written(receipt, amqp.Map{}), err
}

func (r *request) receiveDeferred(source *broker.Source) (response, error) {
	numbers := r.numbers()
	if len(numbers) == 0 {
		return response{}, invalid("sequence-numbers")
	}
	mode := broker.PeekLock
	if r.number("receiver-settle-mode", 1) == amqp.ReceiverFirst {
		mode = broker.ReceiveAndDelete
	}
	deliveries, receipt, err := source.ReceiveDeferred(numbers, mode, r.session())
	messages := make(amqp.List, len(deliveries))
	for i, d := range deliveries {
		messages[i] = amqp.Map{{Key: "message", Value: d.Payload}, {Key: "lock-token", Value: d.Token}}
	}
	return written(receipt, amqp.Map{{Key: "messages", Value: messages}}), err
}

// verdicts are the outcomes by their names in a request. The SDKs misspell one.
var verdicts = map[string]broker.OutcomeKind{
	"completed": broker.Complete,
	"abandoned": broker.Abandon,
	"unlocked":  broker.Release,
	"suspended": broker.MoveDeadLetter,
	"defered":   broker.Defer,
	"deferred":  broker.Defer,
}

func (r *request) updateDisposition(source *broker.Source) (response, error) {
	status, _ := r.body.Get("disposition-status").(string)
	kind, known := verdicts[status]
	if !known {
		return response{}, invalid("disposition-status")
	}
	tokens := r.tokens()
	if len(tokens) == 0 {
		return response{}, invalid("lock-tokens")
	}
	outcome := broker.Outcome{Kind: kind}
	outcome.Reason, _ = r.body.Get("deadletter-reason").(string)
	outcome.Description, _ = r.body.Get("deadletter-description").(string)
	if modified, ok := r.body.Get("properties-to-modify").(amqp.Map); ok {
		outcome.Properties = asProperties(modified)
	}
	txn, err := r.conn.txns.find(r.txn)
	answer := ok(amqp.Map{})
	for i := 0; err == nil && i < len(tokens); i++ {
		answer.receipt, err = source.Settle(tokens[i], outcome, txn)
	}
	return answer, err
}

func (r *request) batchDelete(source *broker.Source) (response, error) {
	before, _ := r.body.Get("enqueued-time-utc").(time.Time)
	n, receipt, err := source.Delete(int(r.number("message-count", 0)), before)
	if n == 0 {
		return noContent(), err
	}
	return written(receipt, amqp.Map{{Key: "message-count", Value: int32(n)}}), err
}

// maxSessionIDs limits the ids of one response.
const maxSessionIDs = 100

func (*request) renewSession(source *broker.Source, id string) (response, error) {
	until, err := source.RenewSession(id)
	return ok(amqp.Map{{Key: "expiration", Value: until}}), err
}

func (*request) sessionState(source *broker.Source, id string) (response, error) {
	state, err := source.SessionState(id)
	var value any // null for no state
	if state != nil {
		value = state
	}
	return ok(amqp.Map{{Key: "session-state", Value: value}}), err
}

func (r *request) setSessionState(source *broker.Source, id string) (response, error) {
	state, _ := r.body.Get("session-state").([]byte)
	receipt, err := source.SetSessionState(id, state)
	return written(receipt, amqp.Map{}), err
}

func (r *request) sessions(source *broker.Source) (response, error) {
	after, _ := r.body.Get("last-updated-time").(time.Time)
	if after.Year() > 9998 { // how clients ask for all
		after = time.Time{}
	}
	skip := max(r.number("skip", 0), 0)
	top := r.number("top", maxSessionIDs)
	if top <= 0 {
		return noContent(), nil
	}
	found, err := source.Sessions(after, int(skip), int(min(top, maxSessionIDs)))
	if len(found) == 0 {
		return noContent(), err
	}
	next := int32(skip) + int32(len(found))
	return ok(amqp.Map{{Key: "skip", Value: next}, {Key: "sessions-ids", Value: arrayOf(found)}}), err
}
