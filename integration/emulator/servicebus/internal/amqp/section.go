package amqp

import (
	"math"
	"slices"
	"time"
)

// An Edit says which sections of a message are written anew. A nil field leaves the section's bytes as they are; a pointer to
// an empty map removes the section.
type Edit struct {
	Header                *Header
	DeliveryAnnotations   *Map
	MessageAnnotations    *Map
	Properties            *Properties
	ApplicationProperties *Map
}

// Edit appends the message to dst with the sections that the edit names written anew, and all others as they are.
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

// appendEdited appends a section anew, or as it is in raw if there is nothing new.
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
