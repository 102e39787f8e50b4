package amqp

import (
	"bytes"
	"time"
)

// A fields decodes the elements of a described list one by one. An element that is null, or that a shorter list does not
// have, is the zero value.
type fields struct {
	reader

	left int
}

// openFields reads the constructor of a list and returns its fields; the outer reader continues after the list.
func (r *reader) openFields() fields {
	switch code := r.code(); code {
	case codeList0:
		return fields{reader: reader{depth: r.depth, budget: r.budget}}
	case codeList8, codeList32:
		inner, count := r.open(code)
		return fields{reader: inner, left: count}
	default:
		r.fail(malformed("format code %#02x where a list is due", code))
		return fields{reader: reader{err: r.err}}
	}
}

// more steps to the next field and reports whether it holds something.
func (f *fields) more() bool {
	if f.err != nil || f.left == 0 {
		return false
	}
	f.left--
	if len(f.b) > 0 && f.b[0] == codeNull {
		f.b = f.b[1:]
		return false
	}
	return true
}

// any decodes the next field of any type.
func (f *fields) any() any {
	if !f.more() {
		return nil
	}
	return f.value()
}

// number decodes an unsigned integer, or returns absent.
func (f *fields) number(absent uint64) uint64 {
	if !f.more() {
		return absent
	}
	switch code := f.code(); code {
	case codeUint0, codeUlong0:
		return 0
	case codeUbyte, codeSmallUint, codeSmallUlong, codeUshort, codeUint, codeUlong:
		return f.reader.number(width(code))
	default:
		f.fail(malformed("format code %#02x where an unsigned integer is due", code))
		return absent
	}
}

func (f *fields) uint(absent uint32) uint32 { return uint32(f.number(uint64(absent))) }

// optional decodes an unsigned integer and reports whether it is present.
func (f *fields) optional() Optional {
	present := f.err == nil && f.left > 0 && len(f.b) > 0 && f.b[0] != codeNull
	return Optional{Value: f.uint(0), Present: present}
}

// Optional is an unsigned integer that may be absent.
type Optional struct {
	Value   uint32
	Present bool
}

// Some returns an integer that is present.
func Some(value uint32) Optional { return Optional{value, true} }

// typed decodes a value of one type, or the zero value.
func typed[T any](f *fields, due string) (value T) {
	switch v := f.any().(type) {
	case nil:
	case T:
		return v
	default:
		f.fail(malformed("%T where %s is due", v, due))
	}
	return value
}

func (f *fields) bool() bool      { return typed[bool](f, "a boolean") }
func (f *fields) table() Map      { return typed[Map](f, "a map") }
func (f *fields) time() time.Time { return typed[time.Time](f, "a timestamp") }

// text decodes a string or symbol.
func (f *fields) text() string { return string(f.bytes()) }

func (f *fields) symbol() Symbol { return Symbol(f.bytes()) }

// bytes decodes a string, symbol or binary. The result is part of the input; it is nil only if the field is absent.
func (f *fields) bytes() []byte {
	if !f.more() {
		return nil
	}
	switch code := f.code(); code {
	case codeBinary8, codeBinary32, codeString8, codeString32, codeSymbol8, codeSymbol32:
		return f.variable(code)
	default:
		f.fail(malformed("format code %#02x where text is due", code))
		return nil
	}
}

// binary decodes a binary into a copy.
func (f *fields) binary() []byte { return bytes.Clone(f.bytes()) }

// symbols decodes one symbol or an array of them.
func (f *fields) symbols() []Symbol {
	switch value := f.any().(type) {
	case nil:
		return nil
	case Symbol:
		return []Symbol{value}
	case Array:
		symbols := make([]Symbol, 0, len(value))
		for _, item := range value {
			symbol, ok := item.(Symbol)
			if !ok {
				f.fail(malformed("%T where a symbol is due", item))
				return nil
			}
			symbols = append(symbols, symbol)
		}
		return symbols
	default:
		f.fail(malformed("%T where symbols are due", value))
		return nil
	}
}

// close ends the list. It ignores fields beyond the standard's.
func (f *fields) close() error {
	for ; f.err == nil && f.left > 0; f.left-- {
		f.skip()
	}
	if len(f.b) != 0 {
		f.fail(malformed("%d bytes after the last field", len(f.b)))
	}
	return f.err
}

// described opens the next field if it is a described list, and returns its descriptor and its fields, which end in done.
func (f *fields) described() (descriptor uint64, inner fields, ok bool) {
	if !f.more() {
		return 0, fields{}, false
	}
	descriptor = f.descriptor()
	inner = f.openFields()
	f.fail(inner.err)
	return descriptor, inner, f.err == nil
}

// descriptor reads the marker of a described value and its descriptor, a number or one of the standard's symbols.
func (r *reader) descriptor() uint64 {
	if code := r.code(); code != codeDescribed {
		r.fail(malformed("format code %#02x where a described value is due", code))
		return 0
	}
	if len(r.b) >= 2 && r.b[0] == codeSmallUlong {
		return uint64(r.take(2)[1])
	}
	switch value := r.value().(type) {
	case uint64:
		return value
	case Symbol:
		descriptor, ok := descriptors[value]
		if !ok {
			r.fail(malformed("descriptor %.40q is unknown", string(value)))
		}
		return descriptor
	default:
		r.fail(malformed("a descriptor of type %T", value))
		return 0
	}
}
