package scheduler

import (
	"cmp"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a stored job: its compiled definition, and the state that the scheduler keeps about it. It is immutable once
// loaded.
type Job struct {
	Key      Key
	Revision uint64 // of the stored definition; grows with every write
	Size     int    // of the stored document in bytes; 0 if not read from the store

	UID          string // distinguishes successive jobs of the same name
	Generation   int    // number of edits, from 1
	ScheduleGen  int    // number of edits that changed the schedule, from 1
	BegunGen     int    // ScheduleGen of the last restart after the job's end; 0: never restarted
	Created      time.Time
	Updated      time.Time // last edit
	Anchor       time.Time // last change of the schedule; replaces a missing startTime
	SpecSequence uint64    // stream sequence of the spec that wrote the job, 0 if none
	State        State
	PausedUntil  time.Time      // planned occurrences do not begin before it; zero or past: not paused
	Origin       Origin         // of the last edit
	Canceled     []Cancellation // oldest first
	Progress     Progress       // of a job without a baton (disabled or final), at the last write

	Def  *Definition
	Plan *spec.Plan
}

// NewJob returns a new job. uid distinguishes it from earlier jobs of the name. An invalid schedule returns
// [ErrInvalid].
func NewJob(k Key, uid string, def *Definition, now time.Time, specSequence uint64) (*Job, error) {
	j := &Job{
		Key: k, UID: uid, Generation: 1, ScheduleGen: 1, Created: now, Updated: now, Anchor: now,
		SpecSequence: specSequence, State: cmp.Or(def.State, Enabled), Def: def,
	}
	j.PausedUntil = j.pauseUnder(def)
	err := j.compile()
	return j, err
}

// Edited returns j with a new definition. A new schedule resets the run count, and the time of the edit replaces a
// missing startTime. An ended job restarts with any change except to its notes, as if its schedule were new: its user
// wants it to run.
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
		return &next, nil // the plan is unchanged
	}
	next.ScheduleGen++
	if again {
		next.BegunGen = next.ScheduleGen
	}
	next.Anchor = now
	next.Progress = next.Progress.afresh()
	return &next, next.compile()
}

// WithState returns j enabled or disabled. Enabling also ends a pause.
func (j *Job) WithState(state State, now time.Time, specSequence uint64) *Job {
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

// Stopped returns j, the disabled successor of before, with the progress p of the baton of before. A job that was
// disabled before can also have such a baton, if canceling it was interrupted.
func (j *Job) Stopped(before *Job, p Progress) *Job {
	next := *j
	p.keep(&before.Progress)
	next.Progress = p
	if j.ScheduleGen != before.ScheduleGen {
		next.Progress = p.afresh()
	}
	return &next
}

// stateUnder returns the state of j after an edit to def: the state of def, or the current one if def has none. An
// ended job counts as enabled.
func (j *Job) stateUnder(def *Definition) State {
	switch {
	case def.State != "":
		return def.State
	case j.State == Disabled:
		return Disabled
	}
	return Enabled
}

// Equals reports whether putting def over j changes nothing, secrets included. A put of an unchanged ended job has no
// effect, even if def sets another state or pause.
func (j *Job) Equals(def *Definition) bool {
	turned := j.State != j.stateUnder(def) || !j.PausedUntil.Equal(j.pauseUnder(def))
	return (j.State.Final() || !turned) && j.Def.Document().Equal(def.Document())
}

// incarnationLength is the length of the UID prefix in batons and records. 40 bits distinguish the few jobs of one name
// and keep every baton short.
const incarnationLength = 8

// Incarnation identifies j among the successive jobs of its name, in batons and records.
func (j *Job) Incarnation() string { return j.UID[:min(incarnationLength, len(j.UID))] }

// OneShot reports whether the job has no recurrence: it runs once.
func (j *Job) OneShot() bool { return j.Def.Timing.Recurrence == nil }

// planFor returns the definition's plan for a job. anchor replaces a missing startTime. A text schedule that was
// compiled during validation is compiled again only if it depends on these, as hashed schedules depend on the job's
// name and uid.
func (d *Definition) planFor(k Key, uid string, anchor time.Time) (*spec.Plan, error) {
	if d.plan != nil {
		return d.plan.For(k.Job, uid, anchor)
	}
	timing := d.Timing
	timing.Name, timing.Seed = k.Job, uid
	return spec.NewPlan(timing, anchor)
}

// compile builds the plan from the definition. The error matches [ErrInvalid] and holds the paths.
func (j *Job) compile() error {
	plan, err := j.Def.planFor(j.Key, j.UID, j.Anchor)
	if err != nil {
		return AsInvalid(err)
	}
	j.Plan = plan
	return nil
}

// State is the life cycle state of a job.
type State string

// The states of a job. Users set enabled and disabled; the scheduler sets the final states completed and faulted
// ("Azure Scheduler concepts, terminology, and entities", state). A put with a change restarts a final job
// ([Job.Edited]).
const (
	Enabled   State = "enabled"
	Disabled  State = "disabled"
	Completed State = "completed" // the last occurrence succeeded or was skipped
	Faulted   State = "faulted"   // the last occurrence failed after all retries

	// Deleting is the state of a collection that is being deleted with its jobs: none of them runs, and none can be
	// added.
	Deleting State = "deleting"

	// Damaged is shown for a job or collection whose stored document cannot be decoded; see [DamagedError].
	Damaged State = "damaged"
)

// Final reports whether the job has ended. It runs again only after a put with a change.
func (s State) Final() bool { return s == Completed || s == Faulted }

// Overlap is the policy for an occurrence that is due while an earlier one of the same job runs or is retried.
type Overlap string

// The overlap policies. OverlapSkip is the default of the schedule, and OverlapAllow of a trigger, which has the last two,
// too; see [Ledger].
const (
	OverlapSkip   Overlap = "skip"        // the later one is recorded as skipped
	OverlapAllow  Overlap = "allow"       // both run
	OverlapQueue  Overlap = "queue"       // the later one waits for the end of the earlier one
	OverlapCancel Overlap = "cancelOther" // the earlier one is canceled
)

// CatchUpPolicy is the misfire policy: it handles occurrences that could not start on time because no worker ran.
type CatchUpPolicy string

// The misfire policies. CatchUpOnce is the default.
const (
	// CatchUpOnce runs the latest missed occurrence and skips the others.
	CatchUpOnce CatchUpPolicy = "once"
	// CatchUpAll runs every missed occurrence in order, including those that were due while an earlier one ran.
	CatchUpAll CatchUpPolicy = "all"
	// CatchUpSkip skips all missed occurrences.
	CatchUpSkip CatchUpPolicy = "skip"
)
