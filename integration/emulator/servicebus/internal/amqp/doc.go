// Package amqp is the AMQP 1.0 codec of the Service Bus emulator: types,
// frames, performatives and the sections of a message. It does no I/O beyond
// reading frames and knows nothing of links, sessions or entities.
//
// # Guarantees
//
//  1. Any input is safe. Decoding never panics, and never allocates more than
//     a small multiple of the bytes it was given: every size and count is
//     checked against what is left, arrays of elements without width included,
//     and nesting ends at [MaxDepth].
//  2. Nothing is lost. [ParseMessage] keeps a message as its bytes; an
//     [Edit] rewrites the sections it names and copies the others as they are,
//     types unknown to this package included.
//  3. Lists are written at full length. Some clients index the fields of a
//     performative without looking at how many there are.
//
// # AMQP types in Go
//
// A decoded value is nil, bool, uint8, uint16, uint32, uint64, int8, int16,
// int32, int64, float32, float64, [Char], [Decimal], [time.Time], [UUID],
// []byte, string, [Symbol], [List], [Map], [Array] or [Described]. The same are
// encoded, in the smallest form the type has.
package amqp
