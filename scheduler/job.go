package scheduler

import (
	"cmp"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a stored job: its definition, compiled, and what the scheduler knows
// about it. It is immutable once loaded.
type Job struct {
	Key      Key
	Revision uint64 // of the stored definition; it grows with every write
	Size     int    // of its document in the store, in bytes; 0 before it was read from there

	UID          string    // tells this job from an earlier one of the same name
	Generation   int       // counts the edits, from 1
	ScheduleGen  int       // counts the edits that changed the schedule, from 1
	BegunGen     int       // the ScheduleGen with which it was put again after its end; 0: that never was
	Created      time.Time // when the job was first put
	Updated      time.Time // when it was last edited
	Anchor       time.Time // when its schedule was last changed; stands in for a missing startTime
	SpecSequence uint64    // stream sequence of the spec that wrote it, 0 if none did
	State        State
	PausedUntil  time.Time      // before it, no planned occurrence begins; zero or past: it is not paused
	Origin       Origin         // of the last edit
	Canceled     []Cancellation // the oldest first
	Progress     Progress       // of a job without a baton (disabled or final), at the last write

	Def  *Definition
	Plan *spec.Plan
}

// NewJob returns a job that is put for the first time. uid tells it from an
// earlier one of the name. What is wrong with its schedule is an [ErrInvalid].
func NewJob(k Key, uid string, def *Definition, now time.Time, specSequence uint64) (*Job, error) {
	j := &Job{
		Key: k, UID: uid, Generation: 1, ScheduleGen: 1, Created: now, Updated: now, Anchor: now,
		SpecSequence: specSequence, State: cmp.Or(def.State, Enabled), Def: def,
	}
	j.PausedUntil = j.pauseUnder(def)
	err := j.compile()
	return j, err
}

// Edited returns j with a new definition. A new schedule starts afresh: its
// count begins again, and the time of the edit stands in for a missing
// startTime. A job at its end begins again with any change but one of its notes,
// as if its schedule were new: to put it is to want it run.
func (j *Job) Edited(def *Definition, now time.Time, specSequence uint64) (*Job, error) {
	next := *j
	next.SpecSequence = max(j.SpecSequence, specSequence)
	if j.Equals(def) {
		return &next, nil
	}
	next.Def = def
	next.PausedUntil = j.pauseUnder(def)
	next.Updated = now
	next.Generation++
	again := j.State.Final() && j.Def.work() != def.work()
	if again || !j.State.Final() {
		next.State = j.stateUnder(def)
	}
	if !again && j.Def.schedule() == def.schedule() {
		return &next, nil // and the plan is the same
	}
	next.ScheduleGen++
	if again {
		next.BegunGen = next.ScheduleGen
	}
	next.Anchor = now
	next.Progress = next.Progress.afresh()
	return &next, next.compile()
}

// Turned returns j enabled or disabled. To enable it ends a pause, too.
func (j *Job) Turned(state State, now time.Time, specSequence uint64) *Job {
	next := *j
	next.SpecSequence = max(j.SpecSequence, specSequence)
	next.State = state
	if state == Enabled {
		next.PausedUntil = time.Time{}
	}
	next.Generation++
	next.Updated = now
	return &next
}

// Stopped returns j, which was edited from before and is disabled now, with the
// progress p that the baton of before carried. One that was disabled before may
// have such a baton, too, when its cancelling was cut short.
func (j *Job) Stopped(before *Job, p Progress) *Job {
	next := *j
	p.keep(&before.Progress)
	next.Progress = p
	if j.ScheduleGen != before.ScheduleGen {
		next.Progress = p.afresh()
	}
	return &next
}

// stateUnder is the state of j, as far as users set it, once def is put over it:
// the one that def names or, when it names none, the one that j has. A job at its
// end counts as enabled.
func (j *Job) stateUnder(def *Definition) State {
	switch {
	case def.State != "":
		return def.State
	case j.State == Disabled:
		return Disabled
	}
	return Enabled
}

// Equals reports whether to put def over j changes nothing, secrets included. A
// job at its end stays there, whatever state or pause def names: putting it again as it
// was asks for nothing new.
func (j *Job) Equals(def *Definition) bool {
	turned := j.State != j.stateUnder(def) || !j.PausedUntil.Equal(j.pauseUnder(def))
	return (j.State.Final() || !turned) && j.Def.properties.Equal(def.properties)
}

// incarnationLength is how much of a job's UID its batons and records carry: 40
// bits tell a few jobs of one name apart, and there is a baton for every job.
const incarnationLength = 8

// Incarnation is what tells j from an earlier job of its name, in batons and
// records.
func (j *Job) Incarnation() string { return j.UID[:min(incarnationLength, len(j.UID))] }

// OneShot reports whether the job has no recurrence: it runs once.
func (j *Job) OneShot() bool { return j.Def.Timing.Recurrence == nil }

// planFor returns the definition's plan for a job: hashed schedules depend on
// its name and its uid. anchor stands in for a missing startTime. The text of a
// schedule that was compiled while it was read is not compiled again, unless it
// depends on these.
func (d *Definition) planFor(k Key, uid string, anchor time.Time) (*spec.Plan, error) {
	if d.plan != nil {
		return d.plan.For(k.Job, uid, anchor)
	}
	timing := d.Timing
	timing.Name, timing.Seed = k.Job, uid
	return spec.NewPlan(timing, anchor)
}

// compile builds the plan from the definition. What is wrong is the
// definition's fault: the error matches [ErrInvalid] and holds the paths.
func (j *Job) compile() error {
	plan, err := j.Def.planFor(j.Key, j.UID, j.Anchor)
	if err != nil {
		return AsInvalid(err)
	}
	j.Plan = plan
	return nil
}

// State is what a job may do next.
type State string

// The states of a job. Users set enabled and disabled; completed and faulted
// are final and set by the scheduler ("Azure Scheduler concepts, terminology, and entities", state).
// A final job begins again when it is put with a change ([Job.Edited]).
const (
	Enabled   State = "enabled"
	Disabled  State = "disabled"
	Completed State = "completed" // the last occurrence succeeded or was skipped
	Faulted   State = "faulted"   // the last occurrence failed after all retries

	// Deleting is the state of a collection that is being deleted with its jobs: none of them runs, and none can be added.
	Deleting State = "deleting"

	// Damaged is shown of a job, or a collection, whose document in the store cannot be read; see [DamagedError].
	Damaged State = "damaged"
)

// Final reports whether the job is over: it does not run again unless it is put
// with a change.
func (s State) Final() bool { return s == Completed || s == Faulted }

// Overlap says what happens when an occurrence falls due while an earlier one
// of the same job still runs or is being retried.
type Overlap string

// The overlap policies. OverlapSkip is the default.
const (
	OverlapSkip  Overlap = "skip"  // the later one is recorded as skipped
	OverlapAllow Overlap = "allow" // both run
)

// CatchUpPolicy says what happens to occurrences that could not start on time
// because no scheduler ran.
type CatchUpPolicy string

// The catch-up policies. CatchUpOnce is the default.
const (
	// CatchUpOnce runs the latest missed occurrence and skips the others.
	CatchUpOnce CatchUpPolicy = "once"
	// CatchUpAll runs every missed occurrence, one after the other, also
	// those that fell due while an earlier one ran.
	CatchUpAll CatchUpPolicy = "all"
	// CatchUpSkip runs none of them.
	CatchUpSkip CatchUpPolicy = "skip"
)
