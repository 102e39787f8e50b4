package scheduler

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The first member of a stored job tells its form: a digit, the version, and eight hexadecimal digits, a checksum of all
// that follows the member. A reader that finds it right has what was valid and canonical when it was written, and does not
// validate it again. A job of another form, or with a wrong checksum, is damaged.
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

// checkForm returns an error unless a stored job is as this version has written it.
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

// castagnoli is the polynomial for which processors have an instruction. It
// finds every change of up to four bytes in a row.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is that of what follows the form, but for sealed texts: these are authenticated themselves, and a rotation of
// keys writes new ones.
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
