package connlimit

// The bounds of a [Share].
const (
	manyFiles  = 1 << 16
	leastShare = 8
	mostShare  = 4096
)

// eighth is the part of a process's files that one of its servers may take.
const eighth = 8

// Share is how many connections one of the servers of a process may have, so
// that the others, and its files, have their part: an eighth of the files that
// the process may have open, from 8 to 4,096.
func Share(files int) int { return min(max(files/eighth, leastShare), mostShare) }
