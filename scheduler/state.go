package scheduler

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
