package broker

import (
	"encoding/binary"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A state is where a message is in its life.
type state uint8

const (
	ready state = iota
	locked
	deferred
	scheduled
	gone // settled, expired or moved
)

// A part is one of the queues that an entity has.
type part uint8

const (
	mainPart part = iota
	deadPart
	transferPart // dead letters that could not be forwarded
	parts
)

// A message is one in one queue. All times are in milliseconds since 1970.
type message struct {
	queue   *queue
	session *session  // nil without one
	holder  *Receiver // its receiver, if locked
	txn     *Txn      // which will settle it
	extra   *extra    // nil for none

	payload []byte // the sections after the annotations: properties, application properties, body and footer

	seq         int64
	enqueueSeq  int64 // of the entity it was first sent to
	enqueued    int64
	expires     int64 // 0 for never
	due         int64 // when the entity has to look at it; 0 for never
	lockedUntil int64
	nonce       uint64 // part of the token

	ttl         uint32 // milliseconds; 0 for none
	count       uint32 // of deliveries that failed
	index       int32  // in the heap, or with a session in its locked messages
	turn        int32  // in the heap of those that are ready
	state       state
	header      uint8 // priority, and durable in the highest bit
	hops        uint8
	fetched     bool // by its holder
	wasDeferred bool // has been deferred, and is again after a lock
	skipDedup   bool // was resubmitted, so that duplicate detection ignores it
}

// extra is what few messages have.
type extra struct {
	annotations   []byte // encoded keys and values
	pairs         int
	delivery      []byte // the same of delivery annotations
	deliveryPairs int
	source        string // the entity that dead-lettered it
	scheduled     int64  // its scheduled enqueue time
}

// expired reports whether the message has expired. Dead letters do not expire.
func (m *message) expired(now int64) bool {
	return m.expires != 0 && m.expires <= now && m.queue.part == mainPart
}

// Number, When and Place are for the indexes.
func (m *message) Number() int64 { return m.seq }
func (m *message) When() int64   { return m.due }
func (m *message) Place() *int32 { return &m.index }

// A turn is a message in a heap of ready messages, which is sorted by number.
type turn message

func (t *turn) When() int64 {
	if t.state != ready {
		return 0
	}
	return t.seq
}

func (t *turn) Place() *int32 { return &t.turn }

// size is the message's share of its entity's size.
func (m *message) size() int64 {
	size := len(m.payload)
	if m.extra != nil {
		size += len(m.extra.annotations) + len(m.extra.delivery)
	}
	return int64(size)
}

// token returns what settles the message while it is locked: where it is and which lock it is, both scrambled.
func (m *message) token(salt uint64) amqp.UUID {
	var token amqp.UUID
	putUint64(token[:8], m.nonce)
	putUint64(token[8:], uint64(m.seq)^salt)
	return token
}

// keyPartition is an annotation of the sender, which the broker does not change.
const keyPartition = "x-opt-partition-key"

// The annotations that the broker writes, and so does not take from a sender.
const (
	keySequence        = "x-opt-sequence-number"
	keyEnqueued        = "x-opt-enqueued-time"
	keyLockedUntil     = "x-opt-locked-until"
	keyEnqueueSequence = "x-opt-enqueue-sequence-number"
	keyState           = "x-opt-message-state"
	keyScheduled       = "x-opt-scheduled-enqueue-time"
	keySource          = "x-opt-deadletter-source"
	keyLock            = "x-opt-lock-token"
)

var ownKeys = map[string]bool{
	keySequence: true, keyEnqueued: true, keyLockedUntil: true, keyEnqueueSequence: true, keyState: true, keySource: true,
	keyLock: true,
}

// The properties that say why a message is a dead letter.
const (
	ReasonKey      = "DeadLetterReason"
	DescriptionKey = "DeadLetterErrorDescription"
)

// clone returns a copy that is in no queue.
func (m *message) clone() *message {
	c := *m
	c.queue, c.session, c.holder, c.txn = nil, nil, nil, nil
	c.due, c.lockedUntil, c.nonce, c.index, c.turn = 0, 0, 0, 0, 0
	c.state, c.fetched, c.wasDeferred = ready, false, false
	return &c
}

// annotate sets application properties.
func (m *message) annotate(set amqp.Map) {
	if len(set) == 0 {
		return
	}
	parsed, err := amqp.ParseMessage(m.payload)
	if err != nil {
		return // it was parsed when it came
	}
	properties := parsed.ApplicationProperties()
	for _, pair := range set {
		properties = properties.With(pair.Key, pair.Value)
	}
	m.payload = parsed.Edit(nil, amqp.Edit{ApplicationProperties: &properties})
}

// setSource records the entity that dead-lettered the message.
func (m *message) setSource(path string) {
	fresh := extra{}
	if m.extra != nil {
		fresh = *m.extra // others may share it
	}
	fresh.source = path
	m.extra = &fresh
}

func putUint64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// Format codes that the annotations need; [amqp.Append] would take an allocation for each value.
const (
	codeInt       = 0x71
	codeLong      = 0x81
	codeTimestamp = 0x83
	codeUUID      = 0x98
	codeSymbol    = 0xa3
	codeMap       = 0xd1
)

// appendDelivery appends the message as a receiver gets it.
func (m *message) appendDelivery(dst []byte, shown state) []byte {
	dst = amqp.AppendHeader(dst, amqp.Header{
		Durable:       m.header&durable != 0,
		Priority:      m.header &^ durable,
		TTL:           time.Duration(m.ttl) * time.Millisecond,
		DeliveryCount: m.count,
	})
	dst = m.appendDeliveryAnnotations(dst, shown)
	dst, mark := openAnnotations(dst, 0x72)
	pairs := 2
	dst = appendNumber(dst, keySequence, codeLong, m.seq)
	dst = appendNumber(dst, keyEnqueued, codeTimestamp, m.enqueued)
	if m.hops > 0 || m.queue != nil && m.queue.entity.topic != nil { // else it was sent to this entity
		pairs++
		dst = appendNumber(dst, keyEnqueueSequence, codeLong, m.enqueueSeq)
	}
	if state := m.wireState(shown); state != 0 {
		pairs++
		dst = append(appendKey(dst, keyState), codeInt, 0, 0, 0, state)
	}
	if shown == locked {
		pairs++
		dst = appendNumber(dst, keyLockedUntil, codeTimestamp, m.lockedUntil)
	}
	if m.extra != nil {
		if m.extra.source != "" {
			pairs++
			dst = amqp.Append(appendKey(dst, keySource), m.extra.source)
		}
		pairs += m.extra.pairs
		dst = append(dst, m.extra.annotations...)
	}
	closeAnnotations(dst, mark, pairs)
	return append(dst, m.payload...)
}

// appendDeliveryAnnotations appends the sender's delivery annotations and the lock token, as the service does.
func (m *message) appendDeliveryAnnotations(dst []byte, shown state) []byte {
	pairs := 0
	if m.extra != nil {
		pairs = m.extra.deliveryPairs
	}
	if pairs == 0 && shown != locked {
		return dst
	}
	dst, mark := openAnnotations(dst, 0x71)
	if shown == locked {
		pairs++
		token := m.token(m.queue.entity.broker.salt)
		dst = append(append(appendKey(dst, keyLock), codeUUID), token[:]...)
	}
	if m.extra != nil {
		dst = append(dst, m.extra.delivery...)
	}
	closeAnnotations(dst, mark, pairs)
	return dst
}

// openAnnotations appends the beginning of a section that is a map. closeAnnotations needs mark.
func openAnnotations(dst []byte, section byte) (begun []byte, mark int) {
	dst = append(dst, 0x00, 0x53, section, codeMap, 0, 0, 0, 0, 0, 0, 0, 0)
	return dst, len(dst) - 4
}

// closeAnnotations writes how long the section at a mark has become.
func closeAnnotations(dst []byte, mark, pairs int) {
	binary.BigEndian.PutUint32(dst[mark-4:], uint32(len(dst)-mark))
	binary.BigEndian.PutUint32(dst[mark:], uint32(2*pairs))
}

// durable is the bit of message.header.
const durable = 0x80

func appendKey(dst []byte, key string) []byte {
	return append(append(dst, codeSymbol, byte(len(key))), key...)
}

func appendNumber(dst []byte, key string, code byte, number int64) []byte {
	return binary.BigEndian.AppendUint64(append(appendKey(dst, key), code), uint64(number))
}

// wireState is the value of x-opt-message-state. A deferred message keeps its state while a receiver has it; an active
// message has no such annotation.
func (m *message) wireState(shown state) byte {
	switch {
	case m.wasDeferred:
		return 1
	case shown == scheduled:
		return 2
	default:
		return 0
	}
}
