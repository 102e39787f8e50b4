//go:build unix

package embedded

import "golang.org/x/sys/unix"

// space is how many bytes of a directory's file system this process may still
// use, and how many it could use on an empty one; false when that is not known.
func space(dir string) (free, total uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0, false
	}
	block, available := uint64(s.Bsize), uint64(s.Bavail)                    //nolint:unconvert // the types differ by system
	return available * block, (s.Blocks - s.Bfree + available) * block, true // as df counts: root's reserve is no part of it
}
