package amqp

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrMalformed is wrapped by every error of decoding.
var ErrMalformed = errors.New("malformed AMQP")

// MaxDepth bounds how deep lists, maps, arrays and described values nest.
const MaxDepth = 32

type (
	// Symbol is the AMQP type of names that protocols define.
	Symbol string
	// Char is one Unicode character.
	Char rune
	// Decimal is a decimal32, decimal64 or decimal128, kept as its 4, 8 or 16 bytes.
	Decimal string
	// UUID is in the order of RFC 4122.
	UUID [16]byte
	// List holds values of any types.
	List []any
	// Array holds values of one type. An empty one is written as an array of null.
	Array []any
)

// Described is a value with a descriptor, a uint64 or a Symbol in all known uses.
type Described struct {
	Descriptor any
	Value      any
}

// Pair is an entry of a Map.
type Pair struct{ Key, Value any }

// Map keeps its entries in the order they were written.
type Map []Pair

// Get returns the value under a key, be it a string or a symbol, or nil.
func (m Map) Get(key string) any {
	for _, pair := range m {
		if name(pair.Key) == key {
			return pair.Value
		}
	}
	return nil
}

// Has reports whether the map has a key, as a string or a symbol.
func (m Map) Has(key string) bool {
	return slices.ContainsFunc(m, func(pair Pair) bool { return name(pair.Key) == key })
}

// With returns the map with one entry replaced or added; m itself may change. The key keeps the type of an existing
// entry of its name.
func (m Map) With(key, value any) Map {
	for i, pair := range m {
		if name(pair.Key) == name(key) {
			m[i].Value = value
			return m
		}
	}
	return append(m, Pair{key, value})
}

// Without returns the map without an entry; m itself stays as it is.
func (m Map) Without(key string) Map {
	return slices.DeleteFunc(slices.Clone(m), func(pair Pair) bool { return name(pair.Key) == key })
}

// name returns the text of a key, or "" if it is neither a string nor a symbol.
func name(key any) string {
	switch key := key.(type) {
	case string:
		return key
	case Symbol:
		return string(key)
	default:
		return ""
	}
}

// String is the canonical form in lower case.
func (u UUID) String() string {
	text := hex.EncodeToString(u[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// Tag returns the delivery tag of a lock token: its bytes in the order of .NET, where the first three fields are little-endian.
func (u UUID) Tag() []byte {
	return []byte{
		u[3], u[2], u[1], u[0], u[5], u[4], u[7], u[6],
		u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15],
	}
}

// IDString returns a message or correlation id as text. Ids may be strings, numbers, UUIDs or binary.
func IDString(id any) string {
	switch id := id.(type) {
	case nil:
		return ""
	case string:
		return id
	case []byte:
		return hex.EncodeToString(id)
	default:
		return fmt.Sprint(id)
	}
}

// Descriptors of the standard.
const (
	descOpen             = 0x10
	descBegin            = 0x11
	descAttach           = 0x12
	descFlow             = 0x13
	descTransfer         = 0x14
	descDisposition      = 0x15
	descDetach           = 0x16
	descEnd              = 0x17
	descClose            = 0x18
	descError            = 0x1d
	descReceived         = 0x23
	descAccepted         = 0x24
	descRejected         = 0x25
	descReleased         = 0x26
	descModified         = 0x27
	descSource           = 0x28
	descTarget           = 0x29
	descCoordinator      = 0x30
	descDeclare          = 0x31
	descDischarge        = 0x32
	descDeclared         = 0x33
	descTransactional    = 0x34
	descSASLMechanisms   = 0x40
	descSASLInit         = 0x41
	descSASLOutcome      = 0x44
	descHeader           = 0x70
	descDeliveryAnnots   = 0x71
	descMessageAnnots    = 0x72
	descProperties       = 0x73
	descApplicationProps = 0x74
	descData             = 0x75
	descSequence         = 0x76
	descValue            = 0x77
	descFooter           = 0x78
)

// descriptors are equal by symbol; the wire may have either form. Within a group the codes are consecutive.
var descriptors = func() map[Symbol]uint64 {
	all := map[Symbol]uint64{}
	for first, group := range map[uint64]string{
		descOpen:           "open:list begin:list attach:list flow:list transfer:list disposition:list detach:list end:list close:list",
		descError:          "error:list",
		descReceived:       "received:list accepted:list rejected:list released:list modified:list source:list target:list",
		descCoordinator:    "coordinator:list declare:list discharge:list declared:list transactional-state:list",
		descSASLMechanisms: "sasl-mechanisms:list sasl-init:list sasl-challenge:list sasl-response:list sasl-outcome:list",
		descHeader: "header:list delivery-annotations:map message-annotations:map properties:list application-properties:map " +
			"data:binary amqp-sequence:list amqp-value:* footer:map",
	} {
		for i, name := range strings.Fields(group) {
			all[Symbol("amqp:"+name)] = first + uint64(i)
		}
	}
	return all
}()

// zeros are the zero values of types by their AMQP names.
var zeros = map[string]any{
	"boolean": false, "string": "", "symbol": Symbol(""), "char": Char(0), "float": float32(0), "double": float64(0),
	"byte": int8(0), "short": int16(0), "int": int32(0), "long": int64(0),
	"ubyte": uint8(0), "ushort": uint16(0), "uint": uint32(0), "ulong": uint64(0),
	"timestamp": time.Time{}, "uuid": UUID{}, "binary": []byte{}, "list": List{}, "map": Map{}, "array": Array{},
}

var typeNames = func() map[reflect.Type]string {
	names := map[reflect.Type]string{}
	for name, zero := range zeros {
		names[reflect.TypeOf(zero)] = name
	}
	return names
}()

// TypeOf returns the name of the AMQP type of a value, or the descriptor of a described value.
func TypeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case Decimal:
		return "decimal" + strconv.Itoa(8*len(v))
	case Described:
		if name, ok := v.Descriptor.(Symbol); ok {
			return strings.TrimPrefix(string(name), "com.microsoft:")
		}
		return "described"
	default:
		return cmp.Or(typeNames[reflect.TypeOf(value)], fmt.Sprintf("%T", value))
	}
}

// Integer returns an integer of any type and width; a larger one than int64 holds becomes its largest.
func Integer(value any) (n int64, ok bool) {
	if _, isChar := value.(Char); isChar {
		return 0, false
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		return int64(min(v.Uint(), math.MaxInt64)), true
	default:
		return 0, false
	}
}

// ParseInteger parses a number of an integer type, such as "ubyte".
func ParseInteger(kind, text string) (any, error) {
	if _, ok := Integer(zeros[kind]); !ok {
		return nil, fmt.Errorf("%q is no type of whole numbers", kind)
	}
	v := reflect.New(reflect.TypeOf(zeros[kind])).Elem()
	if v.CanUint() {
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
		return v.Interface(), err
	}
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	v.SetInt(n)
	return v.Interface(), err
}

// ParseUUID parses a UUID. Braces and hyphens are optional.
func ParseUUID(text string) (UUID, error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(text, "{}"), "-", ""))
	if err != nil || len(raw) != 16 {
		return UUID{}, fmt.Errorf("%q is not a UUID", text)
	}
	return UUID(raw), nil
}
