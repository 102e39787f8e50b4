package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	logSuffix      = ".log"
	snapshotSuffix = ".snapshot"
	unfinished     = ".tmp"
	lockName       = "lock"
)

// A Reader takes what a log has. The bytes are the reader's to keep, but not to change.
type Reader interface {
	// Restore takes a part of the last snapshot, in the order they were written.
	Restore(part []byte) error
	// Replay takes a record that was appended after the snapshot was begun. The position is that after the record.
	Replay(position Position, record []byte) error
}

// Open opens a log, hands what it has to the reader, and starts the goroutine that writes, which ends with [Log.Close].
func Open(config Config, reader Reader) (*Log, error) {
	if err := os.MkdirAll(config.Dir, 0o750); err != nil {
		return nil, err
	}
	lock, err := lockDir(config.Dir)
	if err != nil {
		return nil, err
	}
	l := &Log{config: config, lock: lock, written: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	if err := l.load(reader); err != nil {
		lock.Close()
		return nil, fmt.Errorf("journal: %w", err)
	}
	go l.write()
	return l, nil
}

// load reads the newest snapshot and the logs after it, and opens the last of them for writing.
func (l *Log) load(reader Reader) error {
	snapshots, err := list(l.config.Dir, snapshotSuffix)
	if err != nil {
		return err
	}
	if len(snapshots) > 0 {
		l.base = snapshots[len(snapshots)-1]
		if err := l.restore(reader, l.base); err != nil {
			return err
		}
	}
	logs, err := list(l.config.Dir, logSuffix)
	if err != nil {
		return err
	}
	if err := removeUnfinished(l.config.Dir); err != nil {
		return err
	}
	logs = slices.DeleteFunc(logs, func(at Position) bool { return at < l.base })
	l.next = l.base
	for i, at := range logs {
		if at != l.next {
			return fmt.Errorf("the log from position %d on is missing: the next is %s", l.next, fileName(at, logSuffix))
		}
		if err := l.replay(reader, at, i == len(logs)-1); err != nil {
			return err
		}
	}
	l.done = l.next
	if l.file == nil {
		l.file, err = create(l.config.Dir, l.next)
	}
	if err == nil {
		l.sweep()
	}
	return err
}

// restore reads a snapshot.
func (l *Log) restore(reader Reader, at Position) error {
	name := filepath.Join(l.config.Dir, fileName(at, snapshotSuffix))
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !headed(content, at) {
		return &CorruptError{name, 0, "the head of the file is wrong"}
	}
	rest, position := content[fileHead:], Position(0)
	for {
		record, after, ok := cutRecord(rest, position)
		if !ok {
			return &CorruptError{name, int64(len(content) - len(rest)), "a part of the snapshot is damaged"}
		}
		position += Position(len(rest) - len(after))
		rest = after
		if record[0] == partEnd {
			return nil
		}
		if err := reader.Restore(record[1:]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// replay reads a log. The last one may end in an unfinished record, which is cut off, and is left open for writing.
func (l *Log) replay(reader Reader, at Position, last bool) error {
	name := filepath.Join(l.config.Dir, fileName(at, logSuffix))
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !headed(content, at) {
		if last && len(content) < fileHead+recordHead {
			return os.Remove(name) // the process ended while it was made
		}
		return &CorruptError{name, 0, "the head of the file is wrong"}
	}
	rest := content[fileHead:]
	for len(rest) > 0 {
		record, after, ok := cutRecord(rest, l.next)
		if !ok {
			break
		}
		l.next += Position(len(rest) - len(after))
		rest = after
		if err := reader.Replay(l.next, record); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	offset := int64(len(content) - len(rest))
	if len(rest) > 0 && (!last || intactAfter(rest, l.next)) {
		return &CorruptError{name, offset, "a record is damaged, and others follow"}
	}
	if !last {
		return nil
	}
	l.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(offset); err != nil {
		return err
	}
	_, err = l.file.Seek(offset, 0)
	return err
}

// headed reports whether a file begins as it should.
func headed(content []byte, at Position) bool {
	return len(content) >= fileHead && string(content[:len(magic)]) == magic &&
		binary.BigEndian.Uint64(content[len(magic):]) == uint64(at)
}

// sweep removes files that are not needed any more.
func (l *Log) sweep() {
	for _, suffix := range []string{logSuffix, snapshotSuffix} {
		positions, err := list(l.config.Dir, suffix)
		for _, at := range positions {
			if err == nil && at < l.base {
				_ = os.Remove(filepath.Join(l.config.Dir, fileName(at, suffix))) // the next one tries again
			}
		}
	}
}

// removeUnfinished removes snapshots that were never finished.
func removeUnfinished(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"+snapshotSuffix+unfinished))
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// list returns the positions of the files with a suffix, in order.
func list(dir, suffix string) ([]Position, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var positions []Position
	for _, entry := range entries {
		digits, ok := strings.CutSuffix(entry.Name(), suffix)
		if at, err := strconv.ParseInt(digits, 16, 64); ok && err == nil && len(digits) == 16 {
			positions = append(positions, Position(at))
		}
	}
	slices.Sort(positions)
	return positions, nil
}

func fileName(at Position, suffix string) string { return fmt.Sprintf("%016x%s", int64(at), suffix) }

// create makes an empty log.
func create(dir string, at Position) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, fileName(at, logSuffix)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(appendFileHead(nil, at)); err != nil {
		file.Close()
		return nil, err
	}
	return file, syncDir(dir)
}
