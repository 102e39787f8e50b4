package scheduler

import "bytes"

// Signed is a stored job of an earlier version in the form of this one.
func Signed(formless []byte) []byte {
	return signed(append([]byte(formMark), bytes.TrimPrefix(formless, []byte("{"))...))
}
