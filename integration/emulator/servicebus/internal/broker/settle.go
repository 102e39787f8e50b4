package broker

import (
	"encoding/binary"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// An Outcome says what becomes of a message that was received.
type Outcome struct {
	Kind OutcomeKind
	// Reason and Description say why a message is a dead letter; they become the application properties DeadLetterReason and
	// DeadLetterErrorDescription if they are not empty.
	Reason      string
	Description string
	// Properties are application properties to set.
	Properties amqp.Map
}

// An OutcomeKind is one of what may become of a message.
type OutcomeKind uint8

// The outcomes.
const (
	Complete       OutcomeKind = iota // deletes the message
	Abandon                           // gives it back and counts the delivery
	Release                           // gives it back as if it had not been delivered
	Defer                             // keeps it for ReceiveDeferred
	MoveDeadLetter                    // makes it a dead letter
)

// find returns the message that a token has locked.
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

// Locked returns the message that a token has locked. It fails with MessageLockLost.
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

// Settle ends the lock of a message with an outcome. It fails with MessageLockLost. Under a transaction, txn, that happens
// with the commit; nil is none.
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

// settle carries out an outcome.
func (e *entity) settle(m *message, outcome Outcome, now int64, en *entry) {
	q := m.queue
	if outcome.Kind == Complete {
		m.remove(en)
		return
	}
	if outcome.Kind == MoveDeadLetter {
		e.bury(m, cause{outcome.Reason, outcome.Description, outcome.Properties}, en)
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

// fail counts a delivery that failed. The service does not count those of dead letters, which keep the number they died with.
func (m *message) fail() {
	if m.queue.part == mainPart {
		m.count++
	}
}

// renew prolongs the lock of a message.
func (m *message) renew(now int64) {
	e := m.queue.entity
	m.lockedUntil = now + e.settings.LockDuration.Milliseconds()
	m.due = m.lockedUntil
	e.messages.Fix(m)
}

// Renew prolongs the lock of a message and returns until when. It fails with MessageLockLost.
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
