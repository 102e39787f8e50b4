// Package secrets is `carillon secrets`, and the key files of a scheduler.
//
// The value of a secret is never an argument or a flag, and never shown: not while it is typed, and not in an
// error. A key file is read only if nobody but its owner can read it, and written as a whole or not at all.
package secrets
