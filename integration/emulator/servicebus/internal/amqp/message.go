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

// Bare returns the encoding without header and annotations, which come first.
func (m Message) Bare() []byte { return m.raw[max(m.header.end, m.delivery.end, m.annotations.end):] }

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
	h := Header{Priority: 4}
	m.read(m.header, h.fields)
	return h
}

func (h *Header) fields(c *composite) {
	c.bool(&h.Durable)
	number(c, &h.Priority, 4)
	ttl := Optional{Value: uint32(min(max(h.TTL.Milliseconds(), 0), math.MaxUint32))}
	ttl.Present = ttl.Value != 0
	c.optional(&ttl)
	h.TTL = time.Duration(ttl.Value) * time.Millisecond
	c.bool(&h.FirstAcquirer)
	c.uint(&h.DeliveryCount, 0)
}

// read reads the list of a section, if there is one.
func (m Message) read(s section, list func(*composite)) {
	if s.present() {
		r := newReader(m.raw[s.value:s.end])
		f := r.openFields()
		list(&composite{in: &f})
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
	var p Properties
	m.read(m.properties, p.fields)
	return p
}

func (p *Properties) fields(c *composite) {
	c.any(&p.MessageID)
	field(c, &p.UserID, (*fields).binary, appendOptionalBinary)
	c.optionalText(&p.To)
	c.optionalText(&p.Subject)
	c.optionalText(&p.ReplyTo)
	c.any(&p.CorrelationID)
	c.optionalSymbol((*Symbol)(&p.ContentType))
	c.optionalSymbol((*Symbol)(&p.ContentEncoding))
	c.time(&p.AbsoluteExpiry)
	c.time(&p.Creation)
	var group *string
	if p.HasGroupID || p.GroupID != "" {
		group = &p.GroupID
	}
	optional(c, &group, (*fields).group, func(dst []byte, id *string) []byte { return appendString(dst, *id) })
	if group != nil {
		p.GroupID, p.HasGroupID = *group, true
	}
	c.optional(&p.GroupSequence)
	c.optionalText(&p.ReplyToGroupID)
}

// group decodes the id of a group, which may be empty; nil for none.
func (f *fields) group() *string {
	id := f.bytes()
	if id == nil {
		return nil
	}
	return new(string(id))
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
func AppendHeader(dst []byte, h Header) []byte { return appendListed(dst, descHeader, h.fields) }

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
	return appendMap(append(dst, codeDescribed, codeSmallUlong, descriptor), codeMap8, table)
}

// AppendProperties appends a properties section.
func AppendProperties(dst []byte, p Properties) []byte {
	return appendListed(dst, descProperties, p.fields)
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

func appendOptionalBinary(dst, b []byte) []byte {
	if b == nil {
		return append(dst, codeNull)
	}
	return Append(dst, b)
}

func appendTime(dst []byte, t time.Time) []byte { return Append(dst, t) }

func appendSome(dst []byte, n Optional) []byte { return appendUint(dst, n.Value) }
