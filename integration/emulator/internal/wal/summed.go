package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// summed frames records with a checksum of their own, and one of the head, wherever they are.
type summed struct{}

const (
	summedHead = 12
	// maxSummed is the length of the longest record that is believed to be one.
	maxSummed = 16 << 20
)

func (summed) append(dst []byte, _ Position, record []byte) []byte {
	head := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(record)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(record, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[head:], castagnoli))
	return append(dst, record...)
}

// length is that of the record at the front of b, or false if its head is not intact.
func (summed) length(b []byte) (int, bool) {
	if len(b) < summedHead || binary.LittleEndian.Uint32(b[8:]) != crc32.Checksum(b[:8], castagnoli) {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(b)
	return int(length), length <= maxSummed
}

func (s summed) cut(b []byte, _ Position) (record, rest []byte, ok bool) {
	length, ok := s.length(b)
	if !ok || length > len(b)-summedHead {
		return nil, b, false
	}
	record = b[summedHead : summedHead+length]
	if binary.LittleEndian.Uint32(b[4:]) != crc32.Checksum(record, castagnoli) {
		return nil, b, false
	}
	return record, b[summedHead+length:], true
}

// torn reports whether b is a part of a head, zeros, or a record that is the last and not whole or has a hole.
func (s summed) torn(b []byte, _ Position) bool {
	if len(b) < summedHead || zeros(b) {
		return true
	}
	length, ok := s.length(b)
	return ok && length >= len(b)-summedHead
}

// unfinished reports whether b has less than its record says.
func (s summed) unfinished(b []byte, _ Position) bool {
	size, ok := s.believed(b)
	return len(b) < summedHead || zeros(b) || ok && size > len(b)
}

func (s summed) believed(b []byte) (int, bool) {
	length, ok := s.length(b)
	return summedHead + length, ok
}
