package scheduler

import (
	"time"
)

// OrphanBaton is the baton of a job without a definition. Either the job was deleted and its baton is left over, or the
// definition was lost, because of a disk failure or a backup that is older than the batons. In the second case the
// baton is all that is left of the job: its name, its schedule position and its counters.
type OrphanBaton struct {
	Baton *Baton // nil: it cannot be decoded

	// Marker is the revision of the job's delete marker, 0 if none. A marker lasts an hour.
	Marker uint64

	// Next is the revision that the next write of a job gets, 0 if unknown.
	Next uint64
}

// OrphanCause states what happened to the definition of a orphaned baton.
type OrphanCause uint8

// The fates. Only the baton of a deleted job may be removed.
const (
	Deleted OrphanCause = iota // deleted, but the deletion was interrupted
	Lost                       // certainly lost
	Missing                    // lost, or deleted so long ago that the marker has expired
)

// Cause returns the cause of the missing definition; Missing without proof of another.
func (s *OrphanBaton) Cause() OrphanCause {
	switch {
	case s.Baton == nil && s.Marker > 0:
		return Deleted
	case s.Baton == nil:
		return Missing
	case s.Marker > s.Baton.Revision:
		return Deleted
	case s.Marker > 0, s.Next > 0 && s.Baton.Revision >= s.Next:
		return Lost
	}
	return Missing
}

// The range of intervals between checks for a missing definition.
const (
	strayWait    = time.Second
	strayMaxWait = 10 * time.Minute
)

// Requeue returns b while it waits for its missing definition, and the time of the next check. The interval grows with
// the time waited.
func (b Baton) Requeue(now time.Time) (next Baton, at time.Time) {
	wait := min(strayMaxWait, max(strayWait, now.Sub(b.MayRun())))
	b.Suspect = true
	return b, now.Add(wait)
}

// Reattach returns j, a new job, as the job of the orphaned baton b whose definition was lost: it continues at the baton's
// schedule position. If the schedule of j does not contain the baton's time, it is a different schedule and starts from
// the beginning.
func (j *Job) Reattach(b Baton) (*Job, error) {
	next := *j
	if n := len(b.UID); n > 0 && n <= len(j.UID) {
		next.UID = b.UID + j.UID[n:]
	}
	next.ScheduleGen = max(1, b.Schedule)
	for _, t := range []time.Time{b.Last, b.Seen} { // the job existed then
		if !t.IsZero() && t.Before(next.Created) {
			next.Created = t
		}
	}
	instant := b.Nominal
	if b.Kind.IsManual() {
		instant = b.Resume
	}
	next.Anchor = instant // everything before it is processed
	if err := next.compile(); err != nil {
		return nil, err
	}
	if t, ok := next.plan(b.Progress).Next(instant.Add(-1)); ok && t.Equal(instant) {
		return &next, nil
	}
	next.Anchor = j.Anchor
	next.ScheduleGen++
	return &next, next.compile()
}

// UndeliveredBaton is a running baton that is never redelivered: the server counts it as acknowledged, but was killed before it
// removed the message. Its run may have ended, or never have begun.
type UndeliveredBaton struct {
	BatonKey BatonKey
	Body     []byte
	Sequence uint64 // of the message
}

// Rescue states how to continue with an [UndeliveredBaton].
type Rescue int

// The rescues.
const (
	Discard   Rescue = iota // it was passed on
	FireAgain               // its worker first searches the history for the attempt
)

// Rescue decides how to continue with the baton. waiting and running are the sequences of the last waiting and running
// batons in its slot, 0 for none. A baton that was passed on must not be fired again: the job would have two.
func (s *UndeliveredBaton) Rescue(waiting, running uint64) Rescue {
	if waiting != 0 || running != s.Sequence {
		return Discard
	}
	return FireAgain
}

// Refired returns the body of the baton to fire again, marked as suspect. A baton that cannot be decoded stays unchanged;
// its worker removes it.
func (s *UndeliveredBaton) Refired() []byte {
	b, err := DecodeBaton(s.Body)
	if err != nil {
		return s.Body
	}
	b.Suspect = true
	return b.Encode()
}
