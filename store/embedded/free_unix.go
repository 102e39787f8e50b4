//go:build unix

package embedded

import "golang.org/x/sys/unix"

// space returns the bytes that this process can still use on the directory's file system, and on an empty one. known is
// false if the system does not report them.
func space(dir string) (free, total uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0, false
	}
	block, available := uint64(s.Bsize), uint64(s.Bavail)                    //nolint:unconvert // the types differ by system
	return available * block, (s.Blocks - s.Bfree + available) * block, true // like df, without the blocks reserved for root
}
