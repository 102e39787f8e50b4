package logfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// headSize is the length of what precedes a record: its length, its checksum, and the checksum of these two.
const headSize = 12

// maxRecord is the length of the longest record that is believed to be one.
const maxRecord = 16 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn is the end of a file in the middle of a record.
var errTorn = errors.New("torn record")

// frame appends a record as it is in the file.
func frame(b, record []byte) []byte {
	head := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(record)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(record, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[head:], castagnoli))
	return append(b, record...)
}

// resume reads a file from its beginning and leaves it ready for appending, without a torn last record.
func resume(file *os.File, replay func([]byte) error) (size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	size, err = scan(bufio.NewReaderSize(file, 1<<16), info.Size(), replay)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if size < info.Size() {
		if err := file.Truncate(size); err != nil {
			return 0, err
		}
	}
	if _, err := file.Seek(size, io.SeekStart); err != nil {
		return 0, err
	}
	if size == 0 {
		if _, err := file.WriteString(magic); err != nil {
			return 0, err
		}
		size = int64(len(magic))
	}
	return size, nil
}

// scan passes the records of a file to replay and returns the length of what is whole.
func scan(r io.Reader, length int64, replay func([]byte) error) (int64, error) {
	line := make([]byte, min(length, int64(len(magic))))
	if _, err := io.ReadFull(r, line); err != nil {
		return 0, err
	}
	if string(line) != magic[:len(line)] {
		return 0, errors.New("not a log of storage queues")
	}
	if len(line) < len(magic) {
		return 0, nil // the first write was cut off
	}
	whole := int64(len(magic))
	for whole < length {
		record, err := next(r, length-whole)
		if errors.Is(err, errTorn) {
			return whole, nil
		}
		if err == nil {
			err = replay(record)
		}
		if err != nil {
			return 0, fmt.Errorf("record at byte %d: %w", whole, err)
		}
		whole += headSize + int64(len(record))
	}
	return whole, nil
}

// next reads a record of a file of which the given number of bytes is left.
func next(r io.Reader, left int64) ([]byte, error) {
	if left < headSize {
		return nil, errTorn
	}
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length, sum := int64(binary.LittleEndian.Uint32(head[:])), binary.LittleEndian.Uint32(head[4:])
	switch {
	case head == [headSize]byte{}:
		return nil, zeros(r)
	case binary.LittleEndian.Uint32(head[8:]) != crc32.Checksum(head[:8], castagnoli) || length > maxRecord:
		return nil, errors.New("damaged: wrong checksum")
	case length > left-headSize:
		return nil, errTorn
	}
	record := make([]byte, length)
	if _, err := io.ReadFull(r, record); err != nil {
		return nil, err
	}
	switch {
	case crc32.Checksum(record, castagnoli) == sum:
		return record, nil
	case length == left-headSize:
		return nil, errTorn // the last one, with a hole
	}
	return nil, errors.New("damaged: wrong checksum")
}

// zeros tells a tail of zeros, which some file systems leave after losing power, from damage.
func zeros(r io.Reader) error {
	buffer := make([]byte, 1<<12)
	for {
		n, err := r.Read(buffer)
		for _, b := range buffer[:n] {
			if b != 0 {
				return errors.New("damaged: zeros")
			}
		}
		if errors.Is(err, io.EOF) {
			return errTorn
		}
		if err != nil {
			return err
		}
	}
}
