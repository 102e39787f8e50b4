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

// Unmarshal decodes one value and returns what follows it. Nothing in the value refers to b.
func Unmarshal(b []byte) (value any, rest []byte, err error) {
	r := newReader(b)
	value, err = r.value()
	return value, r.b, err
}

// A reader decodes from the front of b.
type reader struct {
	b     []byte
	depth int
	// budget is how many more elements may be decoded. An element with a width takes a byte at least, so only arrays of
	// elements without one can exceed it.
	budget int
}

func newReader(b []byte) reader {
	return reader{b: b, budget: len(b) + 64}
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// take returns the next n bytes.
func (r *reader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.b) {
		return nil, malformed("%d bytes wanted where %d are left", n, len(r.b))
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken, nil
}

// code returns the next format code.
func (r *reader) code() (byte, error) {
	if len(r.b) == 0 {
		return 0, malformed("ends where a value is due")
	}
	code := r.b[0]
	r.b = r.b[1:]
	return code, nil
}

// enter counts one level of nesting; leave it with r.depth--.
func (r *reader) enter() error {
	r.depth++
	if r.depth > MaxDepth {
		return malformed("nested deeper than %d", MaxDepth)
	}
	return nil
}

// value decodes the next value with its constructor.
func (r *reader) value() (any, error) {
	code, err := r.code()
	if err != nil {
		return nil, err
	}
	if code != codeDescribed {
		return r.body(code)
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	descriptor, err := r.value()
	if err != nil {
		return nil, err
	}
	value, err := r.value()
	return Described{descriptor, value}, err
}

// body decodes a value whose format code has been read.
func (r *reader) body(code byte) (any, error) {
	switch code >> 4 {
	case 0x4:
		return empty(code)
	case 0x5, 0x6, 0x7, 0x8, 0x9:
		b, err := r.take(1 << (code>>4 - 5))
		if err != nil {
			return nil, err
		}
		return fixed(code, b)
	case 0xa, 0xb:
		b, err := r.variable(code)
		if err != nil {
			return nil, err
		}
		switch code {
		case codeBinary8, codeBinary32:
			return append([]byte{}, b...), nil
		case codeString8, codeString32:
			return string(b), nil
		case codeSymbol8, codeSymbol32:
			return Symbol(b), nil
		}
	case 0xc, 0xd:
		return r.compound(code)
	case 0xe, 0xf:
		if code == codeArray8 || code == codeArray32 {
			return r.array(code)
		}
	}
	return nil, malformed("format code %#02x is unknown", code)
}

// empty returns the value of a format code without a body.
func empty(code byte) (any, error) {
	switch code {
	case codeNull:
		return nil, nil //nolint:nilnil // null is a value
	case codeTrue:
		return true, nil
	case codeFalse:
		return false, nil
	case codeUint0:
		return uint32(0), nil
	case codeUlong0:
		return uint64(0), nil
	case codeList0:
		return List{}, nil
	default:
		return nil, malformed("format code %#02x is unknown", code)
	}
}

// fixed decodes a value of 1, 2, 4, 8 or 16 bytes.
//
//nolint:cyclop // one case for each type
func fixed(code byte, b []byte) (any, error) {
	order := binary.BigEndian
	switch code {
	case codeUbyte:
		return b[0], nil
	case codeByte:
		return int8(b[0]), nil
	case codeSmallUint:
		return uint32(b[0]), nil
	case codeSmallUlong:
		return uint64(b[0]), nil
	case codeSmallInt:
		return int32(int8(b[0])), nil
	case codeSmallLong:
		return int64(int8(b[0])), nil
	case codeBoolean:
		return b[0] != 0, nil
	case codeUshort:
		return order.Uint16(b), nil
	case codeShort:
		return int16(order.Uint16(b)), nil
	case codeUint:
		return order.Uint32(b), nil
	case codeInt:
		return int32(order.Uint32(b)), nil
	case codeFloat:
		return math.Float32frombits(order.Uint32(b)), nil
	case codeChar:
		return Char(order.Uint32(b)), nil
	case codeUlong:
		return order.Uint64(b), nil
	case codeLong:
		return int64(order.Uint64(b)), nil
	case codeDouble:
		return math.Float64frombits(order.Uint64(b)), nil
	case codeTimestamp:
		return time.UnixMilli(int64(order.Uint64(b))).UTC(), nil
	case codeDecimal32, codeDecimal64, codeDecimal128:
		return Decimal(b), nil
	case codeUUID:
		return UUID(b), nil
	default:
		return nil, malformed("format code %#02x is unknown", code)
	}
}

// size reads a size or count, of one byte if the format code is of the narrow kind.
func (r *reader) size(code byte) (int, error) {
	if narrow := code&0x10 == 0; narrow {
		b, err := r.take(1)
		if err != nil {
			return 0, err
		}
		return int(b[0]), nil
	}
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	size := binary.BigEndian.Uint32(b)
	if size > math.MaxInt32 {
		return 0, malformed("a size of %d", size)
	}
	return int(size), nil
}

// variable returns the bytes of a binary, string or symbol.
func (r *reader) variable(code byte) ([]byte, error) {
	n, err := r.size(code)
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// open returns a reader over the elements of a list, map or array, and their number.
func (r *reader) open(code byte) (inner reader, count int, err error) {
	n, err := r.size(code)
	if err != nil {
		return reader{}, 0, err
	}
	b, err := r.take(n)
	if err != nil {
		return reader{}, 0, err
	}
	inner = reader{b: b, depth: r.depth, budget: r.budget}
	if count, err = inner.size(code); err != nil {
		return reader{}, 0, err
	}
	if inner.budget -= count; inner.budget < 0 {
		return reader{}, 0, malformed("%d elements in %d bytes", count, n)
	}
	if err := inner.enter(); err != nil {
		return reader{}, 0, err
	}
	return inner, count, nil
}

// shut ends a list, map or array.
func (r *reader) shut(inner reader) error {
	r.budget = inner.budget
	if len(inner.b) != 0 {
		return malformed("%d bytes after the last element", len(inner.b))
	}
	return nil
}

// compound decodes a list or map.
func (r *reader) compound(code byte) (any, error) {
	inner, count, err := r.open(code)
	if err != nil {
		return nil, err
	}
	if count > len(inner.b) {
		return nil, malformed("%d elements in %d bytes", count, len(inner.b))
	}
	switch code {
	case codeList8, codeList32:
		list := make(List, count)
		for i := range list {
			if list[i], err = inner.value(); err != nil {
				return nil, err
			}
		}
		return list, r.shut(inner)
	case codeMap8, codeMap32:
		if count%2 != 0 {
			return nil, malformed("a map of %d keys and values", count)
		}
		pairs := make(Map, count/2)
		for i := range pairs {
			if pairs[i].Key, err = inner.value(); err != nil {
				return nil, err
			}
			if pairs[i].Value, err = inner.value(); err != nil {
				return nil, err
			}
		}
		return pairs, r.shut(inner)
	default:
		return nil, malformed("format code %#02x is unknown", code)
	}
}

// array decodes an array: one constructor, then the bodies of its elements.
func (r *reader) array(code byte) (any, error) {
	inner, count, err := r.open(code)
	if err != nil {
		return nil, err
	}
	element, err := inner.code()
	if err != nil {
		return nil, err
	}
	var descriptor any
	described := element == codeDescribed
	if described {
		if descriptor, err = inner.value(); err != nil {
			return nil, err
		}
		if element, err = inner.code(); err != nil {
			return nil, err
		}
	}
	items := make(Array, count)
	for i := range items {
		if items[i], err = inner.body(element); err != nil {
			return nil, err
		}
		if described {
			items[i] = Described{descriptor, items[i]}
		}
	}
	return items, r.shut(inner)
}
