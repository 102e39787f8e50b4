// Package plainjson writes and reads objects of JSON without reflection, for what is stored and read so often that its
// encoding costs.
//
// A type names its members once, in their order, to a [Codec], which writes or reads them. What that guarantees:
//
//  1. What a Codec writes is what encoding/json writes of a struct with these members, byte for byte. A member whose
//     method begins with Opt is left out when it is zero, as with omitempty and omitzero.
//  2. A Codec reads what a Codec has written, and refuses everything else, be it by a space, a member more or another
//     order. The caller gives that to encoding/json, which reads it or says what is wrong with it.
package plainjson
