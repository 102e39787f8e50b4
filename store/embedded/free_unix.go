//go:build unix

package embedded

import "golang.org/x/sys/unix"

// free is how many bytes of a directory's file system this process may still
// use; false when that is not known.
func free(dir string) (uint64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:gosec,unconvert // neither is negative; the types differ by system
}
