// Package secrets is `carillon secrets`, and reads the key files of a scheduler.
//
// The value of a secret is never an argument or a flag, and never shown: neither while it is typed nor in an
// error. A key file must be readable only by its owner, and is written atomically.
package secrets
