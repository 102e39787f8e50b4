package scheduler

import "time"

// Herds counts what one process arms for the same second. It has room for so
// many seconds at once; those for which more was armed stay longer. What it
// forgets, as all of it at a restart, or has never known, as what other processes
// arm, makes a herd less smooth and changes nothing else. The zero value has
// counted nothing.
type Herds struct {
	// Waits says that the store waits for the disk at every write: a baton takes
	// the place of ten then.
	Waits bool

	seconds [herdSeconds]herd
}

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

	// waitingPlaces is how many places a baton takes of a store that waits for the
	// disk: to fire one are two such waits, of a quarter of a millisecond each on
	// a fast one, and herdRate leaves the better half of it to others then.
	waitingPlaces = 10
)

// Join counts one more that is due at due, and returns how many places those of
// its second have that are there already: one each, as a rule.
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
	if h.Waits {
		before *= waitingPlaces
	}
	return before
}
