// Package backupfile writes the files of backups, and reads them more than once.
package backupfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Standard is the file name of standard input and output.
const Standard = "-"

// Write creates a file for its owner alone, with the content that write writes. It replaces an existing file
// atomically. Standard is standard output.
func Write(t *terminal.Terminal, name string, write func(io.Writer) error) error {
	if name == Standard {
		return write(t.Out)
	}
	if name == "" {
		return terminal.Usagef("the file has no name; - is standard output")
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return terminal.Usagef("%s is no file that can be replaced; - is standard output", name)
	}
	if err := terminal.ReplaceFile(name, 0o600, write); err != nil {
		_, path := errors.AsType[*fs.PathError](err)
		_, link := errors.AsType[*os.LinkError](err)
		if path || link { // of the file itself, whose name is another one until it is whole
			err = fileError(name, err)
		}
		return err
	}
	return syncFolder(filepath.Dir(name))
}

// syncFolder makes sure that a power cut leaves the new name of a file. Where folders cannot be synced, it does nothing.
func syncFolder(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return nil //nolint:nilerr // the file is complete
	}
	_ = dir.Sync()
	return dir.Close()
}

// File is a file that is read from its beginning, as often as need be.
type File struct {
	name  string
	f     *os.File
	spool bool // it is a copy of standard input
}

// Open opens a file. It copies standard input (Standard) to a temporary file first, readable only by this user.
func Open(ctx context.Context, t *terminal.Terminal, name string) (*File, error) {
	if name != Standard {
		f, err := os.Open(name)
		if err != nil {
			return nil, terminal.Usage(fileError(name, err))
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, terminal.Usagef("%s is a folder", name)
		} else if err == nil && !info.Mode().IsRegular() {
			return nil, terminal.Usagef("%s is a pipe or a device, and a backup is read twice; - is standard input", name)
		}
		return &File{name: name, f: f}, nil
	}
	f, err := os.CreateTemp("", "carillon-restore-*") // of mode 0600
	if err != nil {
		return nil, fmt.Errorf("copy of standard input: %w", err)
	}
	file := &File{name: "standard input", f: f, spool: true}
	if _, err := io.Copy(f, t.Input(ctx)); err != nil {
		return nil, errors.Join(fmt.Errorf("copy of standard input: %w", err), file.Close())
	}
	return file, nil
}

// Name names the file, for people.
func (f *File) Name() string { return f.name }

// Reread returns the file from its beginning. Readers that it returned before become invalid.
func (f *File) Reread() (io.Reader, error) {
	_, err := f.f.Seek(0, io.SeekStart)
	if err != nil {
		return nil, fileError(f.name, err)
	}
	return f.f, nil
}

// Close closes the file, and forgets a copy.
func (f *File) Close() error {
	err := f.f.Close()
	if f.spool {
		err = errors.Join(err, os.Remove(f.f.Name()))
	}
	return err
}

func fileError(name string, err error) error {
	return fmt.Errorf("%s: %w", name, terminal.WithoutPath(err))
}
