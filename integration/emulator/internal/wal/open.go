package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A CorruptError tells where a file is damaged.
type CorruptError struct {
	File    string
	Offset  int64 // in bytes, from 0
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at offset %d: %s", e.File, e.Offset, e.Problem)
}

// Open opens a log, hands on what it has, and starts the goroutine that writes, which ends with [Log.Close].
func Open(config Config) (*Log, error) {
	if err := os.MkdirAll(config.Dir, 0o750); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(config.Dir, config.Format.lock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", config.Dir, err), lock.Close())
	}
	l := &Log{config: config, format: &config.Format, lock: lock, written: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	if err := l.load(); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		lock.Close()
		return nil, err
	}
	go l.write()
	return l, nil
}

// load reads the newest snapshot and the records after it, and opens the last file for writing.
func (l *Log) load() error {
	if err := l.restore(); err != nil {
		return err
	}
	if err := l.removeDrafts(); err != nil {
		return err
	}
	numbers, err := l.format.logs.list(l.config.Dir)
	if err != nil {
		return err
	}
	if l.format.segmented {
		numbers = slices.DeleteFunc(numbers, func(number int64) bool { return number < int64(l.base) })
	} else if len(numbers) > 1 {
		numbers = numbers[len(numbers)-1:] // it has all that the others have
	}
	for i, number := range numbers {
		if l.format.segmented && number != int64(l.next) {
			return fmt.Errorf("the log from position %d on is missing: the next is %s", l.next, l.format.logs.of(number))
		}
		if err := l.replay(number, i == len(numbers)-1); err != nil {
			return err
		}
	}
	l.done = l.next
	if l.file == nil {
		if err := l.create(l.firstNumber(numbers), l.next); err != nil {
			return err
		}
	}
	l.sweep()
	return nil
}

// firstNumber is that of the file that is made because there is none, or one without anything.
func (l *Log) firstNumber(numbers []int64) int64 {
	switch {
	case l.format.segmented:
		return int64(l.next)
	case len(numbers) > 0:
		return numbers[0]
	default:
		return 1
	}
}

// restore reads the newest snapshot beside the log, if there is one.
func (l *Log) restore() error {
	if !l.format.segmented {
		return nil
	}
	numbers, err := l.format.snapshots.list(l.config.Dir)
	if err != nil || len(numbers) == 0 {
		return err
	}
	number := numbers[len(numbers)-1]
	l.base, l.next = Position(number), Position(number)
	name := filepath.Join(l.config.Dir, l.format.snapshots.of(number))
	rest, err := l.read(name, number)
	if err != nil {
		return err
	}
	offset, position := int64(len(l.format.head(number))), Position(0)
	for {
		record, after, ok := l.format.framing.cut(rest, position)
		if !ok {
			return &CorruptError{name, offset + int64(position), "a part of the snapshot is damaged"}
		}
		position += Position(len(rest) - len(after))
		rest = after
		if record[0] == partEnd {
			return nil
		}
		if err := l.config.Restore(record[1:]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// read returns what a file has after its head.
func (l *Log) read(name string, number int64) ([]byte, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(content, l.format.head(number))
	if !ok {
		return content, &CorruptError{name, 0, "this is not a log of this kind"}
	}
	return rest, nil
}

// replay reads a file of records. The last one may end in an unfinished record, which is cut off, and is left open for
// writing.
func (l *Log) replay(number int64, last bool) error {
	name := filepath.Join(l.config.Dir, l.format.logs.of(number))
	rest, err := l.read(name, number)
	if _, ok := errors.AsType[*CorruptError](err); ok && last && l.format.headTorn(rest, number) {
		return os.Remove(name) // the process ended while it was made
	}
	if err != nil {
		return err
	}
	l.number, l.begin = number, l.next
	head := int64(len(l.format.head(number)))
	for len(rest) > 0 {
		record, after, ok := l.format.framing.cut(rest, l.next)
		if !ok {
			break
		}
		l.next += Position(len(rest) - len(after))
		rest = after
		if err := l.config.Replay(l.next, record); err != nil {
			return fmt.Errorf("%s: record before byte %d: %w", name, head+int64(l.next-l.begin), err)
		}
	}
	offset := head + int64(l.next-l.begin)
	if len(rest) > 0 && (!last || !l.format.framing.torn(rest, l.next)) {
		return &CorruptError{name, offset, "a record is damaged"}
	}
	if !last {
		return nil
	}
	l.file, err = os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(offset); err != nil {
		return err
	}
	_, err = l.file.Seek(offset, io.SeekStart)
	return err
}

// create makes an empty file for the records from a position on.
func (l *Log) create(number int64, begin Position) error {
	name := filepath.Join(l.config.Dir, l.format.logs.of(number))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(l.format.head(number)); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.number, l.begin = file, number, begin
	return syncDir(l.config.Dir)
}

// removeDrafts removes snapshots that were never finished.
func (l *Log) removeDrafts() error {
	numbers, err := l.format.drafts.list(l.config.Dir)
	for _, number := range numbers {
		err = errors.Join(err, os.Remove(filepath.Join(l.config.Dir, l.format.drafts.of(number))))
	}
	return err
}

// sweep removes files that are not needed any more.
func (l *Log) sweep() {
	if !l.format.segmented {
		l.format.logs.remove(l.config.Dir, l.number)
		return
	}
	l.format.logs.remove(l.config.Dir, int64(l.base))
	l.format.snapshots.remove(l.config.Dir, int64(l.base))
}
