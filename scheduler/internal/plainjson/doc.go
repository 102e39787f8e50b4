// Package plainjson writes and reads objects of JSON without reflection, for what is stored and read so often that its
// encoding costs.
//
// A type says its members twice, in the same order: to a [Writer], and to a [Reader]. What that guarantees:
//
//  1. What a Writer writes is what encoding/json writes of a struct with these members, byte for byte. A member whose
//     method begins with Opt is left out when it is zero, as with omitempty and omitzero.
//  2. A Reader reads what a Writer has written, and nothing else. Whatever differs from that, be it by a space, a member
//     more or another order, is refused without a word on why: the caller gives it to encoding/json then, which reads it,
//     or says what is wrong. So what a Reader accepts has one meaning, and what others have written costs more, but is
//     understood alike.
package plainjson
