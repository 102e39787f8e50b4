package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

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
