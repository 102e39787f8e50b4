//go:build unix

package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks an open file. The kernel drops the lock when the file is closed, at the latest when the process ends.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// syncDir has the disk confirm which files there are.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
