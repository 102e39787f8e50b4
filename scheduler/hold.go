package scheduler

import (
	"time"
)

const (
	// near is the time before its wake-up at which a baton is always held in memory. It covers jobs with short
	// intervals, and late timers.
	near = lead + timerStep

	// heldBytes is the memory for a held baton without its definition: the baton, its delivery, its lease and its queue
	// entries.
	heldBytes = 2 << 10

	// packedBytes replaces heldBytes if the definition is packed. The packed definition is extra; only its identity
	// stays in memory otherwise.
	packedBytes = 768

	// suspectBytes is extra during the search of the history for the baton's attempt: a stack, a request and its
	// response.
	suspectBytes = 14 << 10

	// definitionBytes is the memory for a definition, in addition to the size of its document. costlyBytes is the
	// memory for a schedule that is almost too expensive to compile.
	definitionBytes = 4 << 10
	costlyBytes     = 300 << 10

	// UsualHeldBytes is the memory for the baton of a typical job. In a large herd, each baton needs this much on
	// arrival, and less afterwards.
	UsualHeldBytes = heldBytes

	// LeastHeldBytes is the minimum memory for a baton.
	LeastHeldBytes = packedBytes
)

// HeldBytes returns the memory for a held baton in bytes. j is its definition in memory, nil for none; suspect: the
// worker first searches the history for the baton's attempt.
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

// Held is the memory use of a worker and its limit.
type Held struct {
	Budget  int // limit in bytes
	Waiting int // bytes of the batons that wait for their due time
}

// Takes reports whether b may wait in memory. Batons that are not almost due get at most seven eighths of the budget,
// which leaves memory for later arrivals that are due sooner.
func (h Held) Takes(b *Baton, now time.Time) bool {
	return b.Wake().Sub(now) <= near || h.Waiting < h.Budget/8*7
}

// Packs reports whether a new arrival should have its definition packed. Below 1/32 of the budget, reading it again
// costs more than it saves.
func (h Held) Packs() bool { return h.Waiting > h.Budget/32 }

// Overloaded reports whether so many of the held batons wait for slots that slow targets must yield memory to others. size
// is the worker's total in bytes.
func (h Held) Overloaded(size int) bool { return size-h.Waiting >= h.Budget/8 }

// Outdated reports whether b, which is held and not due, must be re-armed early: its job j has a new schedule, by which
// it may be due sooner. Other changes of the job are handled when b is due.
func (b *Baton) Outdated(j *Job) bool {
	return b.NeedsOpen() && b.BelongsTo(j) && b.Schedule != j.ScheduleGen && j.State == Enabled
}

// ComesAgain returns when JetStream fires b again after a worker did not take it. before is the number of slots taken
// by the batons that are due at the same time and were refused earlier (see [BurstCounter]): they arrive one after the other
// from the due time on, as memory becomes available.
func (b *Baton) ComesAgain(before int) time.Time {
	return b.Wake().Add(-timerStep + time.Duration(min(before, mostCounted))*time.Second/herdRate)
}

// Packed is a stored job in the memory of a worker that holds its baton. The stored form takes a tenth of the memory of
// the decoded form.
type Packed struct {
	Revision uint64
	Target   string // of its action
	Data     []byte // stored form; nil: no packed job
}

// Packs reports whether a worker that holds b, which is not due, may drop the decoded definition j and decode it again
// for the attempt. Only a change of j may then affect b when it is due: b must be the first attempt of a planned run of
// the revision that armed it, and the schedule must be cheap to compile.
func (b *Baton) Packs(j *Job) bool {
	return b.NeedsOpen() && !b.Deferred() && b.Gap.IsZero() && b.BelongsTo(j) && b.Revision == j.Revision && b.Edit == 0 &&
		b.Schedule == j.ScheduleGen && j.State == Enabled && j.plain() && j.Def.Overlap != OverlapAllow && j.Def.OnlyIf == nil
}

// HeldBytes is [HeldBytes] for a baton with a packed definition.
func (p *Packed) HeldBytes() int { return packedBytes + len(p.Data) }
