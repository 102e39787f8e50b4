package broker

import (
	"slices"
	"time"
)

// A Source is a queue, a subscription or a sub-queue of dead letters to receive from.
type Source struct{ queue *queue }

// Path is the entity's path as it was created.
func (s *Source) Path() string { return s.queue.entity.pathOf(s.queue.part) }

// Peek returns up to most messages from a sequence number on, whatever state they are in, without locking them. A session
// that is not nil leaves only its messages.
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
	messages := make([]*message, 0, min(len(sequence), 1024))
	for i, seq := range sequence {
		m := q.shelf.Get(max(seq, 0))
		if m == nil || m.state != deferred || m.expired(now) || slices.Contains(sequence[:i], seq) ||
			q.bySession() && (session == nil || m.session.id != *session) {
			return nil, Receipt{}, errNoMessage(seq, "deferred")
		}
		messages = append(messages, m)
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
	en := e.broker.entry()
	e.accessed = nowMilli()
	for _, m := range chosen {
		m.remove(en)
	}
	return len(chosen), e.broker.commit(en), nil
}
