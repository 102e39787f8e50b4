package scheduler

import (
	"bytes"
	"encoding/json"
)

// Signed is a stored job with the mark of its form.
func Signed(formless []byte) []byte {
	return signed(append([]byte(formMark), bytes.TrimPrefix(formless, []byte("{"))...))
}

// ReadValidated is [ReadJob] without trust in what is stored.
func ReadValidated(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	return readJob(k, revision, data, Reading{Actions: actions, Key: k, stored: true}, secrets)
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
