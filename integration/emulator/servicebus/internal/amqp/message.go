package amqp

import (
	"math"
	"slices"
	"time"
)

// A Message is an encoded message and the positions of its sections. It may be copied; do not change the bytes of a copy.
type Message struct {
	raw         []byte
	header      section
	delivery    section
	annotations section
	properties  section
	application section
	body        section // all body sections
	footer      section
}

// A section is a byte range: start at the described constructor, value at the value within it.
type section struct{ start, value, end int }

func (s section) present() bool { return s.end > s.start }

// ParseMessage finds the sections of an encoded message and checks that each can be decoded. The message refers to raw,
// which must not change any more.
//
// Sections may arrive in any order, since some clients write the footer before the body; the message stores them in the
// standard's order.
func ParseMessage(raw []byte) (Message, error) {
	m, ordered, err := parseSections(raw)
	if err == nil && !ordered {
		m, _, err = parseSections(m.Edit(nil, Edit{}))
	}
	return m, err
}

// parseSections reports too whether the sections are in order.
func parseSections(raw []byte) (m Message, ordered bool, err error) {
	m, ordered = Message{raw: raw}, true
	r := newReader(raw)
	last := uint64(0)
	for len(r.b) > 0 {
		s := section{start: len(raw) - len(r.b)}
		descriptor := r.descriptor()
		place := placeOf(&m, descriptor)
		repeats := descriptor == last && (descriptor == descData || descriptor == descSequence)
		if place.present() && !repeats {
			r.fail(malformed("section %#x after %#x", descriptor, last))
		}
		ordered = ordered && descriptor >= last
		last = descriptor
		s.value = len(raw) - len(r.b)
		r.checkSection(descriptor)
		s.end = len(raw) - len(r.b)
		if repeats {
			s.start, s.value = place.start, place.value
		}
		*place = s
	}
	if r.err != nil {
		return Message{}, false, r.err
	}
	return m, ordered, nil
}

// placeOf returns the position of a section. The sections of the body count as one.
func placeOf(m *Message, descriptor uint64) *section {
	switch descriptor {
	case descHeader:
		return &m.header
	case descDeliveryAnnots:
		return &m.delivery
	case descMessageAnnots:
		return &m.annotations
	case descProperties:
		return &m.properties
	case descApplicationProps:
		return &m.application
	case descFooter:
		return &m.footer
	default:
		return &m.body
	}
}

// checkSection goes over the value of a section and checks its type.
func (r *reader) checkSection(descriptor uint64) {
	if len(r.b) == 0 {
		r.fail(malformed("section %#x has no value", descriptor))
		return
	}
	code := r.b[0]
	ok := false
	switch descriptor {
	case descHeader, descProperties, descSequence:
		ok = code == codeList0 || code == codeList8 || code == codeList32
	case descDeliveryAnnots, descMessageAnnots, descApplicationProps, descFooter:
		ok = code == codeMap8 || code == codeMap32 || code == codeNull
	case descData:
		ok = code == codeBinary8 || code == codeBinary32
	case descValue:
		ok = true
	}
	if !ok {
		r.fail(malformed("section %#x with format code %#02x", descriptor, code))
	}
	r.skip()
}

// Bytes returns the whole encoding.
func (m Message) Bytes() []byte { return m.raw }

// Len is the size of the encoding.
func (m Message) Len() int { return len(m.raw) }

// Body returns the encoding of all body sections, descriptors included.
func (m Message) Body() []byte { return m.raw[m.body.start:m.body.end:m.body.end] }

// Data returns the content of each data section, or nil for another kind of body. The bytes belong to the message.
func (m Message) Data() [][]byte {
	var sections [][]byte
	r := newReader(m.Body())
	for len(r.b) > 0 {
		if r.descriptor() != descData {
			return nil
		}
		sections = append(sections, r.variable(r.code()))
	}
	if r.err != nil {
		return nil
	}
	return sections
}

// Value returns the value of an amqp-value body, or false if the body is of another kind.
func (m Message) Value() (any, bool) {
	r := newReader(m.Body())
	if r.descriptor() != descValue {
		return nil, false
	}
	value := r.value()
	return value, r.err == nil
}

