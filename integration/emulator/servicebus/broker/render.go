package broker

import (
	"encoding/binary"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/amqp"
)

func putUint64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// Format codes that the annotations need; [amqp.Append] would take an allocation for each value.
const (
	codeInt       = 0x71
	codeLong      = 0x81
	codeTimestamp = 0x83
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
	dst = append(dst, 0x00, 0x53, 0x72, codeMap, 0, 0, 0, 0, 0, 0, 0, 0)
	mark, pairs := len(dst)-4, 4
	dst = appendNumber(dst, keySequence, codeLong, m.seq)
	dst = appendNumber(dst, keyEnqueued, codeTimestamp, m.enqueued)
	dst = appendNumber(dst, keyEnqueueSequence, codeLong, m.enqueueSeq)
	dst = append(appendKey(dst, keyState), codeInt, 0, 0, 0, wireState(shown))
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
	binary.BigEndian.PutUint32(dst[mark-4:], uint32(len(dst)-mark))
	binary.BigEndian.PutUint32(dst[mark:], uint32(2*pairs))
	return append(dst, m.bare...)
}

// durable is the bit of message.header.
const durable = 0x80

func appendKey(dst []byte, key string) []byte {
	return append(append(dst, codeSymbol, byte(len(key))), key...)
}

func appendNumber(dst []byte, key string, code byte, number int64) []byte {
	return binary.BigEndian.AppendUint64(append(appendKey(dst, key), code), uint64(number))
}

// wireState is how a state is called in x-opt-message-state.
func wireState(s state) byte {
	switch s {
	case deferred:
		return 1
	case scheduled:
		return 2
	default:
		return 0
	}
}
