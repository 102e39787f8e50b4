package logfile

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Rewrite is a new file that takes the place of the old one. Between [File.Rewrite] and [Rewrite.Done] everything that is
// appended goes to both.
type Rewrite struct {
	log  *File
	name string
	file *os.File
	out  *bufio.Writer
	size int64
	tail []byte // appended since the beginning, framed
	err  error
}

// Rewrite begins a new file, or returns nil if one is being written. Records that are appended from now on come after those
// that are written to it, so the caller must keep others from appending until it knows what to write. No I/O is done yet.
func (f *File) Rewrite() *Rewrite {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rewrite != nil || f.err != nil {
		return nil
	}
	f.rewrite = &Rewrite{log: f, name: filepath.Join(f.cfg.Dir, fmt.Sprintf("queues-%06d.new", f.generation+1))}
	return f.rewrite
}

// Write adds a record to the new file.
func (w *Rewrite) Write(record []byte) {
	w.open()
	w.add(frame(nil, record))
}

// open makes the new file, once.
func (w *Rewrite) open() {
	if w.err == nil && w.file == nil {
		w.file, w.err = os.OpenFile(w.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		w.out = bufio.NewWriterSize(w.file, 1<<16)
		w.add([]byte(magic))
	}
}

func (w *Rewrite) add(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.size += int64(len(b))
	}
}

// Fail makes [Rewrite.Done] keep the old file.
func (w *Rewrite) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Done puts the new file in the place of the old one. When that goes wrong the old one stays in use.
func (w *Rewrite) Done() error {
	w.open()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = w.file.Sync() // what can take long is done before the lock
	}
	f := w.log
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.writing {
		f.done.Wait()
	}
	f.rewrite = nil
	if w.err == nil {
		w.err = f.err
	}
	if w.err == nil {
		w.err = w.replace()
	} else if w.file != nil {
		w.file.Close()
	}
	if w.err != nil {
		_ = os.Remove(w.name) // the error that counts is there
		return fmt.Errorf("rewriting the log: %w", w.err)
	}
	return nil
}

// replace writes what was appended meanwhile and changes the files. It is called with the lock of the log held.
func (w *Rewrite) replace() error {
	f := w.log
	w.add(w.tail)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil && f.cfg.Sync {
		w.err = w.file.Sync()
	}
	if err := errors.Join(w.err, w.file.Close()); err != nil {
		return err
	}
	path := f.path(f.generation + 1)
	if err := os.Rename(w.name, path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		f.err = err // the next start takes the new file, so nothing may go to the old one any more
		return err
	}
	f.file.Close()
	old := f.path(f.generation)
	f.generation++
	f.file, f.size = file, w.size
	f.buffer, f.written = f.buffer[:0], f.appended
	f.done.Broadcast()
	if f.cfg.Sync {
		syncDir(f.cfg.Dir)
	}
	_ = os.Remove(old) // the next start does it otherwise
	return nil
}

// syncDir makes a rename last. Not every system can.
func syncDir(name string) {
	dir, err := os.Open(name)
	if err != nil {
		return
	}
	defer dir.Close()
	_ = dir.Sync()
}
