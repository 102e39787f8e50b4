package wal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Position is a byte offset in a log, counting records and their heads. Positions of a [Segmented] log count
// from its very beginning, those of a [Single] one from the beginning of the opened file.
type Position int64

// A Format is the layout of a log in the files of its directory.
type Format struct {
	segmented bool
	magic     string // what every file begins with
	lock      string // the name of the lock file
	logs      fileName
	snapshots fileName // of a segmented log
	drafts    fileName // of snapshots that are being made
	framing   framing
}

// A framing is the layout of a record in a file.
type framing interface {
	// append appends a record that is at a position.
	append(dst []byte, at Position, record []byte) []byte
	// cut splits off the record at a position from the front of b. It returns false if that record is not intact.
	cut(b []byte, at Position) (record, rest []byte, ok bool)
	surgery
}

// surgery is about b, in which no intact record begins.
type surgery interface {
	// torn reports whether b is the remainder of an incomplete write at the end of a file.
	torn(b []byte, at Position) bool
	// unfinished reports whether b, which is torn, is no more than the end of a process or of power leaves of a record: its beginning,
	// or zeros. Anything else was whole once.
	unfinished(b []byte, at Position) bool
	// believed returns how many bytes of b the record at its front says that it has, itself and its head, or false.
	believed(b []byte) (int, bool)
}

// Segmented is the format of a log in files named by their start position, with separate snapshots.
func Segmented(magic string) Format {
	hexadecimal := func(suffix string) fileName { return fileName{base: 16, digits: 16, suffix: suffix} }
	return Format{
		segmented: true, magic: magic, lock: "lock", logs: hexadecimal(".log"), snapshots: hexadecimal(".snapshot"),
		drafts: hexadecimal(".snapshot.tmp"), framing: positioned{},
	}
}

// Single is the format of a log in one file, which a snapshot replaces. The names of files begin with the prefix.
func Single(magic, prefix string) Format {
	numbered := func(suffix string) fileName {
		return fileName{prefix: prefix + "-", base: 10, digits: 6, suffix: suffix}
	}
	return Format{
		magic: magic, lock: prefix + ".lock", logs: numbered(".log"), drafts: numbered(".new"), framing: summed{},
	}
}

// head returns the head of the file with a number.
func (f *Format) head(number int64) []byte {
	head := []byte(f.magic)
	if f.segmented {
		head = binary.BigEndian.AppendUint64(head, uint64(number))
	}
	return head
}

// headTorn reports whether a file has no more than a part of its head, or the zeros that some file systems leave after
// losing power.
func (f *Format) headTorn(content []byte, number int64) bool {
	head := f.head(number)
	return len(content) < len(head) && bytes.HasPrefix(head, content) || len(content) <= len(head) && zeros(content)
}

// headDamaged reports whether a file's head is damaged, rather than that of another format: the end of the magic
// word is its version.
func (f *Format) headDamaged(content []byte, number int64) bool {
	head, wrong := f.head(number), 0
	if len(content) < len(head) {
		return false
	}
	for i := range head {
		if content[i] != head[i] {
			wrong++
		}
	}
	version := len(f.magic) - 2
	return wrong <= damagedHead && string(content[version:len(f.magic)]) == f.magic[version:]
}

// damagedHead is how many bytes of a head may be wrong for it to be believed.
const damagedHead = 1

// zeros reports whether there is nothing else in b.
func zeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// A fileName is a pattern of names that have a number.
type fileName struct {
	prefix, suffix string
	base, digits   int // at least so many digits
}

// of is the name with a number.
func (f fileName) of(number int64) string {
	digits := strconv.FormatInt(number, f.base)
	return f.prefix + strings.Repeat("0", max(f.digits-len(digits), 0)) + digits + f.suffix
}

// list returns the numbers of the files in a directory that have such a name, in order.
func (f fileName) list(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for _, entry := range entries {
		digits := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), f.prefix), f.suffix)
		if number, err := strconv.ParseInt(digits, f.base, 64); err == nil && entry.Name() == f.of(number) {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// remove removes the files with a number below a limit. It leaves files that it cannot remove to the next call.
func (f fileName) remove(dir string, limit int64) {
	numbers, err := f.list(dir)
	for _, number := range numbers {
		if err == nil && number < limit {
			_ = os.Remove(filepath.Join(dir, f.of(number)))
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// positioned frames records with a checksum that covers their position. Records are never empty.
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

// unfinished reports whether b is shorter than its record, and is not a whole record with a damaged length.
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

// summed frames records with a checksum of the head and one of the content, independent of the position.
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

// length returns the length of the record at the front of b, or false if its head is damaged.
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
