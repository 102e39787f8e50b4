package broker

import (
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A cause is why a message becomes a dead letter, and what else is written on it.
type cause struct {
	reason, description string
	properties          amqp.Map
}

// The causes of which the service itself speaks.
var (
	causeExpired = cause{reason: "TTLExpiredException", description: "The message expired and was dead lettered."}
	causeHops    = cause{reason: "MaxTransferHopCountExceeded", description: "Maximum transfer hop count is exceeded."}
	causeNowhere = cause{
		reason: "MessagingEntityNotFound", description: "The destination of the transfer does not exist.",
	}
	causeSession = cause{
		reason: "Session ID is null", description: "Session enabled entity doesn't allow a message whose session identifier is null.",
	}
)

func maxDeliveryCount(limit int) cause {
	return cause{
		reason:      "MaxDeliveryCountExceeded",
		description: fmt.Sprintf("Message could not be consumed after %d delivery attempts.", limit),
	}
}

// mark writes a cause on a message.
func (m *message) mark(c cause) {
	set := slices.Clip(c.properties)
	if c.reason != "" {
		set = append(set, amqp.Pair{Key: reasonKey, Value: c.reason})
	}
	if c.description != "" {
		set = append(set, amqp.Pair{Key: descriptionKey, Value: c.description})
	}
	m.annotate(set)
}

// bury makes a message a dead letter of its entity. It keeps its number.
func (e *entity) bury(m *message, c cause, en *entry) {
	e.moveTo(deadPart, m, c, en)
}

// moveTo moves a message to a sub-queue.
func (e *entity) moveTo(p part, m *message, c cause, en *entry) {
	dead := m.clone()
	dead.expires = 0
	dead.mark(c)
	m.remove(en)
	q := &e.queues[p]
	q.add(dead, en)
	q.stand(dead, en)
	q.dispatch(nowMilli(), en)
}

// expire ends a message whose time is over.
func (e *entity) expire(m *message, en *entry) {
	if e.settings.DeadLetterOnExpiration {
		e.bury(m, causeExpired, en)
		return
	}
	m.remove(en)
}

// activate enqueues a scheduled message, which gets a new number.
func (e *entity) activate(m *message, now int64, en *entry) {
	active := m.clone()
	owner := m.session
	active.enqueueSeq = 0
	active.live(ttlOf(m), e.settings.DefaultTTL, now)
	if owner != nil {
		active.session = owner
		owner.messages++
	}
	m.remove(en)
	q := &e.queues[mainPart]
	q.enqueue(active, now, en)
	q.dispatchFor(active, now, en)
}
