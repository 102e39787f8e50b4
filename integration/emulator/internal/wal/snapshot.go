package wal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// The type of a snapshot's record, in its first byte.
const (
	partState = 'S'
	partEnd   = 'E'
)

var errBusy = errors.New("a snapshot is being made")

// A Snapshot receives the parts of a state that replaces all records so far. It is not safe for concurrent use.
// End it with [Snapshot.Done].
type Snapshot struct {
	log    *Log
	at     Position // where it was begun
	turned <-chan error
	name   string
	file   *os.File
	out    *bufio.Writer
	size   Position // of the parts so far
	buf    []byte
	err    error
}

// Snapshot begins a snapshot, one at a time. It does no I/O. All records that are appended from now on come after it:
// with [Single], the state must be exactly that before them, so that the caller keeps others from appending until it
// knows what to add; with [Segmented], a part may be of any later moment if it says so.
func (l *Log) Snapshot() (*Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return nil, l.err
	case l.closing:
		return nil, errClosed
	case l.snapshot != nil:
		return nil, errBusy
	}
	l.snapshot = &Snapshot{log: l, at: l.next}
	if l.format.segmented {
		l.snapshot.turned = l.atCut(l.turn)
	}
	return l.snapshot, nil
}

// turn starts a new file. The writer calls it.
func (l *Log) turn(at Position) error {
	if err := errors.Join(l.file.Sync(), l.file.Close()); err != nil {
		return err
	}
	return l.create(int64(at), at)
}

// Add adds a part of the state. After an error all others return the same.
func (s *Snapshot) Add(part []byte) error {
	if s.log.format.segmented {
		part = append([]byte{partState}, part...)
	}
	return s.add(part)
}

func (s *Snapshot) add(record []byte) error {
	s.open()
	if s.err != nil {
		return s.err
	}
	s.buf = s.log.format.framing.append(s.buf[:0], s.size, record)
	s.size += Position(len(s.buf))
	_, s.err = s.out.Write(s.buf)
	return s.err
}

// open makes the new file, once.
func (s *Snapshot) open() {
	if s.err != nil || s.file != nil {
		return
	}
	l, number := s.log, s.number()
	s.name = filepath.Join(l.config.Dir, l.format.drafts.of(number))
	if s.file, s.err = os.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); s.err == nil {
		s.out = bufio.NewWriterSize(s.file, 1<<18)
		_, s.err = s.out.Write(l.format.head(number))
	}
}

// number returns the number of the new file.
func (s *Snapshot) number() int64 {
	if s.log.format.segmented {
		return int64(s.at)
	}
	return s.log.number + 1 // nothing else changes it before Done
}

// Done replaces the records before the snapshot by its state. After an error, the caller's or its own, it
// discards the snapshot and leaves the log unchanged.
func (s *Snapshot) Done(err error) error {
	l := s.log
	if s.turned != nil {
		err = errors.Join(err, <-s.turned)
	}
	if err == nil {
		err = s.finish()
	}
	if err != nil && s.file != nil {
		s.file.Close()
		_ = os.Remove(s.name) // err is the error that matters
	}
	if err == nil {
		l.sweep()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snapshot = nil
	return err
}

func (s *Snapshot) finish() error {
	l := s.log
	s.open()
	if s.err == nil && l.format.segmented {
		s.err = s.add([]byte{partEnd})
	}
	if s.err == nil {
		s.err = s.out.Flush()
	}
	if s.err == nil {
		s.err = s.file.Sync()
	}
	if s.err != nil {
		return s.err
	}
	if l.format.segmented {
		return s.putBeside()
	}
	l.mu.Lock()
	replaced := l.atCut(s.replace)
	l.mu.Unlock()
	if err := <-replaced; err != nil {
		return err
	}
	return s.err
}

// putBeside gives the snapshot its name.
func (s *Snapshot) putBeside() error {
	l := s.log
	if err := s.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(s.name, filepath.Join(l.config.Dir, l.format.snapshots.of(s.number()))); err != nil {
		return err
	}
	if err := syncDir(l.config.Dir); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base = s.at
	return nil
}

// replace appends the records since the snapshot began to the new file, and makes it the log. The writer calls
// it. Its error is fatal: the next start uses the new file, so the old one must not grow.
func (s *Snapshot) replace(end Position) error {
	l, number := s.log, s.number()
	from := int64(len(l.format.head(l.number))) + int64(s.at-l.begin)
	if _, s.err = io.Copy(s.file, io.NewSectionReader(l.file, from, int64(end-s.at))); s.err == nil && l.config.Sync {
		s.err = s.file.Sync()
	}
	if s.err = errors.Join(s.err, s.file.Close()); s.err != nil {
		return nil //nolint:nilerr // continue with the old file
	}
	name := filepath.Join(l.config.Dir, l.format.logs.of(number))
	if s.err = os.Rename(s.name, name); s.err != nil {
		return nil //nolint:nilerr // as above
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file, l.number, l.begin = file, number, s.at-s.size
	l.mu.Lock()
	l.base = l.begin
	l.mu.Unlock()
	return syncDir(l.config.Dir)
}
