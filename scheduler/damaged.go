package scheduler

import (
	"cmp"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// DamagedError states that a stored job or collection cannot be decoded: another program or a later version of Carillon
// wrote it, or the disk changed its bytes. The baton of a damaged job waits. The job has the state [Damaged]; a put
// repairs it, and it can be deleted. Anything else fails: the error matches [ErrConflict].
type DamagedError struct {
	Key      Key // Job is empty for a collection
	Revision uint64
	Reason   string

	meta *storedMeta // of a job, if it can be decoded
}

// Error names the job or collection, the reason and the remedy.
func (e *DamagedError) Error() string {
	what := "job " + e.Key.String()
	if e.Key.Job == "" {
		what = "collection " + e.Key.Collection
	}
	return what + ": " + e.Says()
}

// Says returns the error without the name.
func (e *DamagedError) Says() string {
	return fmt.Sprintf("its stored data cannot be read (revision %d): %s; put it again, or delete it", e.Revision, e.Reason)
}

// Is reports whether target is [ErrConflict].
func (e *DamagedError) Is(target error) bool { return target == ErrConflict }

// Job returns the damaged job for display: its name and state, with an empty definition and no plan.
func (e *DamagedError) Job() *Job {
	j := &Job{Key: e.Key, Revision: e.Revision, State: Damaged, Def: &Definition{properties: document.ObjectValue()}}
	if e.meta != nil {
		j.UID, j.Generation, j.Created, j.Updated = e.meta.UID, e.meta.Generation, e.meta.Created, e.meta.Updated
	}
	return j
}

// Collection returns the damaged collection for display: its name, its state and the error.
func (e *DamagedError) Collection() *Collection {
	return &Collection{
		Name: e.Key.Collection, Revision: e.Revision, State: Damaged, top: document.ObjectValue(),
		properties: document.ObjectValue(document.Member{Name: "message", Value: document.StringValue(e.Says())}),
	}
}

// SpecSequence returns the sequence of the spec that wrote the job, 0 if it cannot be decoded.
func (e *DamagedError) SpecSequence() uint64 {
	if e.meta == nil {
		return 0
	}
	return e.meta.SpecSequence
}

// Repaired returns the job that replaces a damaged job. If the metadata can be decoded, it is the same job with its
// history: it continues after its last record, and a disabled or ended job stays so. Otherwise it is a new job of the
// name with the given uid.
func (e *DamagedError) Repaired(uid string, def *Definition, now time.Time, specSequence uint64) (*Job, error) {
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
	if m.State.Final() { // unknown whether the put changes the definition
		j.State = m.State
	}
	err := j.compile()
	return j, err
}

// damagedJob converts the error of decoding a stored job.
func damagedJob(k Key, revision uint64, data []byte, err error) error {
	e := &DamagedError{Key: k, Revision: revision, Reason: err.Error()}
	if m, err := decodeMeta(data); err == nil {
		e.meta = &m
	}
	return e
}

// Redelivery delays for the baton of a damaged job.
const (
	damagedPause    = time.Second
	damagedPauseMax = time.Minute
)

// DamagedPause returns the redelivery delay for the baton of a damaged job: 1 s, doubled with each delivery, at most 1
// min. A worker of a later version may be able to decode the job.
func DamagedPause(deliveries int) time.Duration {
	return min(damagedPause<<min(max(deliveries-1, 0), 10), damagedPauseMax)
}
