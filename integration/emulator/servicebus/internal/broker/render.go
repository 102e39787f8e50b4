package broker

import (
	"encoding/binary"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

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
	return append(dst, m.bare...)
}

// appendDeliveryAnnotations appends those of the sender and the token of the lock, as the service does.
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

// wireState is how a state is called in x-opt-message-state. A deferred message is one even while a receiver has it; one that is
// active has no such annotation.
func (m *message) wireState(shown state) byte {
	switch {
	case m.parked:
		return 1
	case shown == scheduled:
		return 2
	default:
		return 0
	}
}
