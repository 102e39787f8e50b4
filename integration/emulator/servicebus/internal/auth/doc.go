// Package auth controls access to the emulator: shared access keys, the tokens signed with them, and the strictness of
// their checks.
//
// [Off] checks nothing. [Lenient] requires a well-formed, unexpired token but accepts any key, so that a program runs
// with its connection string unchanged. [Strict] requires the signature of a configured key, and a token that covers
// the resource.
package auth
