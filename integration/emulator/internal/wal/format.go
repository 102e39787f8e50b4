package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Position is a byte offset in a log, counting records and their heads from its very beginning.
type Position int64

// A fileName is the suffix of file names that begin with a position.
type fileName string

const (
	logs      fileName = ".log"
	snapshots fileName = ".snapshot"
	drafts    fileName = ".snapshot.tmp" // snapshots that are being made

	lockFile = "lock"
)

// of is the name with a position.
func (f fileName) of(begin Position) string { return fmt.Sprintf("%016x%s", int64(begin), string(f)) }

// list returns the positions of the files in a directory that have the suffix, in order. It refuses any other file with the suffix:
// data of another format, which would look lost.
func (f fileName) list(dir string) ([]Position, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var begins []Position
	for _, entry := range entries {
		digits, ok := strings.CutSuffix(entry.Name(), string(f))
		if !ok {
			continue
		}
		begin, err := strconv.ParseInt(digits, 16, 64)
		if err != nil || begin < 0 || entry.Name() != f.of(Position(begin)) {
			return nil, fmt.Errorf("%s is not a file of this log: move it away or delete it", filepath.Join(dir, entry.Name()))
		}
		begins = append(begins, Position(begin))
	}
	slices.Sort(begins)
	return begins, nil
}

// remove removes the files with a position below a limit. It leaves files that it cannot remove to the next call.
func (f fileName) remove(dir string, limit Position) {
	begins, err := f.list(dir)
	for _, begin := range begins {
		if err == nil && begin < limit {
			_ = os.Remove(filepath.Join(dir, f.of(begin)))
		}
	}
}

// head returns the head of the file with a position.
func (l *Log) head(begin Position) []byte {
	return binary.BigEndian.AppendUint64([]byte(l.config.Magic), uint64(begin))
}

func (l *Log) headSize() int64 { return int64(len(l.config.Magic)) + 8 }

// headTorn reports whether a file has no more than a part of its head, or the zeros that some file systems leave after
// losing power.
func (l *Log) headTorn(content []byte, begin Position) bool {
	head := l.head(begin)
	return len(content) < len(head) && bytes.HasPrefix(head, content) || len(content) <= len(head) && zeros(content)
}

// damagedHead limits the wrong bytes of a head that is still recognized.
const damagedHead = 1

// headDamaged reports whether a file's head is damaged, rather than that of another format: the end of the magic
// word is its version.
func (l *Log) headDamaged(content []byte, begin Position) bool {
	head, wrong := l.head(begin), 0
	if len(content) < len(head) {
		return false
	}
	for i := range head {
		if content[i] != head[i] {
			wrong++
		}
	}
	magic := l.config.Magic
	version := len(magic) - 2
	return wrong <= damagedHead && string(content[version:len(magic)]) == magic[version:]
}

// zeros reports whether there is nothing else in b.
func zeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	recordHead = 8
	// maxRecord is the length of the longest record that is believed to be one.
	maxRecord = 256 << 20
)

// checksum covers a record and its position, so that bytes within a record do not count as a record.
func checksum(at Position, record []byte) uint32 {
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], uint64(at))
	binary.BigEndian.PutUint32(head[8:], uint32(len(record)))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, record)
}

// frame appends a record that is at a position.
func frame(dst []byte, at Position, record []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(record)))
	dst = binary.BigEndian.AppendUint32(dst, checksum(at, record))
	return append(dst, record...)
}

// cutRecord splits off the record at a position from the front of b. It returns false if that record is not intact.
func cutRecord(b []byte, at Position) (record, rest []byte, ok bool) {
	size, ok := believed(b)
	if !ok || size > len(b) || checksum(at, b[recordHead:size]) != binary.BigEndian.Uint32(b[4:]) {
		return nil, b, false
	}
	return b[recordHead:size], b[size:], true
}

// believed returns the size that the record at the front of b claims, with its head, or false.
func believed(b []byte) (int, bool) {
	if len(b) < recordHead {
		return 0, false
	}
	size := binary.BigEndian.Uint32(b)
	return recordHead + int(size), size != 0 && size <= maxRecord
}

// unfinished reports whether b, the end of a file without an intact record, is the rest of a write that a crash or a power
// failure interrupted: the beginning of a record, or zeros. Anything else was complete once.
func unfinished(b []byte, at Position) bool {
	if len(b) <= recordHead || zeros(b) {
		return true
	}
	size, ok := believed(b)
	return ok && size > len(b) && checksum(at, b[recordHead:]) != binary.BigEndian.Uint32(b[4:])
}
