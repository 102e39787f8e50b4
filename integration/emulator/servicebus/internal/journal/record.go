package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// MaxRecord is how many bytes a record may have.
const MaxRecord = 256 << 20

// A Position is a place in the log: how many bytes of records and their heads have been appended before, ever.
type Position int64

const (
	magic      = "carillon journal 1\n"
	fileHead   = len(magic) + 8 // and the position
	recordHead = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers a record and its position.
func checksum(at Position, record []byte) uint32 {
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], uint64(at))
	binary.BigEndian.PutUint32(head[8:], uint32(len(record)))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, record)
}

// appendRecord appends a record that is at a position.
func appendRecord(dst []byte, at Position, record []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(record)))
	dst = binary.BigEndian.AppendUint32(dst, checksum(at, record))
	return append(dst, record...)
}

// cutRecord takes the record at a position off the front of b, or returns false if there is no intact one.
func cutRecord(b []byte, at Position) (record, rest []byte, ok bool) {
	if len(b) < recordHead {
		return nil, b, false
	}
	size, sum := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if size == 0 || size > MaxRecord || uint64(size) > uint64(len(b)-recordHead) {
		return nil, b, false
	}
	record = b[recordHead : recordHead+int(size)]
	if checksum(at, record) != sum {
		return nil, b, false
	}
	return record, b[recordHead+int(size):], true
}

// intactAfter reports whether any intact record begins in b, after its first byte.
func intactAfter(b []byte, at Position) bool {
	for i := 1; i+recordHead < len(b); i++ {
		if _, _, ok := cutRecord(b[i:], at+Position(i)); ok {
			return true
		}
	}
	return false
}

// appendFileHead appends what a file begins with.
func appendFileHead(dst []byte, at Position) []byte {
	return binary.BigEndian.AppendUint64(append(dst, magic...), uint64(at))
}

// A CorruptError tells where a file is damaged.
type CorruptError struct {
	File    string
	Offset  int64 // in bytes, from 0
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at offset %d: %s", e.File, e.Offset, e.Problem)
}
