package amqp

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Append appends the encoding of a value. It panics on a Go type outside this package's types, which is a bug of the
// caller.
func Append(dst []byte, value any) []byte { return appendAs(dst, value, 0) }

// isWide is the bit of format codes with a size of four bytes.
const isWide = 0x10

// appendAs is Append in the smallest form or, if wide is isWide, in the form that fits every value of the type: all elements
// of an array have the same form.
//
//nolint:cyclop // one case for each type
func appendAs(dst []byte, value any, wide byte) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, codeNull)
	case bool:
		switch {
		case wide == 0:
			return appendBool(dst, v)
		case v:
			return append(dst, codeBoolean, 1)
		}
		return append(dst, codeBoolean, 0)
	case uint8:
		return append(dst, codeUbyte, v)
	case uint16:
		return order.AppendUint16(append(dst, codeUshort), v)
	case uint32:
		if wide == 0 {
			return appendUint(dst, v)
		}
		return order.AppendUint32(append(dst, codeUint), v)
	case uint64:
		if wide == 0 {
			return appendUlong(dst, v)
		}
		return order.AppendUint64(append(dst, codeUlong), v)
	case int8:
		return append(dst, codeByte, byte(v))
	case int16:
		return order.AppendUint16(append(dst, codeShort), uint16(v))
	case int32:
		if wide == 0 && v == int32(int8(v)) {
			return append(dst, codeSmallInt, byte(v))
		}
		return order.AppendUint32(append(dst, codeInt), uint32(v))
	case int64:
		if wide == 0 && v == int64(int8(v)) {
			return append(dst, codeSmallLong, byte(v))
		}
		return order.AppendUint64(append(dst, codeLong), uint64(v))
	case float32:
		return order.AppendUint32(append(dst, codeFloat), math.Float32bits(v))
	case float64:
		return order.AppendUint64(append(dst, codeDouble), math.Float64bits(v))
	case Char:
		return order.AppendUint32(append(dst, codeChar), uint32(v))
	case Decimal:
		return append(append(dst, decimalCode(v)), v...)
	case time.Time:
		return order.AppendUint64(append(dst, codeTimestamp), uint64(v.UnixMilli()))
	case UUID:
		return append(append(dst, codeUUID), v[:]...)
	case []byte:
		return append(appendSize(dst, codeBinary8|wide, len(v)), v...)
	case string:
		return append(appendSize(dst, codeString8|wide, len(v)), v...)
	case Symbol:
		return append(appendSize(dst, codeSymbol8|wide, len(v)), v...)
	case List:
		if len(v) == 0 && wide == 0 {
			return append(dst, codeList0)
		}
		return appendList(dst, codeList8|wide, v)
	case Map:
		return appendMap(dst, codeMap8|wide, v)
	case Array:
		return appendArray(dst, codeArray8|wide, v)
	case Described:
		dst = Append(append(dst, codeDescribed), v.Descriptor)
		return Append(dst, v.Value)
	default:
		panic(fmt.Sprintf("amqp: %T is not an AMQP type", value))
	}
}

func decimalCode(v Decimal) byte {
	switch len(v) {
	case 4:
		return codeDecimal32
	case 8:
		return codeDecimal64
	default:
		return codeDecimal128
	}
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, codeTrue)
	}
	return append(dst, codeFalse)
}

func appendUint(dst []byte, v uint32) []byte {
	switch {
	case v == 0:
		return append(dst, codeUint0)
	case v <= math.MaxUint8:
		return append(dst, codeSmallUint, byte(v))
	default:
		return binary.BigEndian.AppendUint32(append(dst, codeUint), v)
	}
}

func appendUlong(dst []byte, v uint64) []byte {
	switch {
	case v == 0:
		return append(dst, codeUlong0)
	case v <= math.MaxUint8:
		return append(dst, codeSmallUlong, byte(v))
	default:
		return binary.BigEndian.AppendUint64(append(dst, codeUlong), v)
	}
}

// appendSize appends the format code and the size. A narrow code becomes the wide one if the size wants it.
func appendSize(dst []byte, code byte, size int) []byte {
	if size <= math.MaxUint8 && code&isWide == 0 {
		return append(dst, code, byte(size))
	}
	return binary.BigEndian.AppendUint32(append(dst, code|isWide), uint32(size))
}

func appendString(dst []byte, v string) []byte {
	return append(appendSize(dst, codeString8, len(v)), v...)
}

func appendSymbol(dst []byte, v Symbol) []byte {
	return append(appendSize(dst, codeSymbol8, len(v)), v...)
}

// wideHead is the length of the wide constructor of a list or map: code, size and count.
const wideHead = 9

// begin makes room for the constructor of a list or map, which end writes.
func begin(dst []byte) (_ []byte, mark int) {
	return append(dst, make([]byte, wideHead)...), len(dst)
}

// end writes the constructor of a list or map of count elements that begin made room for. With a narrow code, it moves
// short content to the place after the narrow constructor.
func end(dst []byte, mark int, code byte, count int) []byte {
	size := len(dst) - mark - wideHead
	if size < math.MaxUint8 && count <= math.MaxUint8 && code&isWide == 0 {
		dst[mark], dst[mark+1], dst[mark+2] = code, byte(size+1), byte(count)
		copy(dst[mark+3:], dst[mark+wideHead:])
		return dst[:mark+3+size]
	}
	dst[mark] = code | isWide
	binary.BigEndian.PutUint32(dst[mark+1:], uint32(size+4))
	binary.BigEndian.PutUint32(dst[mark+5:], uint32(count))
	return dst
}

func appendList(dst []byte, code byte, list List) []byte {
	dst, mark := begin(dst)
	for _, value := range list {
		dst = Append(dst, value)
	}
	return end(dst, mark, code, len(list))
}

func appendMap(dst []byte, code byte, pairs Map) []byte {
	dst, mark := begin(dst)
	for _, pair := range pairs {
		dst = Append(Append(dst, pair.Key), pair.Value)
	}
	return end(dst, mark, code, 2*len(pairs))
}

// appendArray appends the shared constructor of the elements, and then the elements without it.
func appendArray(dst []byte, code byte, items Array) []byte {
	dst, mark := begin(dst)
	if len(items) == 0 {
		dst = append(dst, codeNull)
	}
	for i, item := range items {
		if described, ok := item.(Described); ok {
			if i == 0 {
				dst = Append(append(dst, codeDescribed), described.Descriptor)
			}
			item = described.Value
		}
		element := appendAs(nil, item, isWide)
		if i > 0 {
			element = element[1:]
		}
		dst = append(dst, element...)
	}
	return end(dst, mark, code, len(items))
}
