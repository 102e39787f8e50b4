package broker

import (
	"fmt"
	"slices"
	"time"

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

const (
	// maxHops is how often a message may go on to another entity.
	maxHops = 4
	// pumpBatch is how many messages go on at a time.
	pumpBatch = 256
)

// pump has the messages of an entity go on that do not stay there: those of queues that forward, and scheduled ones of a topic
// that are due. No entity is locked by the caller.
func (b *Broker) pump(e *entity) {
	for b.pumpSome(e) {
	}
}

// pumpSome moves some messages on and reports whether there are more.
func (b *Broker) pumpSome(e *entity) (more bool) {
	e.mu.Lock()
	names := [parts]string{e.queues[mainPart].destination(), e.queues[deadPart].destination()}
	e.mu.Unlock()
	var targets [parts]*entity
	involved := []*entity{e}
	for i, name := range names {
		if targets[i] = b.entity(name); targets[i] != nil {
			involved = append(involved, targets[i])
		}
	}
	all := b.lockTargets(involved)
	defer unlockAll(all)
	if e.deleted {
		return false
	}
	now, en := nowMilli(), b.entry()
	for i := range e.queues {
		q := &e.queues[i]
		if !q.goesOn() || q.destination() != names[i] {
			continue
		}
		for range pumpBatch {
			m := q.ready.Pop()
			if m == nil {
				break
			}
			m.state = gone
			e.goOn(m, targets[i], now, en)
		}
		more = more || q.ready.Len() > 0
		if targets[i] != nil {
			targets[i].serve(now, en)
		}
	}
	e.serve(now, en)
	b.commit(en)
	return more
}

// goOn moves one message to a target, or to the transfer dead-letter queue if that does not take it.
func (e *entity) goOn(m *message, target *entity, now int64, en *entry) {
	if e.is(TopicKind) && m.queue.part == mainPart {
		copied := m.clone()
		copied.seq = m.seq
		m.remove(en)
		e.fanOut(copied, now, en)
		return
	}
	if m.hops >= maxHops {
		e.moveTo(transferPart, m, causeHops, en)
		return
	}
	if target == nil {
		e.moveTo(transferPart, m, causeNowhere, en)
		return
	}
	moved := m.clone()
	moved.hops++
	if m.queue.part == deadPart && (m.extra == nil || m.extra.source == "") {
		moved.setSource(e.path)
	}
	properties := reparse(m.bare).Properties()
	in := []intake{{
		message: moved, id: amqp.IDString(properties.MessageID), session: properties.GroupID, hasSession: properties.HasGroupID,
		ttl: time.Duration(m.ttl) * time.Millisecond,
	}}
	if m.again {
		in[0].id = ""
	}
	if err := target.accepts(in, 0); err != nil {
		c := cause{reason: string(Condition(err)), description: err.Error()}
		if target.settings.RequiresSession && !properties.HasGroupID {
			c = causeSession
		}
		e.moveTo(transferPart, m, c, en)
		return
	}
	m.remove(en)
	target.admit(&in[0], now, en)
}
