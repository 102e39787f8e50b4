package scheduler

// Ending is how the baton of a job ended: what is to be written into its
// definition.
type Ending struct {
	Key      Key
	UID      string // of the job it was decided for
	Schedule int    // the schedule generation, likewise
	State    State
	Progress Progress
}

// EndingVerdict says whether an ending still counts.
type EndingVerdict uint8

// The verdicts on an ending.
const (
	WriteEnding    EndingVerdict = iota // write the job that comes with it
	EndingWritten                       // it is written already, or of another job of the name
	EndingOvertook                      // an edit overtook it: that has armed the job, or left it to the worker that had its baton
)

// End returns j as x leaves it. An edit that gave the job a new schedule
// meanwhile wins, and so does one that enabled it.
func (j *Job) End(x Ending) (*Job, EndingVerdict) {
	switch {
	case j.UID != x.UID, j.State.Final():
		return nil, EndingWritten
	case x.State.Final() && j.ScheduleGen != x.Schedule, !x.State.Final() && j.State == Enabled:
		return nil, EndingOvertook
	}
	next := *j
	next.Progress = x.Progress
	if j.ScheduleGen != x.Schedule {
		next.Progress = x.Progress.afresh() // what ran of the schedule before counts no more
	}
	if x.State.Final() && j.State == Enabled {
		next.State = x.State
	}
	return &next, WriteEnding
}

// MergeStored adds to j, which has no baton, the counters p of a detached run.
// False means that they had been added before. The job faulted when it was its
// last occurrence that did.
func (j *Job) MergeStored(detached Baton, p Progress) (*Job, bool) {
	next := *j
	if !next.Progress.Merge(p, detached.Nominal) {
		return nil, false
	}
	if p.Faults > 0 && j.State == Completed && detached.Number == j.Progress.Number && !detached.Kind.IsManual() {
		next.State = Faulted
	}
	return &next, true
}
