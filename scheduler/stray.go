package scheduler

import (
	"time"
)

// Stray is a baton of a job that has no definition. Either the job was deleted, and
// the baton ought to have gone with it, or the definition was lost, by a disk or by
// a backup that is older than the batons. The baton is all that is left of the job
// then: its name, where it was in its schedule, and what it has counted.
type Stray struct {
	Baton *Baton // nil: it cannot be read

	// Marker is the revision of the job's delete marker, 0 when there is none. One
	// lasts an hour.
	Marker uint64

	// Next is the revision that the next job to be written gets, 0 when it is not
	// known.
	Next uint64
}

// Fate is what has become of the definition of a stray baton.
type Fate uint8

// The fates. Only a baton of a job that was deleted may be removed.
const (
	Deleted Fate = iota // by someone, who was cut short: the baton is left over
	Lost                // for certain
	Missing             // lost, or deleted so long ago that nothing says so any more
)

// Fate says what has become of the definition. In doubt, it is missing.
func (s *Stray) Fate() Fate {
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

// The times between two looks of a baton that waits for its definition.
const (
	strayWait    = time.Second
	strayMaxWait = 10 * time.Minute
)

// Await returns b as it waits for its definition, which is missing, and until when:
// the longer it has waited, the longer it does.
func (b Baton) Await(now time.Time) (next Baton, at time.Time) {
	wait := min(strayMaxWait, max(strayWait, now.Sub(b.MayRun())))
	b.Suspect = true
	return b, now.Add(wait)
}

// Adopt returns j, which was put for the first time, as the job that the stray baton
// b is of, and whose definition was lost: it goes on where that was. When the
// baton's instant is none of the schedule of j, that is another one than the lost
// one, and begins anew.
func (j *Job) Adopt(b Baton) (*Job, error) {
	next := *j
	if n := len(b.UID); n > 0 && n <= len(j.UID) {
		next.UID = b.UID + j.UID[n:]
	}
	next.ScheduleGen = max(1, b.Schedule)
	for _, t := range []time.Time{b.Last, b.Seen} { // it was there then
		if !t.IsZero() && t.Before(next.Created) {
			next.Created = t
		}
	}
	instant := b.Nominal
	if b.Kind.IsManual() {
		instant = b.Resume
	}
	next.Anchor = instant // for the lost one: what was before it is done with
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

// Stranded is a running baton that nobody is given: the server counts it as
// acknowledged, and was killed before it removed it. Its run may have ended, or never
// have begun.
type Stranded struct {
	Slot     Slot
	Body     []byte
	Sequence uint64 // of the message
}

// Rescue is what becomes of a [Stranded] baton.
type Rescue int

// What becomes of it.
const (
	Discard   Rescue = iota // it was passed on
	FireAgain               // whoever gets it looks whether its attempt is recorded
)

// Rescue says what becomes of the baton. waiting and running are the sequences of the
// batons that wait and run last in its slot, 0 for none. One that was passed on must
// not be again: the job would have two.
func (s *Stranded) Rescue(waiting, running uint64) Rescue {
	if waiting != 0 || running != s.Sequence {
		return Discard
	}
	return FireAgain
}

// Again returns the body of the baton to be fired again: it may have been run before. One that
// cannot be read stays as it is, for the worker to remove.
func (s *Stranded) Again() []byte {
	b, err := DecodeBaton(s.Body)
	if err != nil {
		return s.Body
	}
	b.Suspect = true
	return b.Encode()
}
