package logfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// magic is the first line of a file.
const magic = "carillon storage queues 1\n"

// maxSpare is the length of the longest write buffer that is kept.
const maxSpare = 1 << 20

// Config says how records are kept.
type Config struct {
	// Dir is the folder of the file; it is made if there is none.
	Dir string
	// Sync flushes to the disk before each Commit returns. Default false.
	Sync bool
}

// A Position is a place in the sequence of appended records.
type Position uint64

// A File is open for appending.
type File struct {
	cfg  Config
	lock *os.File

	mu         sync.Mutex
	done       sync.Cond // a write has ended
	file       *os.File
	generation int
	size       int64  // of the file, with what is buffered
	buffer     []byte // appended and not yet being written
	spare      []byte // the buffer of the last write
	appended   Position
	written    Position
	writing    bool
	rewrite    *Rewrite
	err        error // of the first write that did not succeed
	failed     chan struct{}
}

var (
	errClosed = errors.New("the log is closed")
	// ErrLocked is wrapped by the error of [Open] when another process has the folder.
	ErrLocked = errors.New("in use by another process")
)

// Open opens the file in a folder and passes its records to replay.
func Open(cfg Config, replay func(record []byte) error) (*File, error) {
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(cfg.Dir, "queues.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: %w", cfg.Dir, err)
	}
	f := &File{cfg: cfg, lock: lock, failed: make(chan struct{})}
	f.done.L = &f.mu
	if err := f.load(replay); err != nil {
		if f.file != nil {
			f.file.Close()
		}
		lock.Close()
		return nil, err
	}
	return f, nil
}

// load opens the newest file, reads it and removes what a crash left of others.
func (f *File) load(replay func([]byte) error) error {
	generation, stale, err := f.list()
	if err != nil {
		return err
	}
	f.generation = max(generation, 1)
	file, err := os.OpenFile(f.path(f.generation), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.file = file
	if f.size, err = resume(file, replay); err != nil {
		return err
	}
	for _, name := range stale {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// list returns the number of the newest file, 0 for none, and the paths of all others.
func (f *File) list() (generation int, stale []string, err error) {
	names, err := filepath.Glob(filepath.Join(f.cfg.Dir, "queues-*.log"))
	if err != nil {
		return 0, nil, err
	}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(name), "queues-%d.log", &n); err == nil && name == f.path(n) {
			generation = max(generation, n)
			stale = append(stale, name)
		}
	}
	stale = slices.DeleteFunc(stale, func(name string) bool { return name == f.path(generation) })
	unfinished, err := filepath.Glob(filepath.Join(f.cfg.Dir, "queues-*.new"))
	return generation, append(stale, unfinished...), err
}

func (f *File) path(generation int) string {
	return filepath.Join(f.cfg.Dir, fmt.Sprintf("queues-%06d.log", generation))
}

// Append takes a record. It is cheap and does no I/O; the record is safe when Commit returned for its position.
func (f *File) Append(record []byte) Position {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.buffer)
	f.buffer = frame(f.buffer, record)
	framed := f.buffer[before:]
	f.size += int64(len(framed))
	f.appended++
	if f.rewrite != nil {
		f.rewrite.tail = append(f.rewrite.tail, framed...)
	}
	return f.appended
}

// Commit returns when everything up to the position has been written. The first who waits writes for all.
func (f *File) Commit(p Position) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.written < p {
		switch {
		case f.err != nil:
			return f.err
		case f.writing:
			f.done.Wait()
		default:
			f.write()
		}
	}
	return nil
}

// write writes the buffer. It is called with the lock held and gives it up meanwhile.
func (f *File) write() {
	f.writing = true
	batch, upTo := f.buffer, f.appended
	f.buffer = f.spare[:0]
	f.mu.Unlock()
	_, err := f.file.Write(batch)
	if err == nil && f.cfg.Sync {
		err = f.file.Sync()
	}
	f.mu.Lock()
	f.writing = false
	if err != nil {
		f.err = fmt.Errorf("log: %w", err)
		close(f.failed)
	} else {
		f.written = upTo
	}
	f.spare = nil
	if cap(batch) <= maxSpare {
		f.spare = batch
	}
	f.done.Broadcast()
}

// Failed is closed when a write has gone wrong, after which nothing is written any more.
func (f *File) Failed() <-chan struct{} { return f.failed }

// Size returns the length of the file in bytes.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// Close writes what was appended and closes the file. A second call does nothing.
func (f *File) Close() error {
	f.mu.Lock()
	appended := f.appended
	f.mu.Unlock()
	err := f.Commit(appended)
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, errClosed) {
		return nil
	}
	f.err = errClosed
	err = errors.Join(err, f.file.Close())
	f.lock.Close()
	return err
}
