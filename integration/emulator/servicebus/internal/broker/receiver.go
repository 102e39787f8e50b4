package broker

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Mode is the way in which messages are received.
type Mode uint8

// The modes.
const (
	PeekLock Mode = iota
	ReceiveAndDelete
)

// ReceiverConfig configures a receiver.
type ReceiverConfig struct {
	Mode Mode
	// Session is the session whose messages are wanted, of the same source. Default: none.
	Session *Session
	// Wake is called when Next has something after it had nothing, or Err has an error. It must neither block nor call the
	// broker: it is called with locks held. Required.
	Wake func()
}

// mailboxSize limits the messages that are assigned to a receiver and not yet fetched.
const mailboxSize = 64

// A Receiver gets messages as long as it has credit. Its fields are guarded by the mutex of the entity.
type Receiver struct {
	source  *Source
	config  ReceiverConfig
	credit  uint32
	mailbox []*message // given and not fetched
	hungry  bool       // has credit and room
	waiting bool       // Next had nothing
	closed  bool
	err     error
}

// A Source is a queue, a subscription or a sub-queue of dead letters to receive from.
type Source struct{ queue *queue }

// Receive makes a receiver. It fails with NotAllowed if the entity requires a session and config has none, and with
// EntityDisabled.
func (s *Source) Receive(config ReceiverConfig) (*Receiver, error) {
	e := s.queue.entity
	if err := e.lock(); err != nil {
		return nil, err
	}
	defer e.unlock()
	switch {
	case s.queue.bySession() && config.Session == nil:
		return nil, fail(NotAllowed, "It is not possible for an entity that requires sessions to create a non-sessionful message receiver.")
	case s.queue.destination() != "":
		return nil, fail(NotAllowed, "Cannot create a message receiver on '%s', an entity with auto-forwarding enabled.", s.Path())
	}
	if err := e.may(ReceiveDisabled); err != nil {
		return nil, err
	}
	r := &Receiver{source: s, config: config, waiting: true}
	if session := config.Session; session != nil {
		if session.state.holder != session {
			return nil, errSessionLockLost(session.state.id)
		}
		session.receiver = r
	}
	e.receivers = append(e.receivers, r)
	e.accessed = nowMilli()
	return r, nil
}

// SetCredit sets the number of messages that Next may still return, including those already waiting for it.
func (r *Receiver) SetCredit(credit uint32) {
	e := r.source.queue.entity
	e.mu.Lock()
	defer e.unlock()
	if r.closed || r.err != nil {
		return
	}
	now, en := nowMilli(), e.broker.entry()
	r.credit = credit
	for uint64(len(r.mailbox)) > uint64(credit) {
		e.returnLast(r, en)
	}
	r.setHungry()
	r.feed(now, en)
	e.broker.commit(en)
}

// returnLast takes the last message back from a mailbox.
func (e *entity) returnLast(r *Receiver, en *entry) {
	m := r.mailbox[len(r.mailbox)-1]
	m.leave()
	m.queue.stand(m, en)
}

// Next returns the next message and uses one credit. It returns false if the receiver has no message at the moment,
// which answers a drain; Wake is called when that changes. The payload is written to the start of buf, as far as it
// fits.
func (r *Receiver) Next(buf []byte) (Delivery, bool) {
	e := r.source.queue.entity
	e.mu.Lock()
	defer e.unlock()
	if len(r.mailbox) == 0 {
		r.waiting = true
		return Delivery{}, false
	}
	now := nowMilli()
	m := r.mailbox[0]
	copy(r.mailbox, r.mailbox[1:])
	r.mailbox[len(r.mailbox)-1] = nil
	r.mailbox = r.mailbox[:len(r.mailbox)-1]
	r.credit--
	m.fetched = true
	e.accessed = now
	e.broker.tally.count(receiveOperation, 1, nil)
	var d Delivery
	if r.config.Mode == ReceiveAndDelete {
		d = Delivery{Payload: m.appendDelivery(buf[:0], ready), Sequence: m.seq}
		en := e.broker.entry()
		m.remove(en)
		e.broker.commit(en)
	} else {
		if m.session == nil && m.lockedUntil-now < e.settings.LockDuration.Milliseconds()-1000 {
			m.renew(now) // it has waited
		}
		d = m.delivery(buf)
	}
	if wasHungry := r.hungry; !wasHungry {
		r.setHungry()
		if r.hungry {
			en := e.broker.entry()
			r.feed(now, en)
			e.broker.commit(en)
		}
	}
	return d, true
}

// delivery is a locked message for its receiver.
func (m *message) delivery(buf []byte) Delivery {
	return Delivery{
		Payload:     m.appendDelivery(buf[:0], locked),
		Token:       m.token(m.queue.entity.broker.salt),
		LockedUntil: time.UnixMilli(m.lockedUntil).UTC(),
		Sequence:    m.seq,
	}
}

