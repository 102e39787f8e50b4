package scheduler

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The first field of a stored job is its form: a digit, the version, and eight hexadecimal digits, a checksum of all
// that follows the field. If it matches, the job was valid and canonical when it was written, and is not validated
// again. A job with another form, or a wrong checksum, is damaged.
const (
	formMark      = `{"form":"1--------",`
	formVersionAt = len(`{"form":"`)
	formSumAt     = formVersionAt + 1
	formSumEnd    = formSumAt + 8
)

// Reasons why a stored job is damaged.
var (
	errForm    = errors.New("form: unknown: a later version of Carillon may have written it")
	errChanged = errors.New("form: the checksum is not that of what follows: it was changed outside Carillon, or the disk did")
)

// checkForm returns an error unless this version can trust the stored job: known form, correct checksum.
func checkForm(data []byte) error {
	if len(data) < len(formMark) || string(data[:formSumAt]) != formMark[:formSumAt] || string(data[formSumEnd:len(formMark)]) != `",` {
		return errForm
	}
	if sum := checksum(data[len(formMark):]); !bytes.Equal(data[formSumAt:formSumEnd], sum[:]) {
		return errChanged
	}
	return nil
}

// signed writes the checksum into a stored job that begins with formMark.
func signed(data []byte) []byte {
	sum := checksum(data[len(formMark):])
	copy(data[formSumAt:], sum[:])
	return data
}

// castagnoli is the polynomial with hardware support. It detects every change of up to four consecutive bytes.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers everything after the form except sealed texts: these are authenticated themselves, and a key rotation
// rewrites them.
func checksum(data []byte) (digits [8]byte) {
	sum := uint32(0)
	for {
		sealed, after := document.NextSealed(data)
		sum = crc32.Update(sum, castagnoli, data[:sealed])
		if after == len(data) {
			break
		}
		data = data[after:]
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], sum)
	hex.Encode(digits[:], b[:])
	return digits
}