// DeliveryAnnotations decodes the delivery annotations.
func (m Message) DeliveryAnnotations() Map { return m.table(m.delivery) }

// MessageAnnotations decodes the message annotations.
func (m Message) MessageAnnotations() Map { return m.table(m.annotations) }

// ApplicationProperties decodes the application properties.
func (m Message) ApplicationProperties() Map { return m.table(m.application) }

// table decodes a section that ParseMessage found well-formed.
func (m Message) table(s section) Map {
	if !s.present() {
		return nil
	}
	value, _, err := Unmarshal(m.raw[s.value:s.end])
	if err != nil {
		return nil
	}
	table, _ := value.(Map)
	return table
}

// Header is the header section.
type Header struct {
	Durable       bool
	Priority      uint8         // 4 if absent
	TTL           time.Duration // 0 if absent; in whole milliseconds
	FirstAcquirer bool
	DeliveryCount uint32
}

// Header decodes the header. Fields of a wrong type, and those after them, are as if absent.
func (m Message) Header() Header {
	if !m.header.present() {
		return Header{Priority: 4}
	}
	r := newReader(m.raw[m.header.value:m.header.end])
	f := r.openFields()
	return Header{
		Durable:       f.bool(),
		Priority:      uint8(f.number(4)),
		TTL:           time.Duration(f.uint(0)) * time.Millisecond,
		FirstAcquirer: f.bool(),
		DeliveryCount: f.uint(0),
	}
}

// Properties is the properties section. Ids are nil, a string, uint64, UUID or []byte.
type Properties struct {
	MessageID       any
	UserID          []byte
	To              string
	Subject         string // Service Bus's label
	ReplyTo         string
	CorrelationID   any
	ContentType     string
	ContentEncoding string
	AbsoluteExpiry  time.Time // zero if absent
	Creation        time.Time // zero if absent
	GroupID         string    // Service Bus's session id
	HasGroupID      bool      // distinguishes an empty group id from none
	GroupSequence   Optional
	ReplyToGroupID  string // Service Bus's reply-to-session-id
}

// Properties decodes the properties. Fields of a wrong type, and those after them, are as if absent.
func (m Message) Properties() Properties {
	if !m.properties.present() {
		return Properties{}
	}
	r := newReader(m.raw[m.properties.value:m.properties.end])
	f := r.openFields()
	p := Properties{
		MessageID: f.any(), UserID: f.binary(), To: f.text(), Subject: f.text(), ReplyTo: f.text(), CorrelationID: f.any(),
		ContentType: f.text(), ContentEncoding: f.text(), AbsoluteExpiry: f.time(), Creation: f.time(),
	}
	group := f.bytes()
	p.GroupID, p.HasGroupID = string(group), group != nil
	p.GroupSequence = f.optional()
	p.ReplyToGroupID = f.text()
	return p
}

// time decodes a timestamp.
func (f *fields) time() time.Time {
	switch value := f.any().(type) {
	case nil:
		return time.Time{}
	case time.Time:
		return value
	default:
		f.fail(malformed("%T where a timestamp is due", value))
		return time.Time{}
	}
}

// An Edit replaces sections of a message. A nil field leaves the section's bytes unchanged; a pointer to an empty map removes
// the section.
type Edit struct {
	Header                *Header
	DeliveryAnnotations   *Map
	MessageAnnotations    *Map
	Properties            *Properties
	ApplicationProperties *Map
}

// Edit appends the message to dst, with the sections that the edit replaces and the bytes of all others.
func (m Message) Edit(dst []byte, edit Edit) []byte {
	dst = slices.Grow(dst, len(m.raw)+256)
	dst = appendEdited(dst, m.raw, m.header, edit.Header, AppendHeader)
	dst = appendEdited(dst, m.raw, m.delivery, edit.DeliveryAnnotations, AppendDeliveryAnnotations)
	dst = appendEdited(dst, m.raw, m.annotations, edit.MessageAnnotations, AppendMessageAnnotations)
	dst = appendEdited(dst, m.raw, m.properties, edit.Properties, AppendProperties)
	dst = appendEdited(dst, m.raw, m.application, edit.ApplicationProperties, AppendApplicationProperties)
	dst = append(dst, m.raw[m.body.start:m.body.end]...)
	return append(dst, m.raw[m.footer.start:m.footer.end]...)
}