// Err says why there will never be a message again: the entity was deleted (NotFound) or disabled (EntityDisabled), or the
// session's lock was lost (SessionLockLost). It is nil before.
func (r *Receiver) Err() error {
	e := r.source.queue.entity
	e.mu.Lock()
	defer e.mu.Unlock()
	return r.err
}

// Close releases the messages that were not fetched. Fetched messages stay locked, unless the session ends with the
// receiver. It closes the session too.
func (r *Receiver) Close() {
	e := r.source.queue.entity
	e.mu.Lock()
	defer e.unlock()
	if r.closed {
		return
	}
	r.closed = true
	now, en := nowMilli(), e.broker.entry()
	r.detach(nil, en)
	if s := r.config.Session; s != nil && s.state.holder == s {
		e.endSession(s.state, false, en)
	}
	if !e.deleted {
		e.accessed = now
		r.source.queue.dispatch(now, en)
	}
	e.broker.commit(en)
}

// detach ends the receiver's use of the entity, with an error unless the receiver closes itself.
func (r *Receiver) detach(err error, en *entry) {
	e := r.source.queue.entity
	if r.err == nil {
		r.err = err
	}
	for len(r.mailbox) > 0 {
		e.returnLast(r, en)
	}
	r.setHungry()
	if i := slices.Index(e.receivers, r); i >= 0 {
		e.receivers = slices.Delete(e.receivers, i, i+1)
	}
	if err != nil && !r.closed {
		r.config.Wake()
	}
}

// A Delivery is a message for a receiver.
type Delivery struct {
	// Payload is the message with the annotations of the broker.
	Payload []byte
	// Token is what settles the message; zero if nothing does.
	Token       amqp.UUID
	LockedUntil time.Time // zero if not locked
	Sequence    int64
}

// Path is the entity's path as it was created.
func (s *Source) Path() string { return s.queue.entity.pathOf(s.queue.part) }

// Peek returns up to most messages from a sequence number on, in any state, without locking them. A session that is not
// nil selects its messages.
func (s *Source) Peek(from int64, most int, session *string) ([]Delivery, error) {
	q := s.queue
	e := q.entity
	if err := e.lock(); err != nil {
		return nil, err
	}
	defer e.unlock()
	e.accessed = nowMilli()
	var found []Delivery
	q.shelf.Ascend(max(from, 0), func(m *message) bool {
		if len(found) >= most {
			return false
		}
		if session != nil && (m.session == nil || m.session.id != *session) || m.expired(e.accessed) && m.state != locked {
			return true
		}
		shown := m.state
		if shown == locked {
			shown = ready
		}
		found = append(found, Delivery{Payload: m.appendDelivery(nil, shown), Sequence: m.seq})
		return true
	})
	return found, nil
}

// ReceiveDeferred returns deferred messages, locked or, with mode ReceiveAndDelete, deleted. It returns all or fails with
// MessageNotFound. A session that is not nil must be locked and have the messages.
func (s *Source) ReceiveDeferred(sequence []int64, mode Mode, session *string) ([]Delivery, Receipt, error) {
	q := s.queue
	e := q.entity
	if err := e.lock(); err != nil {
		return nil, Receipt{}, err
	}
	defer e.unlock()
	if err := e.may(ReceiveDisabled); err != nil {
		return nil, Receipt{}, err
	}
	if session != nil && q.bySession() {
		if _, err := e.lockedSession(*session); err != nil {
			return nil, Receipt{}, err
		}
	}
	now := nowMilli()
	messages, err := q.pick(sequence, deferred, func(m *message) bool {
		return !m.expired(now) && (!q.bySession() || session != nil && m.session.id == *session)
	})
	if err != nil {
		return nil, Receipt{}, err
	}
	en := e.broker.entry()
	e.accessed = now
	deliveries := make([]Delivery, 0, len(messages))
	for _, m := range messages {
		if mode == ReceiveAndDelete {
			deliveries = append(deliveries, Delivery{Payload: m.appendDelivery(nil, deferred), Sequence: m.seq})
			m.remove(en)
			continue
		}
		m.leave()
		m.hold(nil, now)
		deliveries = append(deliveries, m.delivery(nil))
	}
	return deliveries, e.broker.commit(en), nil
}

// Delete removes up to most available messages, neither locked nor deferred nor scheduled, that were enqueued before a time (zero for
// any). It returns their number.
func (s *Source) Delete(most int, before time.Time) (int, Receipt, error) {
	q := s.queue
	e := q.entity
	if err := e.lock(); err != nil {
		return 0, Receipt{}, err
	}
	defer e.unlock()
	var chosen []*message
	q.shelf.Ascend(0, func(m *message) bool {
		if m.state == ready && m.txn == nil && (before.IsZero() || m.enqueued < before.UnixMilli()) {
			chosen = append(chosen, m)
		}
		return len(chosen) < most
	})
	return len(chosen), e.removeAll(chosen), nil
}
