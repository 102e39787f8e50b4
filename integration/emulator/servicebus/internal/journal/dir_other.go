//go:build !unix

package journal

import (
	"os"
	"path/filepath"
)

// lockDir opens the lock file. Where there is no flock, two processes are not kept apart.
func lockDir(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
}

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
