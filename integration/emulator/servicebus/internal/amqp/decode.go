package amqp

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Format codes of the primitive types.
const (
	codeDescribed  = 0x00
	codeNull       = 0x40
	codeTrue       = 0x41
	codeFalse      = 0x42
	codeUint0      = 0x43
	codeUlong0     = 0x44
	codeList0      = 0x45
	codeUbyte      = 0x50
	codeByte       = 0x51
	codeSmallUint  = 0x52
	codeSmallUlong = 0x53
	codeSmallInt   = 0x54
	codeSmallLong  = 0x55
	codeBoolean    = 0x56
	codeUshort     = 0x60
	codeShort      = 0x61
	codeUint       = 0x70
	codeInt        = 0x71
	codeFloat      = 0x72
	codeChar       = 0x73
	codeDecimal32  = 0x74
	codeUlong      = 0x80
	codeLong       = 0x81
	codeDouble     = 0x82
	codeTimestamp  = 0x83
	codeDecimal64  = 0x84
	codeDecimal128 = 0x94
	codeUUID       = 0x98
	codeBinary8    = 0xa0
	codeString8    = 0xa1
	codeSymbol8    = 0xa3
	codeBinary32   = 0xb0
	codeString32   = 0xb1
	codeSymbol32   = 0xb3
	codeList8      = 0xc0
	codeMap8       = 0xc1
	codeList32     = 0xd0
	codeMap32      = 0xd1
	codeArray8     = 0xe0
	codeArray32    = 0xf0
)

// Unmarshal decodes one value and returns the remaining bytes. The value does not refer to b.
func Unmarshal(b []byte) (value any, rest []byte, err error) {
	r := newReader(b)
	if value = r.value(); r.err != nil {
		return nil, nil, r.err
	}
	return value, r.b, nil
}

// A reader decodes from the front of b. The first error stays; after it there is nothing to read, and every value is
// null or zero.
type reader struct {
	b     []byte
	err   error
	depth int
	// budget is the number of elements that may still be decoded. An element with a width takes a byte at least, so
	// only arrays of elements without one can exceed it.
	budget int
}

