package scheduler

import (
	"bytes"
	"encoding/json"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Signed adds the mark of its form to a stored job.
func Signed(formless []byte) []byte {
	return signed(append([]byte(formMark), bytes.TrimPrefix(formless, []byte("{"))...))
}

// ReadValidated is [ReadJob] with full validation.
func ReadValidated(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	return readJob(k, revision, data, DefinitionDecoder{Actions: actions, Key: k, stored: true}, secrets)
}

// Compact reports whether d holds its properties only as text.
func Compact(d *Definition) bool { return d.text != "" && d.properties.Kind() == document.KindNull }

// BatonByReflection encodes a baton with encoding/json.
func BatonByReflection(b *Baton) ([]byte, error) {
	return json.Marshal(storedBaton{plainBaton(*b), b.Kind.flags()})
}

// RecordByReflection encodes a record with encoding/json.
func RecordByReflection(r *Record) ([]byte, error) {
	stored := r.stored()
	return json.Marshal(&stored)
}

// Decoders that use encoding/json.
var (
	ReadBatonByReflection  = decodeForeignBaton
	ReadRecordByReflection = decodeForeignRecord
)

// ReadsBaton reports whether a baton is decoded without reflection.
func ReadsBaton(data []byte) bool { return new(Baton).read(data) }

// ReadsRecord reports whether a record is decoded without reflection.
func ReadsRecord(data []byte) bool { return new(storedRecord).read(data) }
