package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// Config says where a log is and how safe.
type Config struct {
	// Dir is the directory of the files, which is made if it is not there. Required.
	Dir string
	// Sync has the disk confirm each write. Default: false.
	Sync bool
}

// ErrLocked is wrapped by the error of [Open] when another process has the directory.
var ErrLocked = errors.New("in use by another process")

// errClosed is what waits for a log that is closed.
var errClosed = errors.New("the journal is closed")

// A Log takes records.
type Log struct {
	config  Config
	lock    *os.File
	file    *os.File // of the writer, once it runs
	written chan struct{}

	mu       sync.Mutex
	wake     *sync.Cond
	pending  []byte // appended, not written
	cuts     []cut
	next     Position // of the next record
	done     Position // up to which all is written
	base     Position // where the oldest log that is needed begins
	waiters  []waiter
	err      error
	closing  bool
	snapshot sync.Mutex // held while one is made
}

// A cut says that the log goes on in another file.
type cut struct {
	at     int // in pending
	opened chan error
}

// A waiter is called when all up to a position is written.
type waiter struct {
	position Position
	call     func(error)
}

// Append adds a record, which must not be empty, and returns the position after it. It does not wait. Records are in the
// order of the calls.
func (l *Log) Append(record []byte) Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && !l.closing {
		l.pending = appendRecord(l.pending, l.next, record)
		if len(l.pending) == recordHead+len(record) {
			l.wake.Signal()
		}
	}
	l.next += Position(recordHead + len(record))
	return l.next
}

// Ended is closed when nothing more is written: after [Log.Close], or since a write went wrong.
func (l *Log) Ended() <-chan struct{} { return l.written }

// Next is the position of the next record.
func (l *Log) Next() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// Size is how many bytes of log there are since the last snapshot.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.next - l.base)
}

// Written reports whether all up to a position is written.
func (l *Log) Written(position Position) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done >= position
}

// Then calls f when all up to a position is written, or with the error when it cannot be: before it returns if that is known,
// or else from another goroutine. While f runs nothing is written.
func (l *Log) Then(position Position, f func(error)) {
	l.mu.Lock()
	if l.done < position && l.err == nil {
		l.waiters = append(l.waiters, waiter{position, f})
		l.mu.Unlock()
		return
	}
	err := l.err
	if l.done >= position {
		err = nil
	}
	l.mu.Unlock()
	f(err)
}

// Wait returns when all up to a position is written, or the error when it cannot be.
func (l *Log) Wait(position Position) error {
	result := make(chan error, 1)
	l.Then(position, func(err error) { result <- err })
	return <-result
}

// Close writes what was appended and closes the files.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		<-l.written
		return nil
	}
	l.closing = true
	l.wake.Signal()
	l.mu.Unlock()
	<-l.written
	err := l.err // the writer has ended and set it
	if errors.Is(err, errClosed) {
		err = nil
	}
	return errors.Join(err, l.file.Sync(), l.file.Close(), l.lock.Close())
}

// write is the writer: it writes what is pending, all at once, until the log is closed.
func (l *Log) write() {
	defer close(l.written)
	var batch []byte
	l.mu.Lock()
	for {
		for len(l.pending) == 0 && len(l.cuts) == 0 && !l.closing {
			l.wake.Wait()
		}
		if len(l.pending) == 0 && len(l.cuts) == 0 {
			l.fail(errClosed)
			l.mu.Unlock()
			return
		}
		batch, l.pending = l.pending, batch[:0]
		cuts := l.cuts
		l.cuts = nil
		begin, end := l.done, l.next
		l.mu.Unlock()

		err := l.flush(batch, begin, cuts)
		if cap(batch) > keptBatch {
			batch = nil
		}

		l.mu.Lock()
		if err != nil {
			l.pending = nil
			l.fail(fmt.Errorf("journal: %w", err))
			l.mu.Unlock()
			return
		}
		l.done = end
		l.confirm()
	}
}

// keptBatch is how large a buffer is kept for the next batch.
const keptBatch = 4 << 20

// flush writes a batch that begins at a position, and changes files at the cuts.
func (l *Log) flush(batch []byte, begin Position, cuts []cut) error {
	from := 0
	for _, c := range cuts {
		err := l.writeOut(batch[from:c.at])
		if err == nil {
			err = l.turn(begin + Position(c.at))
		}
		c.opened <- err
		if err != nil {
			return err
		}
		from = c.at
	}
	return l.writeOut(batch[from:])
}

func (l *Log) writeOut(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := l.file.Write(b); err != nil {
		return err
	}
	if l.config.Sync {
		return l.file.Sync()
	}
	return nil
}

// turn goes on in a new file.
func (l *Log) turn(at Position) error {
	if err := errors.Join(l.file.Sync(), l.file.Close()); err != nil {
		return err
	}
	file, err := create(l.config.Dir, at)
	if err != nil {
		return err
	}
	l.file = file
	return nil
}

// confirm calls those who wait for what is written. The lock is held, but not during the calls.
func (l *Log) confirm() {
	waiters := l.waiters
	l.waiters = nil
	done := l.done
	l.mu.Unlock()
	kept := waiters[:0]
	for _, w := range waiters {
		if w.position <= done {
			w.call(nil)
		} else {
			kept = append(kept, w)
		}
	}
	l.mu.Lock()
	l.waiters = append(kept, l.waiters...)
}

// fail tells all who wait that it was in vain. The lock is held, but not during the calls.
func (l *Log) fail(err error) {
	l.err = err
	waiters, cuts := l.waiters, l.cuts
	l.waiters, l.cuts = nil, nil
	l.mu.Unlock()
	for _, w := range waiters {
		w.call(err)
	}
	for _, c := range cuts {
		c.opened <- err
	}
	l.mu.Lock()
}
