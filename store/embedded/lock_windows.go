package embedded

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte far beyond the file's content, so that the content stays readable. Windows releases the lock
// when the file is closed or the process ends.
func tryLock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
