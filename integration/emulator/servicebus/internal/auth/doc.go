// Package auth decides who may use the emulator: shared access keys, the
// tokens signed with them, and how strictly either is looked at.
//
// Under [Off] nothing is checked. Under [Lenient] a token has to be well formed
// and not expired, but any key will do, so that a program runs with whatever
// connection string it has. Under [Strict] the signature must be that of a
// configured key and the token must cover what it is used for.
package auth
