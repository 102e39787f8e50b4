package browse

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// A Property is a value with its name, as text.
type Property struct {
	Name, Type, Value string
}

// Types are the types of a property of a draft.
func Types() []string {
	return []string{
		"string", "boolean", "int", "long", "double", "timestamp", "uuid", "byte", "short", "ubyte", "ushort", "uint", "ulong",
		"float", "char", "symbol", "binary", "timespan", "null",
	}
}

// text is a value for people. It can be parsed again, unless it is of several values.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case amqp.Symbol:
		return string(v)
	case amqp.Char:
		return string(rune(v))
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []byte:
		return hex.EncodeToString(v)
	case amqp.Decimal:
		return "0x" + hex.EncodeToString([]byte(v))
	case amqp.Described:
		if d, ok := filter.SpanLength(v); ok {
			return d.String()
		}
		return text(v.Value)
	case amqp.List, amqp.Map, amqp.Array:
		var b strings.Builder
		writeValue(&b, value, 0)
		return b.String()
	default:
		return fmt.Sprint(v)
	}
}

// maxWritten limits the text of a compound value.
const maxWritten = 256 << 10

// writeValue writes a value in the manner of JSON.
func writeValue(b *strings.Builder, value any, depth int) {
	if b.Len() > maxWritten {
		return
	}
	switch v := value.(type) {
	case amqp.List:
		writeAll(b, "[", "]", len(v), depth, func(i int) { writeValue(b, v[i], depth+1) })
	case amqp.Array:
		writeAll(b, "[", "]", len(v), depth, func(i int) { writeValue(b, v[i], depth+1) })
	case amqp.Map:
		writeAll(b, "{", "}", len(v), depth, func(i int) {
			b.WriteString(strconv.Quote(text(v[i].Key)) + ": ")
			writeValue(b, v[i].Value, depth+1)
		})
	case nil:
		b.WriteString("null")
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64:
		fmt.Fprint(b, v)
	default:
		b.WriteString(strconv.Quote(text(v)))
	}
}

func writeAll(b *strings.Builder, open, end string, n, depth int, one func(i int)) {
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		if b.Len() > maxWritten {
			b.WriteString(" …")
			break
		}
		b.WriteString("\n" + strings.Repeat("  ", depth+1))
		one(i)
	}
	if n > 0 {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString(end)
}

// value parses the text of a property.
func (p Property) value() (any, error) {
	v, err := p.parse()
	switch n, ok := errors.AsType[*strconv.NumError](err); {
	case err == nil:
		return v, nil
	case ok && errors.Is(n, strconv.ErrRange):
		return nil, fmt.Errorf("%q is too large or too small for the type %s", p.Value, p.Type)
	case p.Type == "boolean":
		return nil, fmt.Errorf("%q is neither true nor false", p.Value)
	case p.Type == "timespan":
		return nil, fmt.Errorf("%q is not a timespan such as 1h30m", p.Value)
	case p.Type == "binary":
		return nil, fmt.Errorf("%q is not hex digits, two for each byte", p.Value)
	case ok:
		return nil, fmt.Errorf("%q is not a number of the type %s", p.Value, p.Type)
	}
	return nil, err
}

func (p Property) parse() (any, error) {
	s := p.Value
	switch p.Type {
	case "", "string":
		return s, nil
	case "symbol":
		return amqp.Symbol(s), nil
	case "null":
		return nil, nil //nolint:nilnil // the value null
	case "boolean":
		return checked(strconv.ParseBool(strings.ToLower(s)))
	case "byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong":
		return checked(amqp.ParseInteger(p.Type, s))
	case "float":
		f, err := strconv.ParseFloat(s, 32)
		return checked(float32(f), err)
	case "double":
		return checked(strconv.ParseFloat(s, 64))
	case "timestamp":
		return checked(ParseTime(s))
	case "timespan":
		d, err := time.ParseDuration(s)
		return checked(filter.Span(d), err)
	case "binary":
		return checked(hex.DecodeString(s))
	case "uuid":
		return checked(amqp.ParseUUID(s))
	case "char":
		if r, n := utf8.DecodeRuneInString(s); n == len(s) && n > 0 {
			return amqp.Char(r), nil
		}
		return nil, fmt.Errorf("%q is not one character", s)
	default:
		return nil, fmt.Errorf("is of type %s, which cannot be written", p.Type)
	}
}

// checked returns a value as any, unless there is an error.
func checked[T any](value T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// ParseTime reads a time in RFC 3339, or one in UTC without its zone, as forms have it.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-11-23T17:00:00Z", s)
}

// properties lists a map.
func properties(m amqp.Map) []Property {
	var all []Property
	for _, pair := range m {
		all = append(all, Property{text(pair.Key), amqp.TypeOf(pair.Value), text(pair.Value)})
	}
	return all
}
