package broker

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// An Outcome settles a received message.
type Outcome struct {
	Kind OutcomeKind
	// Reason and Description explain a dead letter; unless empty, they become the application properties
	// DeadLetterReason and DeadLetterErrorDescription.
	Reason      string
	Description string
	// Properties are application properties to set.
	Properties amqp.Map
}

// An OutcomeKind is a kind of settlement.
type OutcomeKind uint8

// The outcomes.
const (
	Complete       OutcomeKind = iota // deletes the message
	Abandon                           // releases it and counts the delivery
	Release                           // releases it without counting the delivery
	Defer                             // keeps it for ReceiveDeferred
	MoveDeadLetter                    // makes it a dead letter
)

// find returns the message locked under a token.
func (q *queue) find(token amqp.UUID, now int64) (*message, error) {
	nonce := binary.LittleEndian.Uint64(token[:8])
	seq := int64(binary.LittleEndian.Uint64(token[8:]) ^ q.entity.broker.salt)
	if seq <= 0 {
		return nil, errLockLost()
	}
	m := q.shelf.Get(seq)
	if m == nil || m.state != locked || m.nonce != nonce || m.lockedUntil <= now {
		return nil, errLockLost()
	}
	return m, nil
}

// Locked returns the message locked under a token. It fails with MessageLockLost.
func (s *Source) Locked(token amqp.UUID) (Delivery, error) {
	e := s.queue.entity
	if err := e.lock(); err != nil {
		return Delivery{}, err
	}
	defer e.unlock()
	m, err := s.queue.find(token, nowMilli())
	if err != nil {
		return Delivery{}, err
	}
	return m.delivery(nil), nil
}

// Settle ends the lock of a message with an outcome. It fails with MessageLockLost. With a transaction, txn, it takes
// effect at the commit.
func (s *Source) Settle(token amqp.UUID, outcome Outcome, txn *Txn) (Receipt, error) {
	receipt, err := s.settle(token, outcome, txn)
	s.queue.entity.broker.tally.count(settleOperations+operation(outcome.Kind), 1, err)
	return receipt, err
}

func (s *Source) settle(token amqp.UUID, outcome Outcome, txn *Txn) (Receipt, error) {
	q := s.queue
	e := q.entity
	if err := e.lock(); err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	now := nowMilli()
	m, err := q.find(token, now)
	if err != nil {
		return Receipt{}, err
	}
	if err := q.allows(outcome); err != nil {
		return Receipt{}, err
	}
	if m.txn != nil {
		return Receipt{}, fail(NotAllowed, "The message is settled by a transaction that has not ended.")
	}
	if txn != nil {
		return Receipt{}, txn.settle(m, outcome)
	}
	en := e.broker.entry()
	e.settle(m, outcome, now, en)
	e.accessed = now
	return e.broker.commit(en), nil
}

// allows reports whether an outcome is possible in a queue.
func (q *queue) allows(outcome Outcome) error {
	if outcome.Kind == MoveDeadLetter && q.part != mainPart {
		return fail(NotAllowed, "A message of a dead-letter queue cannot be dead-lettered.")
	}
	return nil
}

// settle applies an outcome.
func (e *entity) settle(m *message, outcome Outcome, now int64, en *entry) {
	q := m.queue
	if outcome.Kind == Complete {
		m.remove(en)
		return
	}
	if outcome.Kind == MoveDeadLetter {
		e.deadLetter(m, cause{outcome.Reason, outcome.Description, outcome.Properties}, en)
		return
	}
	m.leave()
	if outcome.Kind == Abandon {
		m.fail()
	}
	if outcome.Kind == Defer {
		m.park()
	}
	if len(outcome.Properties) > 0 {
		e.size -= m.size()
		m.annotate(outcome.Properties)
		e.size += m.size()
		en.store(m)
	} else if outcome.Kind != Release {
		en.count(m)
	}
	if outcome.Kind != Defer {
		e.giveBack(m, en)
		q.dispatchFor(m, now, en)
	}
}

// fail counts a failed delivery. The service does not count deliveries of dead letters.
func (m *message) fail() {
	if m.queue.part == mainPart {
		m.count++
	}
}

// renew extends the lock of a message.
func (m *message) renew(now int64) {
	e := m.queue.entity
	m.lockedUntil = now + e.settings.LockDuration.Milliseconds()
	m.due = m.lockedUntil
	e.messages.Fix(m)
}

// Renew extends the lock of a message and returns its new end. It fails with MessageLockLost.
func (s *Source) Renew(token amqp.UUID) (time.Time, error) {
	e := s.queue.entity
	if err := e.lock(); err != nil {
		return time.Time{}, err
	}
	defer e.unlock()
	now := nowMilli()
	m, err := s.queue.find(token, now)
	if err != nil {
		return time.Time{}, err
	}
	if m.session != nil {
		return time.Time{}, fail(NotAllowed, "The message belongs to a session: renew the lock of that.")
	}
	m.renew(now)
	e.accessed = now
	return time.UnixMilli(m.lockedUntil).UTC(), nil
}

// A cause is the reason for dead-lettering a message, with its properties.
type cause struct {
	reason, description string
	properties          amqp.Map
}

// Causes that Service Bus itself sets.
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
		set = append(set, amqp.Pair{Key: ReasonKey, Value: c.reason})
	}
	if c.description != "" {
		set = append(set, amqp.Pair{Key: DescriptionKey, Value: c.description})
	}
	m.annotate(set)
}

// deadLetter dead-letters a message in its entity. Its number is unchanged.
func (e *entity) deadLetter(m *message, c cause, en *entry) {
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

// expire ends a message whose time to live has passed.
func (e *entity) expire(m *message, en *entry) {
	if e.settings.DeadLetterOnExpiration {
		e.deadLetter(m, causeExpired, en)
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
	// maxHops is the maximum number of times that a message is forwarded.
	maxHops = 4
	// pumpBatch is the number of messages that are forwarded together.
	pumpBatch = 256
)

// pump forwards messages: all messages of a queue that forwards, and due scheduled messages of a topic. The caller
// holds no lock of an entity.
func (b *Broker) pump(e *entity) {
	for b.pumpSome(e) {
	}
}

// pumpSome forwards some messages and reports whether more wait.
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
			m := (*message)(q.ready.Peek())
			if m == nil {
				break
			}
			m.leave()
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

// goOn moves one message to a target, or to the transfer dead-letter queue if the target refuses it.
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
	properties := reparse(m.payload).Properties()
	in := []intake{{
		message: moved, id: amqp.IDString(properties.MessageID), session: properties.GroupID, hasSession: properties.HasGroupID,
		ttl: time.Duration(m.ttl) * time.Millisecond,
	}}
	if m.skipDedup {
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
