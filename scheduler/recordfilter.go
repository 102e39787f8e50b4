package scheduler

import (
	"slices"
	"time"
)

// RecordFilter says which records of a history are wanted. The zero value is
// those of the jobs that are there.
type RecordFilter struct {
	Outcomes []Outcome // none: all
	Since    time.Time // not before; see [Record.At]
	Until    time.Time // not after; zero: no bound

	// A record may be of an earlier job of the name: an attempt of it was under
	// way while it was deleted. UID asks for the records of the job with that
	// incarnation, Earlier for those of all jobs that are not there any more.
	UID     string
	Earlier bool
}

// Admits reports whether a record is wanted. present is the incarnation of the
// job that has its name now, and exists tells whether there is one.
func (f *RecordFilter) Admits(r *Record, present string, exists bool) bool {
	at := r.At()
	if len(f.Outcomes) > 0 && !slices.Contains(f.Outcomes, r.Outcome) || at.Before(f.Since) || !f.Until.IsZero() && at.After(f.Until) {
		return false
	}
	isOf := exists && SameIncarnation(r.UID, present)
	switch {
	case f.UID != "":
		return r.UID != "" && r.UID == f.UID[:min(incarnationLength, len(f.UID))]
	case f.Earlier:
		return !isOf
	}
	return isOf
}

// NeedsJob reports whether only the records of a job that is there are wanted.
func (f *RecordFilter) NeedsJob() bool { return f.UID == "" && !f.Earlier }

// clockSkew is by how much the clocks of schedulers and of the store may differ.
const clockSkew = time.Minute

// Passed reports whether neither a record nor any that was stored before it is
// young enough.
func (f *RecordFilter) Passed(r *Record) bool {
	return !f.Since.IsZero() && !r.Stored.IsZero() && r.Stored.Before(f.Since.Add(-clockSkew))
}

// At is when the attempt started or, when there was none, when that was decided.
func (r *Record) At() time.Time {
	if r.Started.IsZero() {
		return r.Ended
	}
	return r.Started
}
