package journal

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
)

// What a record of a snapshot is, in its first byte.
const (
	partState = 'S'
	partEnd   = 'E'
)

// A Snapshot takes the parts of a state.
type Snapshot struct {
	out *bufio.Writer
	at  Position // in the snapshot
	buf []byte
}

// Add adds a part of the state.
func (s *Snapshot) Add(part []byte) error { return s.add(partState, part) }

func (s *Snapshot) add(kind byte, part []byte) error {
	record := append([]byte{kind}, part...)
	s.buf = appendRecord(s.buf[:0], s.at, record)
	s.at += Position(len(s.buf))
	_, err := s.out.Write(s.buf)
	return err
}

// Snapshot replaces the log so far with a state. Each part that state adds must have the effect of all records up to some
// position that is not before the call, and say itself which. Records may be appended meanwhile.
func (l *Log) Snapshot(state func(*Snapshot) error) error {
	l.snapshot.Lock()
	defer l.snapshot.Unlock()
	at, err := l.rotate()
	if err != nil {
		return err
	}
	if err := writeSnapshot(l.config.Dir, at, state); err != nil {
		return err
	}
	l.mu.Lock()
	l.base = at
	l.mu.Unlock()
	l.sweep()
	return nil
}

// rotate lets the log go on in a new file and returns where that begins.
func (l *Log) rotate() (Position, error) {
	opened := make(chan error, 1)
	l.mu.Lock()
	if l.closing || l.err != nil {
		err := l.err
		l.mu.Unlock()
		if err == nil {
			err = errClosed
		}
		return 0, err
	}
	at := l.next
	l.cuts = append(l.cuts, cut{len(l.pending), opened})
	l.wake.Signal()
	l.mu.Unlock()
	return at, <-opened
}

// writeSnapshot writes a snapshot and gives it its name when it is whole.
func writeSnapshot(dir string, at Position, state func(*Snapshot) error) error {
	name := filepath.Join(dir, fileName(at, snapshotSuffix))
	file, err := os.OpenFile(name+unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	s := &Snapshot{out: bufio.NewWriterSize(file, 1<<20)}
	_, err = s.out.Write(appendFileHead(nil, at))
	if err == nil {
		err = state(s)
	}
	if err == nil {
		err = s.add(partEnd, nil)
	}
	if err == nil {
		err = s.out.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(name+unfinished))
	}
	if err := os.Rename(name+unfinished, name); err != nil {
		return err
	}
	return syncDir(dir)
}
