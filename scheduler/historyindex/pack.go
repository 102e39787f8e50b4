package historyindex

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/carillon-sched/carillon/scheduler"
)

// packer compresses the contents of chunks.
type packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newPacker() *packer {
	encoder, err := zstd.NewWriter(
		nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(packWindow), zstd.WithLowerEncoderMem(true),
	)
	if err != nil {
		panic(err) // invalid options
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2))
	if err != nil {
		panic(err) // likewise
	}
	return &packer{encoder, decoder}
}

// packWindow is the approximate size of a chunk's contents.
const packWindow = 64 << 10

// pack compresses contents, each with a length prefix.
func (p *packer) pack(contents [][]byte) []byte {
	var all []byte
	for _, c := range contents {
		all = binary.AppendUvarint(all, uint64(len(c)))
		all = append(all, c...)
	}
	packed := p.encoder.EncodeAll(all, nil)
	return append(make([]byte, 0, len(packed)), packed...) // a copy without spare capacity, because it is long-lived
}

// unpack reverses pack.
func (p *packer) unpack(packed []byte) (contents [][]byte, err error) {
	all, err := p.decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 {
		n, size := binary.Uvarint(all)
		if size <= 0 || n > uint64(len(all)-size) {
			return nil, errTorn
		}
		contents = append(contents, all[size:size+int(n)])
		all = all[size+int(n):]
	}
	return contents, nil
}

var errTorn = errors.New("history index: a chunk is torn")

// The first byte of a content.
const (
	whole   = 'r' // an encoded record follows
	damaged = 'd' // the error message of an unreadable record follows
)

// contentHead is the size of the prefix of a record: the first byte, and its storage time.
const contentHead = 1 + 8

// contentOf encodes a record for packing.
func contentOf(r *scheduler.Record) ([]byte, error) {
	kind, data := byte(damaged), []byte(r.Message)
	if !r.Damaged {
		stored, err := r.Encode()
		if err != nil {
			return nil, err
		}
		kind, data = whole, stored
	}
	content := make([]byte, 0, contentHead+len(data))
	content = append(content, kind)
	content = binary.BigEndian.AppendUint64(content, uint64(r.Stored.UnixNano()))
	return append(content, data...), nil
}

// recordOf reverses contentOf, for the record of a row.
func recordOf(content []byte, s subject, sequence uint64) (*scheduler.Record, error) {
	stored := time.Unix(0, int64(binary.BigEndian.Uint64(content[1:]))).UTC()
	var r *scheduler.Record
	if content[0] == damaged {
		r = &scheduler.Record{Damaged: true, Outcome: s.outcome, Ended: stored, Message: string(content[contentHead:])}
	} else {
		var err error
		if r, err = scheduler.DecodeRecord(content[contentHead:]); err != nil {
			return nil, err
		}
	}
	r.Job, r.Sequence, r.Stored = s.job, sequence, stored
	return r, nil
}
