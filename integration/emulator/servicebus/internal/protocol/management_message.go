package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// What one answer holds at most.
const (
	maxPeek      = 256
	maxPeekBytes = 1 << 20
)

func (r *request) renewLock(source *broker.Source) response {
	tokens := r.tokens()
	if len(tokens) == 0 {
		return invalid("lock-tokens")
	}
	expirations := make(amqp.Array, len(tokens))
	for i, token := range tokens {
		until, err := source.Renew(token)
		if err != nil {
			return failure(err)
		}
		expirations[i] = until
	}
	return ok(amqp.Map{{Key: "expirations", Value: expirations}})
}

func (r *request) peek(source *broker.Source) response {
	most := r.number("message-count", 1)
	if most <= 0 {
		return invalid("message-count")
	}
	peeked, err := source.Peek(r.number("from-sequence-number", 0), int(min(most, maxPeek)), r.session())
	if err != nil {
		return failure(err)
	}
	messages, size := amqp.List{}, 0
	for _, d := range peeked {
		if size += len(d.Payload); size > maxPeekBytes && len(messages) > 0 {
			break // the client peeks on from the last it got
		}
		messages = append(messages, amqp.Map{{Key: "message", Value: d.Payload}})
	}
	if len(messages) == 0 {
		return noContent()
	}
	return ok(amqp.Map{{Key: "messages", Value: messages}})
}

func (r *request) schedule() response {
	var messages []amqp.Message
	for _, item := range r.items("messages") {
		entry, _ := item.(amqp.Map)
		raw, _ := entry.Get("message").([]byte)
		m, err := amqp.ParseMessage(raw)
		if err != nil {
			return failure(undecodable(err))
		}
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return invalid("messages")
	}
	target, err := r.target()
	if err != nil {
		return failure(err)
	}
	txn, err := r.conn.txns.find(r.txn)
	if err != nil {
		return failure(err)
	}
	numbers, receipt, err := target.Schedule(messages, txn)
	if err != nil {
		return failure(err)
	}
	return written(receipt, amqp.Map{{Key: "sequence-numbers", Value: arrayOf(numbers)}})
}

func (r *request) cancelScheduled() response {
	numbers := r.numbers()
	if len(numbers) == 0 {
		return invalid("sequence-numbers")
	}
	target, err := r.target()
	if err != nil {
		return failure(err)
	}
	receipt, err := target.Cancel(numbers)
	if err != nil {
		return failure(err)
	}
	return written(receipt, amqp.Map{})
}

func (r *request) receiveDeferred(source *broker.Source) response {
	numbers := r.numbers()
	if len(numbers) == 0 {
		return invalid("sequence-numbers")
	}
	mode := broker.PeekLock
	if r.number("receiver-settle-mode", 1) == amqp.ReceiverFirst {
		mode = broker.ReceiveAndDelete
	}
	deliveries, receipt, err := source.ReceiveDeferred(numbers, mode, r.session())
	if err != nil {
		return failure(err)
	}
	messages := make(amqp.List, len(deliveries))
	for i, d := range deliveries {
		messages[i] = amqp.Map{{Key: "message", Value: d.Payload}, {Key: "lock-token", Value: d.Token}}
	}
	return written(receipt, amqp.Map{{Key: "messages", Value: messages}})
}

// verdicts are the outcomes by their names in a request, one of which is misspelled there.
var verdicts = map[string]broker.OutcomeKind{
	"completed": broker.Complete,
	"abandoned": broker.Abandon,
	"unlocked":  broker.Release,
	"suspended": broker.MoveDeadLetter,
	"defered":   broker.Defer,
	"deferred":  broker.Defer,
}

func (r *request) updateDisposition(source *broker.Source) response {
	status, _ := r.body.Get("disposition-status").(string)
	kind, known := verdicts[status]
	if !known {
		return invalid("disposition-status")
	}
	tokens := r.tokens()
	if len(tokens) == 0 {
		return invalid("lock-tokens")
	}
	outcome := broker.Outcome{Kind: kind}
	outcome.Reason, _ = r.body.Get("deadletter-reason").(string)
	outcome.Description, _ = r.body.Get("deadletter-description").(string)
	if modified, ok := r.body.Get("properties-to-modify").(amqp.Map); ok {
		outcome.Properties = asProperties(modified)
	}
	txn, err := r.conn.txns.find(r.txn)
	if err != nil {
		return failure(err)
	}
	answer := ok(amqp.Map{})
	for _, token := range tokens {
		if answer.receipt, err = source.Settle(token, outcome, txn); err != nil {
			return failure(err)
		}
	}
	return answer
}

func (r *request) batchDelete(source *broker.Source) response {
	before, _ := r.body.Get("enqueued-time-utc").(time.Time)
	n, receipt, err := source.Delete(int(r.number("message-count", 0)), before)
	if err != nil {
		return failure(err)
	}
	if n == 0 {
		return noContent()
	}
	return written(receipt, amqp.Map{{Key: "message-count", Value: int32(n)}})
}

// maxSessionIDs is how many ids one answer holds.
const maxSessionIDs = 100

func (*request) renewSession(source *broker.Source, id string) response {
	until, err := source.RenewSession(id)
	if err != nil {
		return failure(err)
	}
	return ok(amqp.Map{{Key: "expiration", Value: until}})
}

func (*request) sessionState(source *broker.Source, id string) response {
	state, err := source.SessionState(id)
	if err != nil {
		return failure(err)
	}
	var value any // null for no state
	if state != nil {
		value = state
	}
	return ok(amqp.Map{{Key: "session-state", Value: value}})
}

func (r *request) setSessionState(source *broker.Source, id string) response {
	state, _ := r.body.Get("session-state").([]byte)
	receipt, err := source.SetSessionState(id, state)
	if err != nil {
		return failure(err)
	}
	return written(receipt, amqp.Map{})
}

func (r *request) sessions(source *broker.Source) response {
	after, _ := r.body.Get("last-updated-time").(time.Time)
	if after.Year() > 9998 { // how clients ask for all
		after = time.Time{}
	}
	skip := max(r.number("skip", 0), 0)
	top := r.number("top", maxSessionIDs)
	if top <= 0 {
		return noContent()
	}
	found, err := source.Sessions(after, int(skip), int(min(top, maxSessionIDs)))
	if err != nil {
		return failure(err)
	}
	if len(found) == 0 {
		return noContent()
	}
	next := int32(skip) + int32(len(found))
	return ok(amqp.Map{{Key: "skip", Value: next}, {Key: "sessions-ids", Value: arrayOf(found)}})
}
