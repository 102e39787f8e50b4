package scheduler

import (
	"cmp"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// DamagedError says that what is stored of a job, or of a collection, cannot be read: somebody wrote into the bucket, a
// later version of Carillon did, or the disk has other bytes than were written. Such a job keeps its baton, which waits;
// it is shown with the state [Damaged], and putting it again mends it. The error matches [ErrConflict]: nothing else can
// be done with it, but deleting it.
type DamagedError struct {
	Key      Key // its Job is empty for a collection
	Revision uint64
	Reason   string

	meta *storedMeta // of a job, when that much can be read
}

// Error names the job or collection, the reason and what may be done.
func (e *DamagedError) Error() string {
	what := "job " + e.Key.String()
	if e.Key.Job == "" {
		what = "collection " + e.Key.Collection
	}
	return what + ": " + e.Says()
}

// Says is the error without the name.
func (e *DamagedError) Says() string {
	return fmt.Sprintf("what is stored of it cannot be read (revision %d): %s; put it again, or delete it", e.Revision, e.Reason)
}

// Is reports whether target is [ErrConflict].
func (e *DamagedError) Is(target error) bool { return target == ErrConflict }

// Job is what can be told of a damaged job: its name, and its state. It has an empty definition, and no plan.
func (e *DamagedError) Job() *Job {
	j := &Job{Key: e.Key, Revision: e.Revision, State: Damaged, Def: &Definition{properties: document.ObjectValue()}}
	if e.meta != nil {
		j.UID, j.Generation, j.Created, j.Updated = e.meta.UID, e.meta.Generation, e.meta.Created, e.meta.Updated
	}
	return j
}

// Collection is what can be told of a damaged collection: its name, its state, and what is wrong.
func (e *DamagedError) Collection() *Collection {
	return &Collection{
		Name: e.Key.Collection, Revision: e.Revision, State: Damaged, top: document.ObjectValue(),
		properties: document.ObjectValue(document.Member{Name: "message", Value: document.StringValue(e.Says())}),
	}
}

// SpecSequence is that of the spec which wrote the job, 0 when that cannot be told.
func (e *DamagedError) SpecSequence() uint64 {
	if e.meta == nil {
		return 0
	}
	return e.meta.SpecSequence
}

// Mended returns the job that is put in the place of a damaged one. As far as that can be read, it is the same job, with
// its history: it goes on after what was last recorded, and stays disabled, or over. Otherwise it is a new one of the
// name; uid is its.
func (e *DamagedError) Mended(uid string, def *Definition, now time.Time, specSequence uint64) (*Job, error) {
	m := e.meta
	if m == nil {
		return NewJob(e.Key, uid, def, now, specSequence)
	}
	before := &Job{State: m.State, PausedUntil: m.PausedUntil}
	j := &Job{
		Key: e.Key, UID: m.UID, Generation: m.Generation + 1, ScheduleGen: m.ScheduleGen, BegunGen: m.BegunGen,
		Created: m.Created, Updated: now, Anchor: m.Anchor, SpecSequence: max(m.SpecSequence, specSequence),
		State: cmp.Or(before.stateUnder(def), Enabled), PausedUntil: before.pauseUnder(def), Progress: m.Progress, Def: def,
	}
	if m.State.Final() { // nobody can tell whether it is put with a change
		j.State = m.State
	}
	err := j.compile()
	return j, err
}

// damagedJob marks the error of reading a stored job.
func damagedJob(k Key, revision uint64, data []byte, err error) error {
	e := &DamagedError{Key: k, Revision: revision, Reason: err.Error()}
	if m, err := decodeMeta(data); err == nil {
		e.meta = &m
	}
	return e
}

// The rhythm in which a baton of a damaged job comes back to be looked at again.
const (
	damagedPause    = time.Second
	damagedPauseMax = time.Minute
)

// DamagedPause is how long a baton is left alone whose job is damaged, after so many deliveries of it: a second, and
// twice as long each time, a minute at most. Another worker, of a later version, may be able to read what this one cannot.
func DamagedPause(deliveries int) time.Duration {
	return min(damagedPause<<min(max(deliveries-1, 0), 10), damagedPauseMax)
}
