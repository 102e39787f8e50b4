package broker

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"math"
	"time"
	"unicode/utf16"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// maxID is how long ids of messages and sessions, and partition keys, may be: in UTF-16 code units, which is what .NET, and so
// the service, counts as characters. A character beyond the basic plane, such as an emoji, counts as two.
const maxID = 128

// tooLong reports whether an id or key is longer than maxID.
func tooLong(id string) bool {
	if len(id) <= maxID { // no character has more code units than bytes
		return false
	}
	units := 0
	for _, r := range id {
		units += utf16.RuneLen(r) // what is not UTF-8 counts as U+FFFD
	}
	return units > maxID
}

// An intake is a message on its way into an entity.
type intake struct {
	message    *message
	id         string // for the detection of duplicates
	session    string
	hasSession bool
	ttl        time.Duration
	properties int // bytes of all but the body
	largest    int // bytes of the largest property, if it may be too large
}

// newIntake takes what the broker needs from a message. alone says that the message's memory may be kept.
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
		m, _ = amqp.ParseMessage(m.Edit(nil, amqp.Edit{Properties: &properties})) // what was parsed stays well-formed
		alone = true
	}
	in.message.bare = bareOf(m)
	if !alone || cap(in.message.bare) > 2*len(in.message.bare) {
		in.message.bare = bytes.Clone(in.message.bare)
	}
	in.properties, in.largest = propertiesOf(m)
	in.message.extra = extraOf(annotations, m.DeliveryAnnotations())
	return in, nil
}

// newID returns the id of a message that has none.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// bareOf returns a message without its header and annotations. Sections are in order, so it is the end of it.
func bareOf(m amqp.Message) []byte {
	raw := m.Bytes()
	header := amqp.Header{}
	front := len(amqp.AppendHeader(nil, header))
	rest := raw
	for len(rest) > 0 {
		n, ok := frontSection(rest)
		if !ok { // an unusual encoding: have the others written anew, and see how long they are
			edited := m.Edit(nil, amqp.Edit{Header: &header, DeliveryAnnotations: &amqp.Map{}, MessageAnnotations: &amqp.Map{}})
			return raw[len(raw)-(len(edited)-front):]
		}
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	return rest
}

// frontSection returns the size of the section that b begins with if it is a header or annotations, or else 0.
func frontSection(b []byte) (size int, ok bool) {
	if len(b) < 4 || b[0] != 0x00 || b[1] != 0x53 {
		return 0, false
	}
	if b[2] < 0x70 || b[2] > 0x72 {
		return 0, true
	}
	switch b[3] {
	case 0x40, 0x45:
		return 4, true
	case 0xc0, 0xc1:
		return 5 + int(b[4]), true
	case 0xd0, 0xd1:
		return 8 + int(uint32(b[4])<<24|uint32(b[5])<<16|uint32(b[6])<<8|uint32(b[7])), true
	default:
		return 0, false
	}
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

// scheduledFor returns when a message is to be enqueued, or 0 for now.
func (m *message) scheduledFor(now int64) int64 {
	if m.extra == nil || m.extra.scheduled <= now {
		return 0
	}
	return m.extra.scheduled
}

// live sets how long the message lives from now on: as its sender says, but not longer than the entity lets it.
func (m *message) live(ttl, limit time.Duration, now int64) {
	if limit > 0 && (ttl == 0 || ttl > limit) {
		ttl = limit
	}
	m.ttl, m.expires = uint32(min(ttl.Milliseconds(), math.MaxUint32)), 0
	if ttl > 0 {
		m.expires = now + max(ttl.Milliseconds(), 1)
	}
}
