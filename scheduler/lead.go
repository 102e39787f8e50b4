package scheduler

import (
	"time"
)

const (
	// lead is how long before it is due a baton is fired, so that a worker
	// holds it in memory at the instant; JetStream's own timer is up to
	// 250 ms late.
	lead = 500 * time.Millisecond

	// timerStep is how far apart the runs of JetStream's timer are.
	timerStep = 250 * time.Millisecond

	// floor is how near a baton's time may be for a timer to still pay: what
	// is due sooner goes to the workers at once, and they hold it.
	floor = lead + 500*time.Millisecond

	// widest is the window over which batons due at one instant are spread that
	// are not a herd.
	widest = 2 * time.Second

	// herdRate is how many batons of a herd are fired in a second: to fire and
	// deliver one and to read its definition takes about 70 µs of processor time,
	// so this leaves the better part of two cores to what is due meanwhile.
	herdRate = 10_000

	// furthest is how much earlier than others the batons of a herd are fired at
	// most: about as long as the server waits for a sign of life, so that those
	// who hold them have to give one once or twice.
	furthest = 10 * time.Second

	// horizon is how far ahead a timer is set at most. JetStream counts the
	// nanoseconds since 1970, which 64 bits hold until 2262: a baton of a later
	// instant would fire at once. What is due beyond it wakes a worker then,
	// which arms it again.
	horizon = 50 * 365 * 24 * time.Hour

	// soon is how long before its time a worker holds a baton in memory: more
	// than any lead. One that comes earlier has reached the horizon, unless the
	// clocks of this machine and of the store differ by as much.
	soon = time.Hour
)

// ArmAt returns when JetStream is to fire a baton of j that is due at due:
// the lead before it, and earlier for jobs with long intervals, so that the
// batons of a herd come one after the other: up to two seconds or, of a herd
// that needs longer, up to ten. before is how many places have those that are due
// with it and were armed before it, as far as is known (see [Herds]). One that is due beyond the
// horizon is fired there, and waits again (see [Baton.Early]). Zero means at once.
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

// FiresAtOnce reports whether a baton of j that is due at due goes to the workers
// without a timer.
func (j *Job) FiresAtOnce(due, now time.Time) bool {
	least := floor
	if j.Def.Overlap == OverlapAllow {
		// The counts of its detached runs are added to a baton while it waits, so
		// one of every second must wait, too.
		least = lead + timerStep
	}
	return due.Sub(now) < least
}

// Early reports whether b is with a worker so long before its time that it is to
// wait outside the process, and not in memory.
func (b *Baton) Early(now time.Time) bool { return b.Wake().Sub(now) > soon }

// spread is how much before the lead a baton of j is fired, when those that are
// due with it and were armed before have so many places. It is none for intervals below a minute, and
// else a place by the job's hash within a window that grows with the interval, to
// two seconds from an hour on. When that window has as many as herdRate allows,
// each further one has its place before those: whoever arms does not know how many
// will come, and like this they are evenly spread however many there are. Those
// beyond the furthest place are scattered over all places.
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
