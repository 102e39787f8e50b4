package filter

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

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

// Unzoned is the location of a time that was given without a zone. It counts as UTC, and is given back as it was.
var Unzoned = time.FixedZone("", 0)

// Span returns the AMQP value of a duration.
func Span(d time.Duration) amqp.Described {
	return amqp.Described{Descriptor: spanName, Value: int64(d / tick)}
}

// SpanLength returns the duration that a value is, if it is one that Go can hold.
func SpanLength(v any) (time.Duration, bool) {
	ticks, ok := ticksOf(v, spanName)
	d := time.Duration(ticks) * tick
	return d, ok && int64(d/tick) == ticks
}

// Offset returns the AMQP value of an instant that .NET has with an offset, which AMQP does not carry.
func Offset(t time.Time) amqp.Described {
	return amqp.Described{Descriptor: offsetName, Value: t.Unix()*int64(time.Second/tick) + int64(t.Nanosecond())/100 + epochTicks}
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

// valueOfDescribed returns the value of a described one. Those of unknown descriptors, and other values, are unknown.
func valueOfDescribed(v any) value {
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
