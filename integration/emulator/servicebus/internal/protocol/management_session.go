package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// maxSessionIDs is how many ids one answer holds.
const maxSessionIDs = 100

func (r *request) renewSession() response {
	id := r.session()
	if id == nil {
		return invalid("session-id")
	}
	source, err := r.source()
	if err != nil {
		return failure(err)
	}
	until, err := source.RenewSession(*id)
	if err != nil {
		return failure(err)
	}
	return ok(amqp.Map{{Key: "expiration", Value: until}})
}

func (r *request) sessionState() response {
	id := r.session()
	if id == nil {
		return invalid("session-id")
	}
	source, err := r.source()
	if err != nil {
		return failure(err)
	}
	state, err := source.SessionState(*id)
	if err != nil {
		return failure(err)
	}
	var value any // null for no state
	if state != nil {
		value = state
	}
	return ok(amqp.Map{{Key: "session-state", Value: value}})
}

func (r *request) setSessionState() response {
	id := r.session()
	if id == nil {
		return invalid("session-id")
	}
	source, err := r.source()
	if err != nil {
		return failure(err)
	}
	state, _ := r.body.Get("session-state").([]byte)
	receipt, err := source.SetSessionState(*id, state)
	if err != nil {
		return failure(err)
	}
	answer := ok(amqp.Map{})
	answer.receipt = receipt
	return answer
}

func (r *request) sessions() response {
	source, err := r.source()
	if err != nil {
		return failure(err)
	}
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
	ids := make(amqp.Array, len(found))
	for i, id := range found {
		ids[i] = id
	}
	return ok(amqp.Map{{Key: "skip", Value: int32(skip) + int32(len(found))}, {Key: "sessions-ids", Value: ids}})
}
