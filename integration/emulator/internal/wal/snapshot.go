package wal

import (
	"bufio"
	"errors"
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

// Snapshot begins a snapshot, one at a time. It does no I/O. All records that are appended from now on are replayed after it:
// either the parts have the state before them, or a part states the position of its later state, and the owner skips the records
// that it includes.
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
	l.snapshot = &Snapshot{log: l, at: l.next, turned: l.atCut(l.turn)}
	return l.snapshot, nil
}

// turn starts a new file. The writer calls it.
func (l *Log) turn(at Position) error {
	if err := errors.Join(l.file.Sync(), l.file.Close()); err != nil {
		return err
	}
	return l.create(at)
}

// Add adds a part of the state. After an error all others return the same.
func (s *Snapshot) Add(part []byte) error { return s.add(append([]byte{partState}, part...)) }

func (s *Snapshot) add(record []byte) error {
	s.open()
	if s.err != nil {
		return s.err
	}
	s.buf = frame(s.buf[:0], s.size, record)
	s.size += Position(len(s.buf))
	_, s.err = s.out.Write(s.buf)
	return s.err
}

// open makes the new file, once.
func (s *Snapshot) open() {
	if s.err != nil || s.file != nil {
		return
	}
	s.name = filepath.Join(s.log.config.Dir, drafts.of(s.at))
	if s.file, s.err = os.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); s.err == nil {
		s.out = bufio.NewWriterSize(s.file, 1<<18)
		_, s.err = s.out.Write(s.log.head(s.at))
	}
}

// Done replaces the records before the snapshot by its state. After an error, the caller's or its own, it
// discards the snapshot and leaves the log unchanged. It fails after [Log.Close].
func (s *Snapshot) Done(err error) error {
	l := s.log
	err = errors.Join(err, <-s.turned)
	if err == nil {
		err = s.finish()
	}
	if err != nil && s.file != nil {
		s.file.Close()
		_ = os.Remove(s.name) // err is the error that matters
	}
	if err == nil {
		l.base = s.at
		l.sweep()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due.Store(int64(l.next) + max(l.config.SnapshotAfter, 2*int64(s.size)))
	l.snapshot = nil
	return err
}

// finish gives the complete snapshot its name.
func (s *Snapshot) finish() error {
	if err := s.add([]byte{partEnd}); err != nil {
		return err
	}
	if err := errors.Join(s.out.Flush(), s.file.Sync(), s.file.Close()); err != nil {
		return err
	}
	if s.log.closed() { // another process may have the directory
		return errClosed
	}
	if err := os.Rename(s.name, filepath.Join(s.log.config.Dir, snapshots.of(s.at))); err != nil {
		return err
	}
	return syncDir(s.log.config.Dir)
}