func newReader(b []byte) reader {
	return reader{b: b, budget: len(b) + 64}
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// fail ends the reading, unless err is nil.
func (r *reader) fail(err error) {
	if err != nil && r.err == nil {
		r.err, r.b = err, nil
	}
}

func (r *reader) unknown(code byte) any {
	r.fail(malformed("format code %#02x is unknown", code))
	return nil
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail(malformed("%d bytes wanted where %d are left", n, len(r.b)))
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

// code returns the next format code.
func (r *reader) code() byte {
	if len(r.b) == 0 {
		r.fail(malformed("ends where a value is due"))
		return codeNull
	}
	code := r.b[0]
	r.b = r.b[1:]
	return code
}

// enter counts one level of nesting; leave it with r.depth--.
func (r *reader) enter() {
	r.depth++
	if r.depth > MaxDepth {
		r.fail(malformed("nested deeper than %d", MaxDepth))
	}
}

// value decodes the next value with its constructor.
func (r *reader) value() any {
	code := r.code()
	if code != codeDescribed {
		return r.body(code)
	}
	r.enter()
	described := Described{Descriptor: r.value(), Value: r.value()}
	r.depth--
	return described
}

// body decodes a value whose format code has been read.
func (r *reader) body(code byte) any {
	if decode := primitives[code]; decode != nil {
		if b := r.take(width(code)); r.err == nil {
			return decode(b)
		}
		return nil
	}
	switch code {
	case codeBinary8, codeBinary32:
		return append([]byte{}, r.variable(code)...)
	case codeString8, codeString32:
		return string(r.variable(code))
	case codeSymbol8, codeSymbol32:
		return Symbol(r.variable(code))
	case codeList8, codeList32, codeMap8, codeMap32:
		return r.compound(code)
	case codeArray8, codeArray32:
		return r.array(code)
	default:
		return r.unknown(code)
	}
}

var order = binary.BigEndian

// primitives decode the values of a fixed width, by format code.
var primitives = [256]func(b []byte) any{
	codeNull:       func([]byte) any { return nil },
	codeTrue:       func([]byte) any { return true },
	codeFalse:      func([]byte) any { return false },
	codeUint0:      func([]byte) any { return uint32(0) },
	codeUlong0:     func([]byte) any { return uint64(0) },
	codeList0:      func([]byte) any { return List{} },
	codeUbyte:      func(b []byte) any { return b[0] },
	codeByte:       func(b []byte) any { return int8(b[0]) },
	codeSmallUint:  func(b []byte) any { return uint32(b[0]) },
	codeSmallUlong: func(b []byte) any { return uint64(b[0]) },
	codeSmallInt:   func(b []byte) any { return int32(int8(b[0])) },
	codeSmallLong:  func(b []byte) any { return int64(int8(b[0])) },
	codeBoolean:    func(b []byte) any { return b[0] != 0 },
	codeUshort:     func(b []byte) any { return order.Uint16(b) },
	codeShort:      func(b []byte) any { return int16(order.Uint16(b)) },
	codeUint:       func(b []byte) any { return order.Uint32(b) },
	codeInt:        func(b []byte) any { return int32(order.Uint32(b)) },
	codeFloat:      func(b []byte) any { return math.Float32frombits(order.Uint32(b)) },
	codeChar:       func(b []byte) any { return Char(order.Uint32(b)) },
	codeDecimal32:  func(b []byte) any { return Decimal(b) },
	codeUlong:      func(b []byte) any { return order.Uint64(b) },
	codeLong:       func(b []byte) any { return int64(order.Uint64(b)) },
	codeDouble:     func(b []byte) any { return math.Float64frombits(order.Uint64(b)) },
	codeTimestamp:  func(b []byte) any { return time.UnixMilli(int64(order.Uint64(b))).UTC() },
	codeDecimal64:  func(b []byte) any { return Decimal(b) },
	codeDecimal128: func(b []byte) any { return Decimal(b) },
	codeUUID:       func(b []byte) any { return UUID(b) },
}

// width is the width of a primitive value: none, or 1, 2, 4, 8 or 16 bytes.
func width(code byte) int { return 1 << (code >> 4) >> 5 }

// number reads an unsigned integer of some bytes.
func (r *reader) number(width int) uint64 {
	number := uint64(0)
	for _, digit := range r.take(width) {
		number = number<<8 | uint64(digit)
	}
	return number
}

// size reads a size or count, of one byte if the format code is of the narrow kind.
func (r *reader) size(code byte) int {
	if narrow := code&0x10 == 0; narrow {
		return int(r.number(1))
	}
	size := r.number(4)
	if size > math.MaxInt32 {
		r.fail(malformed("a size of %d", size))
		return 0
	}
	return int(size)
}

// variable returns the bytes of a binary, string or symbol.
func (r *reader) variable(code byte) []byte { return r.take(r.size(code)) }

// open returns a reader over the elements of a list, map or array, and their number.
func (r *reader) open(code byte) (inner reader, count int) {
	b := r.variable(code)
	inner = reader{b: b, err: r.err, depth: r.depth, budget: r.budget}
	count = inner.size(code)
	if inner.budget -= count; inner.budget < 0 {
		inner.fail(malformed("%d elements in %d bytes", count, len(b)))
	}
	inner.enter()
	if inner.err != nil {
		return inner, 0
	}
	return inner, count
}

// shut ends a list, map or array.
func (r *reader) shut(inner reader) {
	r.budget = inner.budget
	r.fail(inner.err)
	if len(inner.b) != 0 {
		r.fail(malformed("%d bytes after the last element", len(inner.b)))
	}
}

// compound decodes a list or map.
func (r *reader) compound(code byte) any {
	inner, count := r.open(code)
	isMap := code == codeMap8 || code == codeMap32
	switch {
	case count > len(inner.b):
		r.fail(malformed("%d elements in %d bytes", count, len(inner.b)))
		return nil
	case isMap:
		pairs := make(Map, inner.pairs(count))
		for i := range pairs {
			pairs[i] = Pair{Key: inner.value(), Value: inner.value()}
		}
		r.shut(inner)
		return pairs
	default:
		list := make(List, count)
		for i := range list {
			list[i] = inner.value()
		}
		r.shut(inner)
		return list
	}
}

// pairs returns the number of key-value pairs in a map.
func (r *reader) pairs(count int) int {
	if count%2 != 0 {
		r.fail(malformed("a map of %d keys and values", count))
	}
	return count / 2
}

// array decodes an array: one constructor, then the bodies of its elements.
func (r *reader) array(code byte) any {
	inner, count := r.open(code)
	element := inner.code()
	var descriptor any
	described := element == codeDescribed
	if described {
		descriptor = inner.value()
		element = inner.code()
	}
	items := make(Array, count)
	for i := range items {
		items[i] = inner.body(element)
		if described {
			items[i] = Described{descriptor, items[i]}
		}
	}
	r.shut(inner)
	return items
}

// skip goes over the next value and checks that it can be decoded, without allocating.
func (r *reader) skip() {
	code := r.code()
	if code != codeDescribed {
		r.skipBody(code)
		return
	}
	r.enter()
	r.skip()
	r.skip()
	r.depth--
}

// skipBody goes over a value whose format code has been read.
func (r *reader) skipBody(code byte) {
	if primitives[code] != nil {
		r.take(width(code))
		return
	}
	switch code {
	case codeBinary8, codeBinary32, codeString8, codeString32, codeSymbol8, codeSymbol32:
		r.variable(code)
	case codeList8, codeList32, codeMap8, codeMap32:
		r.skipCompound(code)
	case codeArray8, codeArray32:
		r.skipArray(code)
	default:
		r.unknown(code)
	}
}

func (r *reader) skipCompound(code byte) {
	inner, count := r.open(code)
	if isMap := code&0xf == 1; isMap {
		inner.pairs(count)
	}
	for range count {
		inner.skip()
	}
	r.shut(inner)
}

func (r *reader) skipArray(code byte) {
	inner, count := r.open(code)
	element := inner.code()
	if element == codeDescribed {
		inner.skip()
		if element = inner.code(); element == codeDescribed {
			inner.fail(malformed("a described value in a described array"))
		}
	}
	for range count {
		inner.skipBody(element)
	}
	r.shut(inner)
}
