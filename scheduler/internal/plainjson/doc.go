// Package plainjson encodes and decodes JSON objects without reflection, for stored data whose encoding costs matter.
//
// A type passes its fields once, in order, to a [Codec], which writes or reads them. Guarantees:
//
//  1. A Codec writes the same bytes as encoding/json for a struct with these fields. A method with the prefix Opt omits
//     a zero field, like omitempty and omitzero.
//  2. A Codec reads only what a Codec has written. It rejects any other text, even one that differs by a space, an
//     additional field or the order. Pass rejected text to encoding/json, which decodes it or reports the error.
package plainjson
