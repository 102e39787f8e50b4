package broker

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// A queue is one of an entity's queues.
type queue struct {
	entity    *entity
	part      part
	shelf     index.Shelf[*message]
	ready     index.Lineup[*message] // without sessions
	scheduled int
	deferred  int
	hungry    []*Receiver // with credit and room, in the order of their turns
}

// bySession says that messages of a queue belong to sessions.
func (q *queue) bySession() bool { return q.part == mainPart && q.entity.settings.RequiresSession }

// destination is where the messages of a queue go on to, or "".
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

// goesOn says that ready messages do not stay.
func (q *queue) goesOn() bool {
	return q.part == mainPart && q.entity.is(TopicKind) || q.destination() != ""
}

// add puts a message in a queue. Its place there is up to the caller.
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
	if m.enqueueSeq == 0 {
		m.enqueueSeq = m.seq
	}
	q.add(m, en)
	q.stand(m, en)
}

// stand has a message stand among those that are ready.
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
	if m.session == nil {
		q.ready.Push(m)
		return
	}
	m.session.ready.Push(m)
	e.offer(m.session, en)
}

// lineup is where a message stands when it is ready.
func (m *message) lineup() *index.Lineup[*message] {
	if m.session != nil {
		return &m.session.ready
	}
	return &m.queue.ready
}

// leave takes a message out of its state. The caller gives it another.
func (m *message) leave() {
	e := m.queue.entity
	switch m.state {
	case ready:
		m.state = gone
		m.lineup().Drop()
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
	m.bare, m.extra, m.session = nil, nil, nil
}
