package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"strings"
	"unicode/utf8"

	"github.com/minio/highwayhash"
)

// The layout of a record, little-endian: its length with headerBit, its sequence
// with deletedBit or tombstoneBit, its time, the length of its subject, the subject;
// with headerBit the length of the headers, and these; the body; the checksum.
const (
	recordHead   = 4 + 8 + 8 + 2
	recordSum    = 8
	headerLength = 4
	largest      = 32 << 20 // that the server takes for one

	headerBit    = 1 << 31
	deletedBit   = 1 << 63
	tombstoneBit = 1 << 62
)

// record is one of a block.
type record struct {
	length    int // of all of it
	sequence  uint64
	tombstone bool // it says that the message of the sequence was removed
	deleted   bool // it was a message
	subject   string
}

// message reports whether the record is one that can be read.
func (r *record) message() bool { return !r.tombstone && !r.deleted }

// block reads the records of one file.
type block struct {
	data  []byte
	sum   hash.Hash64
	found [recordSum]byte
}

// newBlock returns the block of a stream with a number: its checksums are keyed with
// both.
func newBlock(stream string, number int, data []byte) (*block, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, number))
	sum, err := highwayhash.New64(key[:])
	return &block{data: data, sum: sum}, err
}

// at reads the record at an offset. legible says that what it returns of one that is
// not sound looks like a record.
func (b *block) at(offset int) (r record, sound, legible bool) {
	left := b.data[offset:]
	if len(left) < recordHead {
		return r, false, false
	}
	le := binary.LittleEndian
	word, sequence, name := le.Uint32(left), le.Uint64(left[4:]), int(le.Uint16(left[20:]))
	headers := word&headerBit != 0
	r.length = int(word &^ headerBit)
	r.tombstone, r.deleted = sequence&tombstoneBit != 0, sequence&deletedBit != 0
	r.sequence = sequence &^ (tombstoneBit | deletedBit)
	begin := recordHead + name
	if headers {
		begin += headerLength
	}
	if r.length > largest || begin > r.length-recordSum || r.sequence == 0 && !r.deleted {
		return r, false, false
	}
	if recordHead+name <= len(left) && r.message() {
		r.subject = string(left[recordHead : recordHead+name])
		legible = readable(r.subject)
	}
	if r.length > len(left) || r.message() != legible || !r.message() && name > 0 {
		return r, false, legible
	}
	end := r.length - recordSum
	b.sum.Reset()
	b.sum.Write(left[4:20])
	b.sum.Write(left[recordHead : recordHead+name])
	b.sum.Write(left[begin:end])
	if !bytes.Equal(b.sum.Sum(b.found[:0]), left[end:r.length]) {
		return r, false, legible
	}
	return r, !headers || splits(left[recordHead+name:end]), legible
}

// splits reports whether the length in front of headers, which no checksum covers,
// is theirs.
func splits(b []byte) bool {
	n := int(binary.LittleEndian.Uint32(b))
	b = b[headerLength:]
	return n <= len(b) && bytes.HasPrefix(b, []byte("NATS/1.0")) && bytes.HasSuffix(b[:n], []byte("\r\n\r\n"))
}

// readable reports whether text can be a subject.
func readable(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

// stretch is a run of bytes in a block that holds no sound record.
type stretch struct {
	offset, length int
	zeros          bool     // nothing else is in it
	cut            bool     // it goes to the end of the block, in the middle of a record
	subjects       []string // of messages that can still be told
}

// subjectsKept is how many messages of a stretch are told.
const subjectsKept = 100

// scan returns what in the block is sound, in pieces, and what is not. last is the
// last sequence of all.
func (b *block) scan() (sound [][]byte, bad []stretch, last uint64) {
	from := 0 // of the piece
	for offset := 0; offset < len(b.data); {
		r, ok, _ := b.at(offset)
		if ok {
			last = max(last, r.sequence)
			offset += r.length
			continue
		}
		if offset > from {
			sound = append(sound, b.data[from:offset])
		}
		s := b.stretch(offset)
		bad = append(bad, s)
		offset += s.length
		from = offset
	}
	if len(b.data) > from {
		sound = append(sound, b.data[from:])
	}
	return sound, bad, last
}

// stretch returns the bad one that begins at an offset: it ends where the next sound
// record begins.
func (b *block) stretch(offset int) stretch {
	s := stretch{offset: offset}
	end := offset
	for next := offset; end < len(b.data); {
		if r, sound, legible := b.at(end); sound && end > offset {
			break
		} else if legible && end == next && r.message() {
			if len(s.subjects) < subjectsKept {
				s.subjects = append(s.subjects, r.subject)
			}
			next = end + r.length
			s.cut = next > len(b.data)
		} else if end >= next {
			next = end + 1
		}
		end++
	}
	s.length = end - offset
	s.zeros = len(bytes.Trim(b.data[offset:end], "\x00")) == 0
	return s
}
