package scheduler

import "time"

// Found is where an enabled job's baton was found. Both nil: nowhere.
type Found struct {
	Waiting *Baton // waits for its time
	Running *Baton // is with a worker
}

// Replanning is what an edit makes of a job's baton.
type Replanning uint8

// What an edit makes of a baton.
const (
	LeaveAlone  Replanning = iota // it follows the definition, or will: an occurrence under way ends under its own
	LookAgain                     // a worker has it: it may have read the definition before the edit
	ReplaceIt                     // carry out the step in its place
	DeriveAgain                   // it was lost, or an edit was cut short: derive it from the history
)

// Replan says how the baton of an enabled job is to follow its definition. was
// is the job's state before the edit; one that has begun again after its end
// may take the place of a running baton, which a worker has yet to let go.
func (j *Job) Replan(was State, f Found, now time.Time) (Replanning, Step) {
	switch b := f.Waiting; {
	case b == nil && was.Final() && (f.Running == nil || f.Running.Schedule != j.ScheduleGen):
		return ReplaceIt, j.Begin(j.Progress, now) // what the worker has still, and the history, are of before its end
	case b == nil && f.Running != nil:
		if f.Running.Revision == j.Revision {
			return LeaveAlone, Step{}
		}
		return LookAgain, Step{}
	case b == nil && was == Disabled:
		return ReplaceIt, j.Rejoin(j.Progress, now)
	case b == nil:
		return DeriveAgain, Step{}
	case !b.BelongsTo(j): // left by a delete that was cut short
		return ReplaceIt, j.Begin(j.Progress, now)
	case was == Disabled && b.Schedule == j.ScheduleGen && !b.NeedsOpen():
		return j.resume(*b, now)
	case b.Begun(), b.Revision == j.Revision, b.Kind.IsManual() && b.Deferred(): // a run by hand is not planned anew
		return LeaveAlone, Step{}
	case b.Schedule != j.ScheduleGen:
		return ReplaceIt, j.Begin(b.Progress, now)
	default:
		next := *b
		next.UID, next.Revision, next.Due = j.Incarnation(), j.Revision, j.due(b.Progress, b.Nominal)
		if b.NeedsOpen() {
			next = j.repaused(next)
			next.Due = j.mayBegin(next.Progress, next.Nominal)
		}
		return ReplaceIt, Step{Next: &next, State: j.State, Progress: b.Progress}
	}
}

// resume lets the schedule of a job that was disabled continue after b, a manual
// run or an occurrence that has begun, which still waits.
func (j *Job) resume(b Baton, now time.Time) (Replanning, Step) {
	s := j.Rejoin(b.Progress, now)
	switch {
	case b.Kind == Planned && len(s.Records) == 0, s.Next != nil && s.Next.Nominal.Equal(b.Resume):
		return LeaveAlone, Step{}
	case b.Kind == Manual && s.Next != nil:
		b.Resume = s.Next.Nominal
	}
	b.Progress = s.Progress // when nothing is left, its Seen says so
	return ReplaceIt, Step{Next: &b, State: j.State, Progress: b.Progress, Records: s.Records}
}

// Rejoined returns the step s of a job that was disabled and has no occurrence
// left: the job faulted if its last occurrence did, as search found.
func (j *Job) Rejoined(s Step, search *PlaceSearch) Step {
	if last := search.Found; last != nil && last.Kind == Planned && last.Schedule == j.ScheduleGen && search.Faulted() {
		s.State = Faulted
	}
	return s
}
