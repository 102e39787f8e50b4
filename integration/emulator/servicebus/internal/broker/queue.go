package broker

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// A queue is one of an entity's queues.
type queue struct {
	entity    *entity
	part      part
	shelf     index.Shelf[*message]
	ready     index.Heap[*turn] // without sessions
	scheduled int
	deferred  int
	hungry    []*Receiver // with credit and room, in the order of their turns
}

// bySession states that the queue requires sessions.
func (q *queue) bySession() bool { return q.part == mainPart && q.entity.settings.RequiresSession }

// destination is the forwarding target of a queue, or "".
func (q *queue) destination() string {
	switch q.part {
	case mainPart:
		return TargetName(q.entity.settings.ForwardTo)
	case deadPart:
		return TargetName(q.entity.settings.ForwardDeadLettersTo)
	default:
		return ""
	}
}

// goesOn reports whether ready messages move on: to subscriptions, or to the destination of a forward.
func (q *queue) goesOn() bool {
	return q.part == mainPart && q.entity.is(TopicKind) || q.destination() != ""
}

// add puts a message into a queue. The caller chooses its position.
func (q *queue) add(m *message, en *entry) {
	m.queue = q
	q.shelf.Put(m)
	q.entity.size += m.size()
	en.store(m)
}

// enqueue gives a message a number and has it ready.
func (q *queue) enqueue(m *message, now int64, en *entry) {
	e := q.entity
	e.seq++
	m.seq, m.enqueued = e.seq, now
	m.enqueueSeq = cmp.Or(m.enqueueSeq, m.seq)
	q.add(m, en)
	q.stand(m, en)
}

// stand adds a message to the ready messages.
func (q *queue) stand(m *message, en *entry) {
	e := q.entity
	if q.goesOn() {
		e.pending = true
	}
	m.due = 0
	if q.part == mainPart && !e.is(TopicKind) {
		m.due = m.expires
	}
	if m.due != 0 || m.index != 0 {
		e.messages.Fix(m)
	}
	m.state = ready
	m.fixTurn()
	if m.session != nil {
		e.offer(m.session, en)
	}
}

// fixTurn adds a ready message to the heap of its queue or session, or removes a message in any other state.
func (m *message) fixTurn() {
	if m.session != nil {
		m.session.ready.Fix((*turn)(m))
	} else {
		m.queue.ready.Fix((*turn)(m))
	}
}

// leave takes a message out of its state. The caller gives it another.
func (m *message) leave() {
	e := m.queue.entity
	switch m.state {
	case ready:
		m.state = gone
		m.fixTurn()
	case locked:
		m.unhold()
	case scheduled:
		m.queue.scheduled--
	case deferred:
		m.queue.deferred--
	case gone:
	}
	m.state = gone
	if m.index != 0 {
		m.due = 0
		e.messages.Fix(m)
	}
}

// remove takes a message out of its entity.
func (m *message) remove(en *entry) {
	m.leave()
	q := m.queue
	q.shelf.Remove(m)
	q.entity.size -= m.size()
	en.remove(m)
	if m.session != nil {
		m.session.messages--
		q.entity.tidySession(m.session)
	}
	m.payload, m.extra, m.session = nil, nil, nil
}

// removeAll takes messages out of the entity, which is locked.
func (e *entity) removeAll(messages []*message) Receipt {
	en := e.broker.entry()
	e.accessed = nowMilli()
	for _, m := range messages {
		m.remove(en)
	}
	return e.broker.commit(en)
}

