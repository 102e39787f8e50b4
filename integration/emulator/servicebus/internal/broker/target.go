package broker

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"math"
	"time"
	"unicode/utf16"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Target is a queue or topic to send to.
type Target struct{ entity *entity }

// Path is the entity's name as it was created.
func (t *Target) Path() string { return t.entity.path }

// MaxMessageSize is the maximum size of a message in bytes.
func (t *Target) MaxMessageSize() int64 {
	t.entity.mu.Lock()
	defer t.entity.mu.Unlock()
	return t.entity.maxMessageSize()
}

func (e *entity) maxMessageSize() int64 {
	return cmp.Or(e.settings.MaxMessageSize, e.broker.config.MaxMessageSize)
}

// Send accepts all messages or none. A message with the annotation x-opt-scheduled-enqueue-time in the future waits
// until that time. With a transaction, txn, they are accepted at the commit.
//
// The broker keeps the bytes of the messages but not the slice. It copies the needed parts of a batch, so that the
// messages of a batch may share memory.
func (t *Target) Send(messages []amqp.Message, txn *Txn) (Receipt, error) {
	_, receipt, err := t.send(messages, txn, nil)
	t.entity.broker.tally.count(sendOperation, len(messages), err)
	return receipt, err
}

// Schedule accepts messages with the annotation x-opt-scheduled-enqueue-time, as Send does, and returns their sequence
// numbers. In a transaction these are 0.
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

// accepts returns an error if the entity refuses messages. pending is the size of messages that the entity stores before them.
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
	if quota := cmp.Or(e.settings.MaxSize, e.broker.limits.entity); quota > 0 && e.size+pending+size > quota {
		return fail(ResourceLimitExceeded, "The maximum entity size has been reached or exceeded for '%s': %d of %d bytes are in use.",
			e.path, e.size, quota)
	}
	return nil
}

// admit accepts a message and returns its number, or 0 for a duplicate. The subscriptions of a topic must be locked.
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
		m.enqueueSeq = cmp.Or(m.enqueueSeq, e.seq)
		e.fanOut(m, now, en)
		return m.seq
	}
	q.enqueue(m, now, en)
	return m.seq
}

// serve delivers the admitted messages.
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
	messages, err := e.queues[mainPart].pick(sequence, scheduled, func(*message) bool { return true })
	if err != nil {
		return Receipt{}, err
	}
	return e.removeAll(messages), nil
}

func ttlOf(m *message) time.Duration { return time.Duration(m.ttl) * time.Millisecond }

// maxID is the maximum length of message ids, session ids and partition keys in UTF-16 code units, which .NET, and so
// the service, counts as characters. A character beyond the basic plane, such as an emoji, counts as two.
const maxID = 128

// tooLong reports whether an id or key is longer than maxID.
func tooLong(id string) bool {
	if len(id) <= maxID { // no character has more code units than bytes
		return false
	}
	units := 0
	for _, r := range id {
		units += utf16.RuneLen(r) // invalid UTF-8 counts as U+FFFD
	}
	return units > maxID
}

// An intake is an incoming message.
type intake struct {
	message    *message
	id         string // for duplicate detection
	session    string
	hasSession bool
	ttl        time.Duration
	properties int // bytes without the body
	largest    int // bytes of the largest property, if it may exceed the limit
}

// newIntake parses a message. alone allows the broker to keep the message's memory.
func newIntake(m amqp.Message, alone bool) (intake, error) {
	properties := m.Properties()
	in := intake{
		id: amqp.IDString(properties.MessageID), session: properties.GroupID, hasSession: properties.HasGroupID,
		message: &message{},
	}
	annotations := m.MessageAnnotations()
	partition, _ := annotations.Get(keyPartition).(string)
	if tooLong(in.id) || tooLong(in.session) || tooLong(partition) {
		return in, fail(InvalidField, "The length of a message id, session id or partition key is more than %d characters.", maxID)
	}
	header := m.Header()
	in.ttl = header.TTL
	in.message.header = header.Priority &^ durable
	if header.Durable {
		in.message.header |= durable
	}
	if properties.MessageID == nil {
		in.id = newID()
		properties.MessageID = in.id
		m, _ = amqp.ParseMessage(m.Edit(nil, amqp.Edit{Properties: &properties})) // editing a parsed message cannot fail
		alone = true
	}
	in.message.payload = m.Bare()
	if !alone || cap(in.message.payload) > 2*len(in.message.payload) {
		in.message.payload = bytes.Clone(in.message.payload)
	}
	in.properties, in.largest = propertiesOf(m)
	in.message.extra = extraOf(annotations, m.DeliveryAnnotations())
	return in, nil
}

// newID returns an id for a message without one.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// extraOf keeps the annotations of the sender.
func extraOf(annotations, delivery amqp.Map) *extra {
	if len(annotations)+len(delivery) == 0 {
		return nil
	}
	x := extra{}
	x.annotations, x.pairs = foreign(annotations)
	x.delivery, x.deliveryPairs = foreign(delivery)
	if x.pairs+x.deliveryPairs == 0 {
		return nil
	}
	if at, ok := annotations.Get(keyScheduled).(time.Time); ok {
		x.scheduled = at.UnixMilli()
	}
	return &x
}

// foreign encodes the annotations that are not the broker's.
func foreign(annotations amqp.Map) (encoded []byte, pairs int) {
	for _, pair := range annotations {
		key, _ := pair.Key.(amqp.Symbol)
		if key == "" || ownKeys[string(key)] {
			continue
		}
		encoded = amqp.Append(amqp.Append(encoded, key), pair.Value)
		pairs++
	}
	return encoded, pairs
}

// scheduledFor returns the scheduled enqueue time of a message, or 0 for now.
func (m *message) scheduledFor(now int64) int64 {
	if m.extra == nil || m.extra.scheduled <= now {
		return 0
	}
	return m.extra.scheduled
}

// live sets the message's expiry from its own time to live, up to the entity's limit.
func (m *message) live(ttl, limit time.Duration, now int64) {
	if limit > 0 && (ttl == 0 || ttl > limit) {
		ttl = limit
	}
	m.ttl, m.expires = uint32(min(ttl.Milliseconds(), math.MaxUint32)), 0
	if ttl > 0 {
		m.expires = now + max(ttl.Milliseconds(), 1)
	}
}
