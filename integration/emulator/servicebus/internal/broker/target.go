package broker

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Target is a queue or topic to send to.
type Target struct{ entity *entity }

// Path is the entity's name as it was created.
func (t *Target) Path() string { return t.entity.path }

// MaxMessageSize is how many bytes a message may have.
func (t *Target) MaxMessageSize() int64 {
	t.entity.mu.Lock()
	defer t.entity.mu.Unlock()
	return t.entity.maxMessageSize()
}

func (e *entity) maxMessageSize() int64 {
	if limit := e.settings.MaxMessageSize; limit > 0 {
		return limit
	}
	return e.broker.config.MaxMessageSize
}

// Send takes messages in, all or none of them. A message with the annotation x-opt-scheduled-enqueue-time in the future
// waits until then. Under a transaction, txn, they are taken in with the commit; nil is none.
//
// The broker keeps the bytes of the messages but not the slice. It copies what it needs from a batch, so that the messages
// of one may share their memory.
func (t *Target) Send(messages []amqp.Message, txn *Txn) (Receipt, error) {
	_, receipt, err := t.send(messages, txn, nil)
	t.entity.broker.tally.count(sendOperation, len(messages), err)
	return receipt, err
}

// Schedule takes in messages that have the annotation x-opt-scheduled-enqueue-time, as Send does, and returns their sequence
// numbers. Under a transaction these are 0.
func (t *Target) Schedule(messages []amqp.Message, txn *Txn) ([]int64, Receipt, error) {
	numbers, receipt, err := t.send(messages, txn, make([]int64, 0, len(messages)))
	t.entity.broker.tally.count(sendOperation, len(messages), err)
	return numbers, receipt, err
}

// send appends the sequence numbers to numbers unless that is nil.
func (t *Target) send(messages []amqp.Message, txn *Txn, numbers []int64) ([]int64, Receipt, error) {
	var one [1]intake
	intakes := one[:0]
	for _, m := range messages {
		in, err := newIntake(m, len(messages) == 1 && txn == nil)
		if err != nil {
			return nil, Receipt{}, err
		}
		intakes = append(intakes, in)
	}
	if txn != nil {
		for range intakes {
			numbers = append(numbers, 0)
		}
		return numbers, Receipt{}, txn.send(t.entity, intakes)
	}
	e := t.entity
	b := e.broker
	if all := e.lockForSend(); all == nil {
		defer e.unlock()
	} else {
		defer unlockAll(all)
	}
	if err := e.accepts(intakes, 0); err != nil {
		return nil, Receipt{}, err
	}
	now, en := nowMilli(), b.entry()
	e.accessed = now
	for i := range intakes {
		seq := e.admit(&intakes[i], now, en)
		if numbers != nil {
			numbers = append(numbers, seq)
		}
	}
	e.serve(now, en)
	return numbers, b.commit(en), nil
}

// lockForSend locks the entity, if it is a queue, and returns nil, or all that a topic needs.
func (e *entity) lockForSend() []*entity {
	if e.is(QueueKind) {
		e.mu.Lock()
		if e.is(QueueKind) {
			return nil
		}
		e.mu.Unlock() // it has become a topic
	}
	return e.broker.lockTargets([]*entity{e})
}

// accepts reports why an entity refuses messages, if so. pending is the size of messages that the entity is to store before them.
func (e *entity) accepts(intakes []intake, pending int64) error {
	if err := e.may(SendDisabled); err != nil {
		return err
	}
	size, limit := int64(0), e.maxMessageSize()
	for i := range intakes {
		in := &intakes[i]
		if n := in.message.size(); n > limit {
			return fail(MessageSizeExceeded, "The received message of %d bytes exceeds the limit of %d bytes.", n, limit)
		}
		if err := e.broker.config.Tier.allowsProperties(in); err != nil {
			return err
		}
		if e.settings.RequiresSession && !in.hasSession {
			return fail(NotAllowed, "The SessionId was not set on a message, and it cannot be sent to the entity '%s'. Entities that have "+
				"session support enabled can only receive messages that have the SessionId set to a valid value.", e.path)
		}
		size += in.message.size()
	}
	if quota := cmp.Or(e.settings.MaxSize, e.broker.config.Tier.entitySize()); quota > 0 && e.size+pending+size > quota {
		return fail(ResourceLimitExceeded, "The maximum entity size has been reached or exceeded for '%s': %d of %d bytes are in use.",
			e.path, e.size, quota)
	}
	return nil
}

// admit takes a message in and returns its number, or 0 for a duplicate. The subscriptions of a topic must be locked.
func (e *entity) admit(in *intake, now int64, en *entry) int64 {
	m := in.message
	if e.settings.DuplicateDetection && in.id != "" {
		if e.seen.Known(in.id, now) {
			return 0
		}
		e.seen.Remember(in.id, now)
		en.seen(e, in.id, now)
	}
	q := &e.queues[mainPart]
	if q.bySession() {
		m.session = e.session(in.session)
		m.session.messages++
	}
	if at := m.scheduledFor(now); at != 0 {
		m.live(in.ttl, 0, now)
		m.expires = 0
		e.seq++
		m.seq, m.enqueueSeq, m.enqueued, m.state, m.due = e.seq, e.seq, now, scheduled, at
		q.scheduled++
		q.add(m, en)
		e.messages.Fix(m)
		return m.seq
	}
	m.live(in.ttl, e.settings.DefaultTTL, now)
	if e.is(TopicKind) {
		e.seq++
		en.sequence(e)
		m.seq, m.enqueued = e.seq, now
		if m.enqueueSeq == 0 {
			m.enqueueSeq = e.seq
		}
		e.fanOut(m, now, en)
		return m.seq
	}
	q.enqueue(m, now, en)
	return m.seq
}

// serve gives out what was admitted.
func (e *entity) serve(now int64, en *entry) {
	if !e.is(TopicKind) {
		e.queues[mainPart].dispatch(now, en)
		return
	}
	for _, s := range *e.subscriptions.Load() {
		s.dispatchAll(now, en)
	}
}

// Cancel removes scheduled messages, all or none of them. It fails with MessageNotFound.
func (t *Target) Cancel(sequence []int64) (Receipt, error) {
	e := t.entity
	if err := e.lock(); err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	messages := make([]*message, 0, min(len(sequence), 1024))
	for i, seq := range sequence {
		m := e.queues[mainPart].shelf.Get(max(seq, 0))
		if m == nil || m.state != scheduled || slices.Contains(sequence[:i], seq) {
			return Receipt{}, errNoMessage(seq, "scheduled")
		}
		messages = append(messages, m)
	}
	en := e.broker.entry()
	e.accessed = nowMilli()
	for _, m := range messages {
		m.remove(en)
	}
	return e.broker.commit(en), nil
}

func ttlOf(m *message) time.Duration { return time.Duration(m.ttl) * time.Millisecond }