// appendEdited appends the new section, or the bytes of the old one if fresh is nil.
func appendEdited[T any](dst, raw []byte, old section, fresh *T, write func([]byte, T) []byte) []byte {
	if fresh != nil {
		return write(dst, *fresh)
	}
	return append(dst, raw[old.start:old.end]...)
}

// AppendHeader appends a header section.
func AppendHeader(dst []byte, h Header) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descHeader))
	dst = appendBool(dst, h.Durable)
	dst = append(dst, codeUbyte, h.Priority)
	if ms := h.TTL.Milliseconds(); ms > 0 {
		dst = appendUint(dst, uint32(min(ms, math.MaxUint32)))
	} else {
		dst = append(dst, codeNull)
	}
	dst = appendBool(dst, h.FirstAcquirer)
	dst = appendUint(dst, h.DeliveryCount)
	return end(dst, mark, codeList8, 5)
}

// AppendDeliveryAnnotations appends a section of delivery annotations, or nothing if there are none.
func AppendDeliveryAnnotations(dst []byte, annotations Map) []byte {
	return appendTable(dst, descDeliveryAnnots, annotations)
}

// AppendMessageAnnotations appends a section of message annotations, or nothing if there are none.
func AppendMessageAnnotations(dst []byte, annotations Map) []byte {
	return appendTable(dst, descMessageAnnots, annotations)
}

// AppendApplicationProperties appends a section of application properties, or nothing if there are none.
func AppendApplicationProperties(dst []byte, properties Map) []byte {
	return appendTable(dst, descApplicationProps, properties)
}

func appendTable(dst []byte, descriptor byte, table Map) []byte {
	if len(table) == 0 {
		return dst
	}
	return appendMap(append(dst, codeDescribed, codeSmallUlong, descriptor), table)
}

// AppendProperties appends a properties section.
func AppendProperties(dst []byte, p Properties) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descProperties))
	dst = Append(dst, p.MessageID)
	dst = appendOptionalBinary(dst, p.UserID)
	dst = appendOptional(dst, p.To)
	dst = appendOptional(dst, p.Subject)
	dst = appendOptional(dst, p.ReplyTo)
	dst = Append(dst, p.CorrelationID)
	dst = appendOptionalSymbol(dst, Symbol(p.ContentType))
	dst = appendOptionalSymbol(dst, Symbol(p.ContentEncoding))
	dst = appendOptionalTime(dst, p.AbsoluteExpiry)
	dst = appendOptionalTime(dst, p.Creation)
	if p.HasGroupID || p.GroupID != "" {
		dst = appendString(dst, p.GroupID)
	} else {
		dst = append(dst, codeNull)
	}
	dst = appendOptionalUint(dst, p.GroupSequence)
	dst = appendOptional(dst, p.ReplyToGroupID)
	return end(dst, mark, codeList8, 13)
}

// AppendData appends a data section.
func AppendData(dst, data []byte) []byte {
	dst = appendSize(append(dst, codeDescribed, codeSmallUlong, descData), codeBinary8, len(data))
	return append(dst, data...)
}

// AppendValue appends an amqp-value section.
func AppendValue(dst []byte, value any) []byte {
	return Append(append(dst, codeDescribed, codeSmallUlong, descValue), value)
}

// appendOptional appends a string, or null for an empty one.
func appendOptional(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, codeNull)
	}
	return appendString(dst, text)
}

func appendOptionalSymbol(dst []byte, symbol Symbol) []byte {
	if symbol == "" {
		return append(dst, codeNull)
	}
	return appendSymbol(dst, symbol)
}

func appendOptionalBinary(dst, b []byte) []byte {
	if b == nil {
		return append(dst, codeNull)
	}
	return Append(dst, b)
}

func appendOptionalTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, codeNull)
	}
	return Append(dst, t)
}

func appendOptionalUint(dst []byte, n Optional) []byte {
	if !n.Present {
		return append(dst, codeNull)
	}
	return appendUint(dst, n.Value)
}
