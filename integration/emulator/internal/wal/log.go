package wal

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
)

// Config defines the location of a log, the receiver of its records, and its durability.
type Config struct {
	// Dir is the directory of the files. Open creates it. Required.
	Dir string
	// Magic is the beginning of every file: the owner and, before a newline, its version. Required.
	Magic string
	// Sync has the disk confirm each write. Default: false.
	Sync bool
	// SnapshotAfter is the size in bytes of the records after which a snapshot is due, see [Log.Due]. Default: 64
	// MiB.
	SnapshotAfter int64
	// Restore takes a part of the last snapshot, in the order they were added. Required.
	Restore func(part []byte) error
	// Replay takes a record that was appended after the snapshot was begun. The position is that after the record.
	// Required. The bytes are to keep for either, but not to change.
	Replay func(position Position, record []byte) error
	// Damaged receives damage, and lets the log open without the damaged parts. Damaged files are copied unchanged
	// to a folder next to them. The first hundred are reported individually. From then on, records that Restore and
	// Replay refuse are skipped, too. The owner should then make a snapshot, which discards the damage. Default:
	// Open fails.
	Damaged func(*CorruptError)
}

// ErrLocked is wrapped by the error of [Open] when another process has the directory.
var ErrLocked = errors.New("in use by another process")

// errClosed is what waits for a log that is closed.
var errClosed = errors.New("the log is closed")

// A Log takes records. Its methods may be called by many goroutines at a time.
type Log struct {
	config  Config
	lock    *os.File
	written chan struct{}

	salvaged bool   // something was passed over
	passed   int    // how often
	kept     string // the folder that has files as they were

	file *os.File     // of the writer once it runs
	base Position     // where the oldest required file begins; of the snapshot once the writer runs
	due  atomic.Int64 // the position at which a snapshot is due

	mu       sync.Mutex
	wake     *sync.Cond
	pending  []byte   // appended, not written
	cut      *cut     // of the snapshot
	next     Position // of the next record
	done     Position // up to which all is written
	waiters  []waiter
	err      error
	closing  bool
	snapshot *Snapshot // that is being made
}

// A cut is something to do when all up to a place is written and nothing after it is. If it fails, the log does.
type cut struct {
	at   int // in pending
	do   func(Position) error
	done chan error
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
	if l.err != nil || l.closing {
		return l.next + 1 // up to which nothing is ever written
	}
	before := len(l.pending)
	l.pending = frame(l.pending, l.next, record)
	if before == 0 {
		l.wake.Signal()
	}
	l.next += Position(len(l.pending) - before)
	return l.next
}

// Ended is closed when nothing more is written: after [Log.Close], or since a write went wrong.
func (l *Log) Ended() <-chan struct{} { return l.written }

func (l *Log) closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// Next is the position of the next record.
func (l *Log) Next() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// Due reports whether a snapshot is due at a position: when the records since the last one exceed [Config.SnapshotAfter] and twice
// the size of that snapshot, or when damage was skipped.
func (l *Log) Due(position Position) bool { return int64(position) >= l.due.Load() }

// Written reports whether all up to a position is written.
func (l *Log) Written(position Position) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done >= position
}

// Then calls f once everything up to a position is written, or with the error if writing fails: before it
// returns if that is known, otherwise from another goroutine. Nothing is written while f runs.
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

// Close writes the pending records and closes the files.
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

// write writes the pending records, all together, until the log is closed.
func (l *Log) write() {
	defer close(l.written)
	var batch []byte
	l.mu.Lock()
	for {
		for len(l.pending) == 0 && l.cut == nil && !l.closing {
			l.wake.Wait()
		}
		if len(l.pending) == 0 && l.cut == nil {
			l.fail(errClosed)
			l.mu.Unlock()
			return
		}
		batch, l.pending = l.pending, batch[:0]
		c := l.cut
		l.cut = nil
		begin, end := l.done, l.next
		l.mu.Unlock()

		err := l.flush(batch, begin, c)
		if cap(batch) > keptBatch {
			batch = nil
		}

		l.mu.Lock()
		if err != nil {
			l.pending = nil
			l.fail(err)
			l.mu.Unlock()
			return
		}
		l.done = end
		l.confirm()
	}
}

// keptBatch limits the buffer that is reused for the next batch.
const keptBatch = 4 << 20

// flush writes a batch that begins at a position, and performs the cut, if not nil.
func (l *Log) flush(batch []byte, begin Position, c *cut) error {
	if c != nil {
		err := l.writeOut(batch[:c.at])
		if err == nil {
			err = c.do(begin + Position(c.at))
		}
		c.done <- err
		if err != nil {
			return err
		}
		batch = batch[c.at:]
	}
	return l.writeOut(batch)
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

// atCut orders something to be done after all that has been appended. The lock is held. The channel gets the error.
func (l *Log) atCut(do func(Position) error) <-chan error {
	done := make(chan error, 1)
	if l.err != nil {
		done <- l.err
		return done
	}
	l.cut = &cut{len(l.pending), do, done}
	l.wake.Signal()
	return done
}

// confirm calls the waiters of written records. The caller holds the lock, which confirm releases during the
// calls.
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

// fail reports the failure to all waiters. The caller holds the lock, which fail releases during the calls.
func (l *Log) fail(err error) {
	l.err = err
	waiters, c := l.waiters, l.cut
	l.waiters, l.cut = nil, nil
	l.mu.Unlock()
	for _, w := range waiters {
		w.call(err)
	}
	if c != nil {
		c.done <- err
	}
	l.mu.Lock()
}
