package scheduler

import (
	"time"
)

const (
	// lead is how early JetStream fires a baton, so that a worker holds it in memory at its due time. JetStream's timer
	// is up to 250 ms late.
	lead = 500 * time.Millisecond

	// timerStep is the interval of JetStream's timer.
	timerStep = 250 * time.Millisecond

	// floor is the shortest delay for which a timer is used. Batons that are due sooner are fired immediately, and
	// workers hold them.
	floor = lead + 500*time.Millisecond

	// widest is the window over which the batons for one due time are spread, unless they are a herd.
	widest = 2 * time.Second

	// herdRate is the number of batons of a herd that are fired per second. Firing and delivering a baton and reading
	// its definition takes about 70 µs of processor time, so this rate leaves most of two cores to other due batons.
	herdRate = 10_000

	// furthest is how early, at most, the batons of a herd are fired: about the server's ack timeout, so that their
	// holders renew each lease once or twice.
	furthest = 10 * time.Second

	// horizon is the longest timer. JetStream counts nanoseconds since 1970, which overflow 64 bits in 2262: a later
	// baton would fire immediately. A worker re-arms a baton that is due beyond the horizon.
	horizon = 50 * 365 * 24 * time.Hour

	// soon is the longest time for which a worker holds a baton in memory; it exceeds every lead. A baton that arrives
	// earlier has reached the horizon, unless the clocks of this machine and of the store differ by as much.
	soon = time.Hour
)

// ArmAt returns when JetStream fires a baton of j with the given due time. Zero means immediately. The baton fires the
// lead before it is due. Jobs with long intervals fire earlier, so that the batons of a herd arrive one after the
// other: up to 2 s earlier, or up to 10 s for a large herd. before is the known number of slots taken by batons that
// are due at the same time and were armed earlier (see [BurstCounter]). A baton that is due beyond the horizon fires there,
// and is armed again (see [Baton.Early]).
func (j *Job) ArmAt(due, now time.Time, before int) time.Time {
	if j.FiresAtOnce(due, now) {
		return time.Time{}
	}
	at := due.Add(-lead - j.spread(before))
	if last := now.Add(horizon); at.After(last) {
		return last
	}
	return at
}

// FiresAtOnce reports whether a baton of j with the given due time is fired without a timer.
func (j *Job) FiresAtOnce(due, now time.Time) bool {
	least := floor
	if j.Def.Overlap == OverlapAllow {
		// Detached runs merge their counts into a baton while it waits, so the baton of a job that runs every second
		// must wait, too.
		least = lead + timerStep
	}
	return due.Sub(now) < least
}

// Early reports whether b has arrived so early that it must wait in the store instead of in memory.
func (b *Baton) Early(now time.Time) bool { return b.Wake().Sub(now) > soon }

// spread returns how long before the lead a baton of j is fired. Intervals below a minute have no spread. Others have a
// slot by the job's hash within a window that grows with the interval, up to 2 s at an hour.
//
// before is the number of slots taken by batons that are due at the same time. Once they exceed herdRate for the
// window, each further baton gets the slot before them: the number of batons is not known in advance, and this order
// spreads any number evenly. Batons beyond the furthest slot are distributed over all slots.
func (j *Job) spread(before int) time.Duration {
	interval := time.Hour
	if !j.OneShot() {
		interval = j.Plan.Interval()
	}
	if interval < time.Minute {
		return 0
	}
	window := min(widest, time.Duration(float64(interval)/float64(time.Hour)*float64(widest)))
	switch place := time.Duration(min(before, mostCounted)) * time.Second / herdRate; {
	case place >= furthest:
		window = furthest
	case place >= window:
		return place
	}
	return time.Duration(float64(j.Key.Hash()) / (1 << 32) * float64(window))
}

// BurstCounter counts the batons that a process arms for each second. The table has a fixed size; seconds with more batons
// stay longer. Forgotten counts (all of them at a restart) and batons armed by other processes make a herd less even,
// and have no other effect. The zero value is ready to use.
type BurstCounter struct {
	// Waits: the store syncs every write to disk, so that a baton counts as ten.
	Waits bool

	seconds [herdSeconds]herd
}

// herd is the number of batons that are due in a second.
type herd struct {
	second int64 // since 1970
	count  int
}

const (
	// herdSeconds is the table size, 64 KiB: more than the number of concurrent herds.
	herdSeconds = 4096

	// mostCounted caps a count; larger numbers make no difference.
	mostCounted = 1 << 20

	// waitingPlaces is the number of slots of a baton in a store that syncs every write. Firing a baton takes two
	// syncs, about 0.25 ms each on a fast disk, so this leaves more than half of the disk to other writes.
	waitingPlaces = 10
)

// Join counts a baton with the given due time, and returns the number of slots taken by earlier batons of the same
// second, normally one per baton.
func (h *BurstCounter) Join(due, now time.Time) int {
	second := due.Unix()
	at := &h.seconds[uint64(second)%herdSeconds]
	switch {
	case at.second == second:
	case at.count == 0, at.second < now.Unix():
		*at = herd{second: second}
	default: // another second has the entry, until as many other batons have joined
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
