//go:build unix

package connlimit

import (
	"math"
	"syscall"
)

// Files is how many files and connections this process may have open.
func Files() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return manyFiles
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) //nolint:unconvert // it fits; the type differs by system
}
