package filter

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

type valueKind uint8

const (
	unknown valueKind = iota
	boolean
	integer
	float
	text
	instant // milliseconds since 1970
	span    // ticks of 100 ns
	uuid    // 16 bytes
	bytes
	failed // text says why
)

// A value is the result of an expression. It is a struct, so that evaluation need not allocate.
type value struct {
	kind   valueKind
	number int64 // of boolean, integer, instant and span
	float  float64
	text   string
}

func boolOf(b bool) value {
	if b {
		return value{kind: boolean, number: 1}
	}
	return value{kind: boolean}
}

func textOf(s string) value    { return value{kind: text, text: s} }
func integerOf(n int64) value  { return value{kind: integer, number: n} }
func floatOf(f float64) value  { return value{kind: float, float: f} }
func failure(why string) value { return value{kind: failed, text: why} }

func instantOf(t time.Time) value {
	if t.IsZero() {
		return value{}
	}
	return value{kind: instant, number: t.UnixMilli()}
}

// optionalText is unknown for an empty string, which is how a property that is not there is decoded.
func optionalText(s string) value {
	if s == "" {
		return value{}
	}
	return textOf(s)
}

// valueOf returns the value of an AMQP value. Lists, maps and the like are unknown.
func valueOf(v any) value {
	switch v := v.(type) {
	case bool:
		return boolOf(v)
	case uint64:
		if v > math.MaxInt64 {
			return floatOf(float64(v))
		}
		return integerOf(int64(v))
	case float32:
		return floatOf(float64(v))
	case float64:
		return floatOf(v)
	case string:
		return textOf(v)
	case amqp.Symbol:
		return textOf(string(v))
	case amqp.Char:
		return textOf(string(rune(v)))
	case time.Time:
		return instantOf(v)
	case amqp.UUID:
		return value{kind: uuid, text: string(v[:])}
	case []byte:
		return value{kind: bytes, text: string(v)}
	default:
		return otherValue(v)
	}
}

// amqp returns the AMQP value; unknown is null.
func (v value) amqp() any {
	switch v.kind {
	case boolean:
		return v.number != 0
	case integer:
		return v.number
	case float:
		return v.float
	case text:
		return v.text
	case instant:
		return time.UnixMilli(v.number).UTC()
	case span:
		return amqp.Described{Descriptor: spanName, Value: v.number}
	case uuid:
		return amqp.UUID([]byte(v.text))
	case bytes:
		return []byte(v.text)
	default:
		return nil
	}
}

func (v value) isNumber() bool { return v.kind == integer || v.kind == float }

func (v value) asFloat() float64 {
	if v.kind == integer {
		return float64(v.number)
	}
	return v.float
}

// compare orders two values, or returns false if they have no order.
func compare(a, b value) (int, bool) {
	switch {
	case a.kind == b.kind && (a.kind == integer || a.kind == instant || a.kind == boolean || a.kind == span):
		return cmp.Compare(a.number, b.number), true
	case a.isNumber() && b.isNumber():
		x, y := a.asFloat(), b.asFloat()
		return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
	case a.kind == text && b.kind == text, a.kind == bytes && b.kind == bytes, a.kind == uuid && b.kind == uuid:
		return strings.Compare(a.text, b.text), true
	case a.kind == text && (b.kind == instant || b.kind == uuid):
		return compare(a.as(b.kind), b)
	case b.kind == text && (a.kind == instant || a.kind == uuid):
		return compare(a, b.as(a.kind))
	default:
		return 0, false
	}
}

// as parses text as a time or a UUID, for which SQL has no constants.
func (v value) as(kind valueKind) value {
	if kind == instant {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
			if t, err := time.Parse(layout, v.text); err == nil {
				return instantOf(t)
			}
		}
		return value{}
	}
	id, err := amqp.ParseUUID(v.text)
	if err != nil {
		return value{}
	}
	return value{kind: uuid, text: string(id[:])}
}

// The descriptors of values of .NET that AMQP has no types for. A span and an instant are in ticks of 100 ns, the instant since the
// year 1.
const (
	URI        amqp.Symbol = "com.microsoft:uri"
	spanName   amqp.Symbol = "com.microsoft:timespan"
	offsetName amqp.Symbol = "com.microsoft:datetime-offset"
)

const tick = 100 * time.Nanosecond

// epochTicks is 1970 in ticks.
const epochTicks = 621_355_968_000_000_000

// Unzoned is the location of a time given without a zone. It counts as UTC, and is written without a zone.
var Unzoned = time.FixedZone("", 0)

// Span returns the AMQP value of a duration.
func Span(d time.Duration) amqp.Described {
	return amqp.Described{Descriptor: spanName, Value: int64(d / tick)}
}

// SpanLength returns the duration of a value, if Go can represent it.
func SpanLength(v any) (time.Duration, bool) {
	ticks, ok := ticksOf(v, spanName)
	d := time.Duration(ticks) * tick
	return d, ok && int64(d/tick) == ticks
}

// Offset returns the AMQP value of an instant that .NET has with an offset, which AMQP does not carry.
func Offset(t time.Time) amqp.Described {
	return amqp.Described{Descriptor: offsetName, Value: Ticks(t)}
}

// Ticks returns an instant as .NET counts it.
func Ticks(t time.Time) int64 {
	return epochTicks + t.Unix()*int64(time.Second/tick) + int64(t.Nanosecond())/100
}

// OffsetTime returns the instant that such a value is.
func OffsetTime(v any) (time.Time, bool) {
	ticks, ok := ticksOf(v, offsetName)
	ticks -= epochTicks
	const second = int64(time.Second / tick)
	return time.Unix(ticks/second, ticks%second*100).UTC(), ok
}

func ticksOf(v any, descriptor amqp.Symbol) (int64, bool) {
	described, ok := v.(amqp.Described)
	if !ok || described.Descriptor != descriptor {
		return 0, false
	}
	ticks, ok := described.Value.(int64)
	return ticks, ok
}

// otherValue returns the value of an integer or of a described type. Unknown descriptors and other values are unknown.
func otherValue(v any) value {
	if n, ok := amqp.Integer(v); ok {
		return integerOf(n)
	}
	if ticks, ok := ticksOf(v, spanName); ok {
		return value{kind: span, number: ticks}
	}
	if t, ok := OffsetTime(v); ok {
		return instantOf(t)
	}
	if described, ok := v.(amqp.Described); ok && described.Descriptor == URI {
		address, _ := described.Value.(string)
		return textOf(address)
	}
	return value{}
}
