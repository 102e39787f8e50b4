package amqp

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TypeOf returns the name of the AMQP type of a value, or the descriptor of a described value.
func TypeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case Symbol:
		return "symbol"
	case Char:
		return "char"
	case int8:
		return "byte"
	case int16:
		return "short"
	case int32:
		return "int"
	case int64:
		return "long"
	case uint8:
		return "ubyte"
	case uint16:
		return "ushort"
	case uint32:
		return "uint"
	case uint64:
		return "ulong"
	case float32:
		return "float"
	case float64:
		return "double"
	default:
		return otherType(v)
	}
}

func otherType(value any) string {
	switch v := value.(type) {
	case time.Time:
		return "timestamp"
	case UUID:
		return "uuid"
	case []byte:
		return "binary"
	case Decimal:
		return "decimal" + strconv.Itoa(8*len(v))
	case List:
		return "list"
	case Map:
		return "map"
	case Array:
		return "array"
	case Described:
		if name, ok := v.Descriptor.(Symbol); ok {
			return strings.TrimPrefix(string(name), "com.microsoft:")
		}
		return "described"
	default:
		return fmt.Sprintf("%T", value)
	}
}

// integers are the integer types: their size in bits, and the conversion to the Go type.
var integers = map[string]struct {
	bits   int
	signed func(int64) any
	plain  func(uint64) any
}{
	"byte":   {8, func(n int64) any { return int8(n) }, nil},
	"short":  {16, func(n int64) any { return int16(n) }, nil},
	"int":    {32, func(n int64) any { return int32(n) }, nil},
	"long":   {64, func(n int64) any { return n }, nil},
	"ubyte":  {8, nil, func(n uint64) any { return uint8(n) }},
	"ushort": {16, nil, func(n uint64) any { return uint16(n) }},
	"uint":   {32, nil, func(n uint64) any { return uint32(n) }},
	"ulong":  {64, nil, func(n uint64) any { return n }},
}

// ParseInteger parses a number of an integer type, such as "ubyte".
func ParseInteger(kind, text string) (any, error) {
	of, ok := integers[kind]
	switch {
	case !ok:
		return nil, fmt.Errorf("%q is no type of whole numbers", kind)
	case of.signed != nil:
		n, err := strconv.ParseInt(text, 10, of.bits)
		return of.signed(n), err
	default:
		n, err := strconv.ParseUint(text, 10, of.bits)
		return of.plain(n), err
	}
}

// ParseUUID parses a UUID. Braces and hyphens are optional.
func ParseUUID(text string) (UUID, error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(text, "{}"), "-", ""))
	if err != nil || len(raw) != 16 {
		return UUID{}, fmt.Errorf("%q is not a UUID", text)
	}
	return UUID(raw), nil
}
