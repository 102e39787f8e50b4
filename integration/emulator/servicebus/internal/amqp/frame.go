package amqp

import (
	"encoding/binary"
	"errors"
	"io"
)

// The kinds of frames.
const (
	FrameAMQP = 0
	FrameSASL = 1
)

// MinFrameSize is the frame size that every peer accepts.
const MinFrameSize = 512

// ProtocolHeader is a protocol header: "AMQP", the protocol's id and the version.
type ProtocolHeader [8]byte

// The protocol headers.
var (
	HeaderAMQP = ProtocolHeader{'A', 'M', 'Q', 'P', 0, 1, 0, 0}
	HeaderSASL = ProtocolHeader{'A', 'M', 'Q', 'P', 3, 1, 0, 0}
	HeaderTLS  = ProtocolHeader{'A', 'M', 'Q', 'P', 2, 1, 0, 0}
)

// A Frame is one frame; a heartbeat has no body.
type Frame struct {
	Kind    byte
	Channel uint16
	Body    []byte
}

// ErrFrameTooLarge reports a frame that exceeds the limit.
var ErrFrameTooLarge = errors.New("frame exceeds the maximum size")

// firstBuffer is the buffer size for connections without large messages.
const firstBuffer = 4 << 10

// A Reader reads protocol headers and frames. Its buffer grows up to the largest frame allowed.
type Reader struct {
	src        io.Reader
	max        int
	buf        []byte
	start, end int
}

// NewReader returns a Reader that refuses frames larger than maxFrame bytes.
func NewReader(src io.Reader, maxFrame int) *Reader {
	return &Reader{src: src, max: max(maxFrame, MinFrameSize)}
}

// Header reads a protocol header.
func (r *Reader) Header() (ProtocolHeader, error) {
	if err := r.fill(8); err != nil {
		return ProtocolHeader{}, err
	}
	header := ProtocolHeader(r.buf[r.start:])
	r.start += 8
	return header, nil
}

// Frame reads one frame. Its body is good until the next call. [io.EOF] means that the peer ended between two frames.
func (r *Reader) Frame() (Frame, error) {
	if err := r.fill(8); err != nil {
		return Frame{}, err
	}
	head := r.buf[r.start:r.end]
	size := binary.BigEndian.Uint32(head)
	offset := int(head[4]) * 4
	switch {
	case size < 8 || offset < 8 || uint32(offset) > size:
		return Frame{}, malformed("a frame of %d bytes with its body at %d", size, offset)
	case size > uint32(r.max):
		return Frame{}, ErrFrameTooLarge
	}
	if err := r.fill(int(size)); err != nil {
		return Frame{}, err
	}
	b := r.buf[r.start : r.start+int(size)]
	r.start += int(size)
	return Frame{Kind: b[5], Channel: binary.BigEndian.Uint16(b[6:]), Body: b[offset:]}, nil
}

// Ready reports whether the next call of Frame returns without reading from the source.
func (r *Reader) Ready() bool {
	buffered := r.end - r.start
	return buffered >= 8 && uint64(buffered) >= uint64(binary.BigEndian.Uint32(r.buf[r.start:]))
}

// fill reads until at least n bytes are buffered.
func (r *Reader) fill(n int) error {
	if r.end-r.start >= n {
		return nil
	}
	if r.start+n > len(r.buf) || r.start == r.end {
		r.makeRoom(n)
	}
	for r.end-r.start < n {
		read, err := r.src.Read(r.buf[r.end:])
		r.end += read
		switch {
		case r.end-r.start >= n:
			return nil
		case errors.Is(err, io.EOF) && r.end > r.start:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// makeRoom moves buffered data to the front, of a larger buffer if n bytes need one or input keeps filling this one.
func (r *Reader) makeRoom(n int) {
	size := len(r.buf)
	if full := size > 0 && r.end == size; full {
		size *= 2
	}
	size = min(max(size, n, firstBuffer), max(n, r.max))
	if size > len(r.buf) {
		larger := make([]byte, size)
		r.end = copy(larger, r.buf[r.start:r.end])
		r.buf = larger
	} else {
		r.end = copy(r.buf, r.buf[r.start:r.end])
	}
	r.start = 0
}

// AppendFrame appends a frame with a performative and its payload; a nil performative makes a heartbeat.
func AppendFrame(dst []byte, kind byte, channel uint16, p Performative, payload []byte) []byte {
	mark := len(dst)
	dst = append(dst, 0, 0, 0, 0, 2, kind, byte(channel>>8), byte(channel))
	if p != nil {
		dst = AppendPerformative(dst, p)
	}
	dst = append(dst, payload...)
	binary.BigEndian.PutUint32(dst[mark:], uint32(len(dst)-mark))
	return dst
}
