package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks an open file. Windows drops the lock when the file is closed, at the latest when the process ends.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// syncDir does nothing: directories cannot be synced.
func syncDir(string) error { return nil }
