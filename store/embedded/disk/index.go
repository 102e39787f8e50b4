package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server/avl"
)

// index is what a stream's index.db says of its blocks. It may be older than they
// are: the server writes it from time to time, and when it stops.
type index struct {
	last   uint64 // sequence
	blocks map[int]indexed
	sum    [recordSum]byte // of the last block's last record
}

// indexed is a block as an index has it.
type indexed struct {
	first, last uint64
	messages    uint64
}

// The versions of the index that are read.
const (
	indexMagic      = 11
	indexOldest     = 3
	indexNewest     = 4
	indexHead       = 2
	indexSubjectEnd = 4 // the version since which each subject has its last block
)

// readIndex reads the index of a stream; false when it cannot be, which the server
// finds, too.
func readIndex(stream string, data []byte) (x index, ok bool) {
	if len(data) < indexHead+recordSum {
		return x, false
	}
	key := sha256.Sum256([]byte(stream))
	sum, err := highwayhash.New64(key[:])
	if err != nil {
		return x, false
	}
	body := data[:len(data)-recordSum]
	sum.Write(body)
	version := int(body[1])
	if !bytes.Equal(sum.Sum(nil), data[len(body):]) || body[0] != indexMagic || version < indexOldest || version > indexNewest {
		return x, false
	}
	n := &numbers{left: body[indexHead:]}
	n.skip(4) // messages, bytes, first sequence, first time
	x.last = n.next()
	n.skip(1) // last time
	for subjects := n.next(); subjects > 0 && n.left != nil; subjects-- {
		n.cut(int(n.next()))
		total := n.next()
		n.skip(1) // first block
		if total > 1 || version >= indexSubjectEnd {
			n.skip(1)
		}
	}
	x.blocks = map[int]indexed{}
	for blocks := n.next(); blocks > 0 && n.left != nil; blocks-- {
		number := int(n.next())
		n.skip(1) // bytes
		b := indexed{first: n.next()}
		n.skip(1) // first time
		b.last = n.next()
		n.skip(1) // last time
		deleted := n.next()
		n.skip(2) // messages that expire, and that are scheduled
		if deleted > 0 && n.left != nil {
			_, size, err := avl.Decode(n.left)
			if err != nil {
				return x, false
			}
			n.cut(size)
		}
		if total := b.last - b.first + 1; b.last+1 > b.first && total > deleted {
			b.messages = total - deleted
		}
		x.blocks[number] = b
	}
	n.skip(1) // the last block's number
	return x, len(n.left) >= recordSum && copy(x.sum[:], n.left) == recordSum
}

// numbers reads numbers of variable length. At the end, or when one is wrong, left
// becomes nil.
type numbers struct{ left []byte }

// next reads a number. Signed ones, which are times, are as long.
func (n *numbers) next() uint64 {
	v, size := binary.Uvarint(n.left)
	if size <= 0 {
		n.left = nil
		return 0
	}
	n.left = n.left[size:]
	return v
}

func (n *numbers) skip(count int) {
	for range count {
		n.next()
	}
}

func (n *numbers) cut(size int) {
	if size < 0 || size > len(n.left) {
		n.left = nil
		return
	}
	n.left = n.left[size:]
}