// pick returns the messages of sequence numbers that are in a state and fit, all of them or MessageNotFound.
func (q *queue) pick(sequence []int64, in state, fits func(*message) bool) ([]*message, error) {
	messages := make([]*message, 0, min(len(sequence), 1024))
	for i, seq := range sequence {
		m := q.shelf.Get(max(seq, 0))
		if m == nil || m.state != in || slices.Contains(sequence[:i], seq) || !fits(m) {
			return nil, errNoMessage(seq, map[state]string{deferred: "deferred", scheduled: "scheduled"}[in])
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// newNonce is where an entity begins to number its locks, so that a token of another entity or process fits none.
func newNonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// nonceStep is odd, and so leads through all numbers.
const nonceStep = 0x9e3779b97f4a7c15

// dispatch gives ready messages to receivers with credit, in turn.
func (q *queue) dispatch(now int64, en *entry) {
	if q.goesOn() {
		return
	}
	for len(q.hungry) > 0 {
		m := q.entity.firstLive(&q.ready, now, en)
		if m == nil {
			return
		}
		r := q.hungry[0]
		if len(q.hungry) > 1 {
			copy(q.hungry, q.hungry[1:])
			q.hungry[len(q.hungry)-1] = r
		}
		r.give(m, now)
	}
}

// dispatch gives the messages of a session to its receiver.
func (s *session) dispatch(now int64, en *entry) {
	r := s.receiver()
	for r != nil && r.hungry {
		m := r.source.queue.entity.firstLive(&s.ready, now, en)
		if m == nil {
			return
		}
		r.give(m, now)
	}
}

// firstLive returns the first ready message that has not expired, or nil. It ends expired ones.
func (e *entity) firstLive(ready *index.Heap[*turn], now int64, en *entry) *message {
	for {
		m := (*message)(ready.Peek())
		if m == nil || !m.expired(now) {
			return m
		}
		e.expire(m, en)
	}
}

// give locks a message for the receiver.
func (r *Receiver) give(m *message, now int64) {
	m.hold(r, now)
	r.mailbox = append(r.mailbox, m)
	r.setHungry()
	if r.waiting {
		r.waiting = false
		r.config.Wake()
	}
}

// hold locks a message, for a receiver or without one.
func (m *message) hold(r *Receiver, now int64) {
	e := m.queue.entity
	e.nonce += nonceStep
	m.state, m.holder, m.nonce, m.fetched = locked, r, e.nonce, r == nil
	m.fixTurn()
	if m.session == nil {
		m.lockedUntil = now + e.settings.LockDuration.Milliseconds()
		m.due = m.lockedUntil
		e.messages.Fix(m)
		return
	}
	if m.index != 0 {
		m.due = 0
		e.messages.Fix(m)
	}
	m.lockedUntil = m.session.lockedUntil
	m.session.locked = append(m.session.locked, m)
	m.index = int32(len(m.session.locked))
}

// unhold ends the lock of a message.
func (m *message) unhold() {
	if s := m.session; s != nil {
		last := len(s.locked) - 1
		at := m.index - 1
		s.locked[at] = s.locked[last]
		s.locked[at].index = at + 1
		s.locked[last] = nil
		s.locked = s.locked[:last]
		m.index = 0
	}
	if r := m.holder; r != nil && !m.fetched {
		if i := slices.Index(r.mailbox, m); i >= 0 {
			r.mailbox = slices.Delete(r.mailbox, i, i+1)
			r.setHungry()
		}
	}
	m.holder, m.nonce, m.lockedUntil, m.txn = nil, 0, 0, nil
}

// loseLock ends an expired lock.
func (e *entity) loseLock(m *message, now int64, en *entry) {
	e.endLock(m, true, en)
	m.queue.dispatchFor(m, now, en)
}

// endLock has a locked message ready again. A lost lock counts as a delivery if the receiver had fetched the message.
func (e *entity) endLock(m *message, lost bool, en *entry) {
	delivered := m.fetched
	m.leave()
	if lost && delivered {
		m.fail()
		en.count(m)
	}
	e.giveBack(m, en)
}

// giveBack has a message that was locked ready again, or makes it a dead letter if it has been delivered too often.
func (e *entity) giveBack(m *message, en *entry) {
	if limit := e.settings.MaxDeliveryCount; m.queue.part == mainPart && int(m.count) >= limit {
		e.deadLetter(m, maxDeliveryCount(limit), en)
		return
	}
	if m.wasDeferred {
		m.park()
		return
	}
	m.queue.stand(m, en)
}

// park stores a message until a receiver requests it by number.
func (m *message) park() {
	m.state, m.wasDeferred = deferred, true
	m.queue.deferred++
	if m.due = m.expires; m.due != 0 && m.queue.part == mainPart {
		m.queue.entity.messages.Fix(m)
	}
}

// dispatchFor delivers a message that may have become ready.
func (q *queue) dispatchFor(m *message, now int64, en *entry) {
	if m.session != nil {
		m.session.dispatch(now, en)
		return
	}
	q.dispatch(now, en)
}

// setHungry puts the receiver among those who get messages, or takes it out.
func (r *Receiver) setHungry() {
	hungry := r.err == nil && !r.closed && len(r.mailbox) < mailboxSize && uint64(len(r.mailbox)) < uint64(r.credit)
	if hungry == r.hungry {
		return
	}
	r.hungry = hungry
	if r.config.Session != nil {
		return
	}
	q := r.source.queue
	if hungry {
		q.hungry = append(q.hungry, r)
	} else if i := slices.Index(q.hungry, r); i >= 0 {
		q.hungry = slices.Delete(q.hungry, i, i+1)
	}
}

// feed delivers messages to the receiver, up to its credit.
func (r *Receiver) feed(now int64, en *entry) {
	if r.config.Session != nil {
		r.config.Session.state.dispatch(now, en)
	} else {
		r.source.queue.dispatch(now, en)
	}
}

func nowMilli() int64 { return time.Now().UnixMilli() }
