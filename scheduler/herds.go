package scheduler

import "time"

// Herds counts what one process arms for the same second. It has room for so
// many seconds at once; those for which more was armed stay longer. What it
// forgets, as all of it at a restart, or has never known, as what other processes
// arm, makes a herd less smooth and changes nothing else. The zero value has
// counted nothing.
type Herds struct{ seconds [herdSeconds]herd }

// herd is how much is due in a second.
type herd struct {
	second int64 // since 1970
	count  int
}

const (
	// herdSeconds is the room, 64 KiB: more seconds than have a herd at any time.
	herdSeconds = 4096

	// mostCounted is more than makes a difference.
	mostCounted = 1 << 20
)

// Join counts one more that is due at due, and returns how many of its second
// there are already.
func (h *Herds) Join(due, now time.Time) int {
	second := due.Unix()
	at := &h.seconds[uint64(second)%herdSeconds]
	switch {
	case at.second == second:
	case at.count == 0, at.second < now.Unix():
		*at = herd{second: second}
	default: // another second has the place, until as many came for others as it has
		at.count--
		return 0
	}
	before := at.count
	at.count = min(at.count+1, mostCounted)
	return before
}
