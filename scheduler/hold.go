package scheduler

import (
	"time"
)

const (
	// near is how long before its time a baton is held whatever else is: it is then
	// that those come whose intervals are short, late timers included.
	near = lead + timerStep

	// heldBytes is what a worker needs for a baton in its hands, without the job's
	// definition: itself, its delivery, its lease, and its places in the queues.
	heldBytes = 2 << 10

	// packedBytes is heldBytes of one whose definition is packed, and comes beside: then
	// no more is in memory than tells it from others.
	packedBytes = 768

	// suspectBytes come beside while it looks for the baton's attempt in the
	// history: a stack, a request and its answer.
	suspectBytes = 14 << 10

	// definitionBytes is what a definition needs in memory beside as many as its
	// document has, and costlyBytes what a schedule needs that is almost too
	// costly to compile.
	definitionBytes = 4 << 10
	costlyBytes     = 300 << 10

	// UsualHeldBytes is what a worker needs for the baton of a usual job: that of a
	// large herd when it has come, and then less.
	UsualHeldBytes = heldBytes

	// LeastHeldBytes is the least that a worker needs for a baton.
	LeastHeldBytes = packedBytes
)

// HeldBytes is what a worker needs for a baton in its hands. j is the definition
// that it keeps for it, nil for none; suspect whether it looks first what the
// history has of the baton.
func HeldBytes(j *Job, suspect bool) int {
	n := heldBytes
	if suspect {
		n += suspectBytes
	}
	if j != nil {
		n += definitionBytes + j.Size + int(costlyBytes*j.Plan.Work())
	}
	return n
}

// Held is what a worker has in memory, and may have.
type Held struct {
	Budget  int // bytes that there may be
	Waiting int // bytes of the batons that wait for their instant
}

// Takes reports whether b is to wait in memory, too. Those that are not almost due
// have seven eighths of it: what comes later than they and is due sooner finds
// room.
func (h Held) Takes(b *Baton, now time.Time) bool {
	return b.Wake().Sub(now) <= near || h.Waiting < h.Budget/8*7
}

// Packs reports whether what comes to wait is to have its definition packed. A few
// are not worth reading it again.
func (h Held) Packs() bool { return h.Waiting > h.Budget/32 }

// Crowded reports whether so much waits for slots, of all that a worker holds, that
// slow targets are to give room to others.
func (h Held) Crowded(size int) bool { return size-h.Waiting >= h.Budget/8 }

// Outdated reports whether b, which is held and not due, is not to wait for its time
// any longer, since its job j has another schedule now, by which it may be due
// earlier. What else became of the job is decided about when b is due.
func (b *Baton) Outdated(j *Job) bool {
	return b.NeedsOpen() && b.BelongsTo(j) && b.Schedule != j.ScheduleGen && j.State == Enabled
}

// ComesAgain returns when JetStream is to fire b again after a worker did not take
// it. before is how many places have those that are due with it and were not taken
// before it (see [Herds]): they come one after the other from the instant on, as what is held makes room.
func (b *Baton) ComesAgain(before int) time.Time {
	return b.Wake().Add(-timerStep + time.Duration(min(before, mostCounted))*time.Second/herdRate)
}

// Packed is a stored job in the memory of a worker that holds its baton: as it lies
// in the store, which takes a tenth of what it takes when it is read.
type Packed struct {
	Revision uint64
	Target   string // of its action
	Data     []byte // as stored
}

// Packs reports whether a worker that holds b, which is not due, may forget the
// definition j that was read for it, and read it again for the attempt. Then only
// what j says can hinder b when it falls due, so that nothing is to be decided
// before b has a slot: it is the first of an attempt that is planned, by the
// revision that it was armed with. The schedule must be one that is compiled in no
// time.
func (b *Baton) Packs(j *Job) bool {
	return b.NeedsOpen() && !b.Deferred() && b.Gap.IsZero() && b.BelongsTo(j) && b.Revision == j.Revision && b.Schedule == j.ScheduleGen &&
		j.State == Enabled && j.plain() && j.Def.Overlap != OverlapAllow
}

// HeldBytes is [HeldBytes] of a baton whose definition is packed.
func (p *Packed) HeldBytes() int { return packedBytes + len(p.Data) }
