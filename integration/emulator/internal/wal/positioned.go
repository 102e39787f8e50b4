package wal

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// positioned frames records with a checksum that covers their position. There are no empty ones.
type positioned struct{}

const (
	positionedHead = 8
	// maxPositioned is the length of the longest record that is believed to be one.
	maxPositioned = 256 << 20
)

// checksum covers a record and its position.
func (positioned) checksum(at Position, record []byte) uint32 {
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], uint64(at))
	binary.BigEndian.PutUint32(head[8:], uint32(len(record)))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, record)
}

func (p positioned) append(dst []byte, at Position, record []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(record)))
	dst = binary.BigEndian.AppendUint32(dst, p.checksum(at, record))
	return append(dst, record...)
}

func (p positioned) cut(b []byte, at Position) (record, rest []byte, ok bool) {
	if len(b) < positionedHead {
		return nil, b, false
	}
	size, sum := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if size == 0 || size > maxPositioned || uint64(size) > uint64(len(b)-positionedHead) {
		return nil, b, false
	}
	record = b[positionedHead : positionedHead+int(size)]
	if p.checksum(at, record) != sum {
		return nil, b, false
	}
	return record, b[positionedHead+int(size):], true
}

// torn is true: any end without an intact record may be an unfinished write.
func (positioned) torn([]byte, Position) bool { return true }

// unfinished reports whether b has less than its record says, and is not a whole record of which only the length is damaged.
func (p positioned) unfinished(b []byte, at Position) bool {
	size, ok := p.believed(b)
	switch {
	case len(b) <= positionedHead || zeros(b):
		return true
	default:
		return ok && size > len(b) && p.checksum(at, b[positionedHead:]) != binary.BigEndian.Uint32(b[4:])
	}
}

func (positioned) believed(b []byte) (int, bool) {
	if len(b) < positionedHead {
		return 0, false
	}
	size := binary.BigEndian.Uint32(b)
	return positionedHead + int(size), size != 0 && size <= maxPositioned
}
