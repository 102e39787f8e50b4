package scheduler

import (
	"bytes"
	"encoding/json"
)

// Signed is a stored job of an earlier version in the form of this one.
func Signed(formless []byte) []byte {
	return signed(append([]byte(formMark), bytes.TrimPrefix(formless, []byte("{"))...))
}

// BatonByReflection is what encoding/json writes of a baton.
func BatonByReflection(b *Baton) ([]byte, error) {
	return json.Marshal(storedBaton{plainBaton(*b), b.Kind.flags()})
}

// RecordByReflection is what encoding/json writes of a record.
func RecordByReflection(r *Record) ([]byte, error) {
	stored := r.stored()
	return json.Marshal(&stored)
}

// What encoding/json reads.
var (
	ReadBatonByReflection  = decodeForeignBaton
	ReadRecordByReflection = decodeForeignRecord
)

// ReadsBaton reports whether a baton is read without reflection.
func ReadsBaton(data []byte) bool {
	_, ok := readBaton(data)
	return ok
}

// ReadsRecord reports whether a record is read without reflection.
func ReadsRecord(data []byte) bool { return new(storedRecord).read(data) }
