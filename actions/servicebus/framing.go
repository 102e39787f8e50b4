package servicebus

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// maxFrame is how many bytes a frame of a service may have. The SDK announces
// 64 KiB, and keeps whatever comes until it is whole, up to 2 GiB.
const maxFrame = 1 << 20

// framing reads along what a service sends (AMQP 1.0, section 2.3.1).
type framing struct {
	head []byte // of a frame, or of the protocol, as far as it has come
	left int64  // bytes of the present frame that are still to come
}

const headLength = 8

// feed takes in what came. The error says why the SDK must not see it.
func (f *framing) feed(b []byte) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, int64(len(b)))
			f.left -= n
			b = b[n:]
			continue
		}
		n := min(headLength-len(f.head), len(b))
		f.head = append(f.head, b[:n]...)
		b = b[n:]
		if len(f.head) < headLength {
			return nil
		}
		size := int64(binary.BigEndian.Uint32(f.head))
		switch {
		case bytes.HasPrefix(f.head, []byte("AMQP")):
			size = headLength
		case size > maxFrame:
			return fmt.Errorf("the service sends a frame of more than %d bytes", maxFrame)
		}
		f.head, f.left = f.head[:0], size-headLength
	}
	return nil
}
