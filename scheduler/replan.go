package scheduler

import (
	"cmp"
	"time"
)

// Found holds the batons of an enabled job. Both nil: none.
type Found struct {
	Waiting *Baton // in the store, until it is due
	Running *Baton // with a worker
}

// Own returns the baton of j in f, or nil.
func (f *Found) Own(j *Job) *Baton {
	if b := cmp.Or(f.Waiting, f.Running); b != nil && b.BelongsTo(j) {
		return b
	}
	return nil
}

// RescheduleAction states what happens to a job's baton after an edit.
type RescheduleAction uint8

// The replannings.
const (
	LeaveAlone  RescheduleAction = iota // it follows the definition, or will: an occurrence in progress ends under its own definition
	LookAgain                           // a worker has it, and may have read the definition before the edit
	ReplaceIt                           // execute the step instead of its baton
	DeriveAgain                         // it was lost, or an edit was interrupted: derive it from the history
)

// Replan decides how the baton of an enabled job follows its definition. was is the job's state before the edit. A job
// that restarts after its end may replace a running baton that its worker has yet to release.
func (j *Job) Replan(was State, f Found, now time.Time) (RescheduleAction, Step) {
	switch b := f.Waiting; {
	case b == nil:
		return j.replanWithoutWaiting(was, f.Running, now)
	case !b.BelongsTo(j) && b.Revision > j.Revision: // j was deleted and created again in the meantime
		return LeaveAlone, Step{}
	case !b.BelongsTo(j): // left by an interrupted delete
		return ReplaceIt, j.Begin(j.Progress, now)
	case was == Disabled && b.Schedule == j.ScheduleGen && !b.NeedsOpen():
		return j.resume(*b, now)
	case b.Begun(), b.Revision == j.Revision, b.Kind.IsManual() && b.Deferred(): // a manual run is not replanned
		return LeaveAlone, Step{}
	case b.Schedule != j.ScheduleGen && !b.MayRun().After(j.Anchor): // it was due before the edit
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

// replanWithoutWaiting is Replan for a job without a waiting baton. running is the baton of a worker, nil for none.
func (j *Job) replanWithoutWaiting(was State, running *Baton, now time.Time) (RescheduleAction, Step) {
	switch {
	case was.Final() && (running == nil || running.Schedule != j.ScheduleGen):
		return ReplaceIt, j.Begin(j.Progress, now) // the worker's baton and the history predate its end
	case running != nil && (running.Revision == j.Revision || running.awaits(j, now)):
		return LeaveAlone, Step{}
	case running != nil:
		return LookAgain, Step{}
	case was == Disabled:
		return ReplaceIt, j.ResumeSchedule(j.Progress, now)
	}
	return DeriveAgain, Step{}
}

// newsReach is longer than an edit takes to reach every worker.
const newsReach = 100 * time.Millisecond

// awaits reports whether a worker holds b in memory until it is due, and then decides by the edited job j.
func (b *Baton) awaits(j *Job, now time.Time) bool {
	return b.Schedule == j.ScheduleGen && b.Wake().After(now.Add(newsReach)) && !b.Early(now)
}

// resume continues the schedule of a job that was disabled after the waiting baton b, a manual run or a started
// occurrence.
func (j *Job) resume(b Baton, now time.Time) (RescheduleAction, Step) {
	s := j.ResumeSchedule(b.Progress, now)
	switch {
	case b.Kind == Planned && len(s.Records) == 0, s.Next != nil && s.Next.Nominal.Equal(b.Resume):
		return LeaveAlone, Step{}
	case b.Kind == Manual && s.Next != nil:
		b.Resume = s.Next.Nominal
	}
	b.Progress = s.Progress // if no times are left, its Seen shows that
	return ReplaceIt, Step{Next: &b, State: j.State, Progress: b.Progress, Records: s.Records}
}

// Restart decides how to continue with b, which was armed for the previous schedule of j and has not begun. Times that
// were due before the edit are decided under old, the definition that armed b, as if before the edit: one of them may
// run. The current schedule begins after them. open reports whether the collection is enabled.
func (j *Job) Restart(old *Job, open bool, b Baton, now time.Time) Decision {
	edited := j.Anchor
	if old.ScheduleGen != b.Schedule { // no longer stored
		var missed []skip
		if !b.MayRun().After(edited) {
			missed = []skip{{from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonCatchUp}}
		}
		return j.begin(b.Progress, j.skipped(missed, edited, b.Progress), now)
	}
	b, skips := old.settle(b, edited)
	b, gaps := old.passGaps(b, edited)
	skips = append(skips, gaps...)
	last := old.lastDue(b, edited)
	due := skip{reason: ReasonCatchUp}
	switch {
	case b.MayRun().After(edited), old.OnlyEvents():
		return j.begin(b.Progress, old.skipped(skips, edited, b.Progress), now)
	case j.State == Disabled:
		due.reason = ReasonDisabled
	case !open:
		due = old.postponed(b.Nominal, last)
	case old.asks(&b):
		due.reason, due.message = ReasonOnlyIf, "the schedule was edited before the condition was checked"
	case !j.PausedAt(now) && (b.Queued || now.Sub(last) <= old.Def.CatchUp.Window):
		d := old.admit(b, skips, edited)
		switch d.Verdict {
		case Run:
		case Detach:
			if next := d.Step.Next; next == nil || next.MayRun().After(edited) {
				d.Step = j.Begin(d.Step.Progress, now)
			}
		default: // Skip, or Wait for a time that was not due before the edit
			return j.begin(d.Step.Progress, d.Step.Records, now)
		}
		return d
	}
	b, gaps = old.passOver(b, last, due)
	return j.begin(b.Progress, old.skipped(append(skips, gaps...), edited, b.Progress), now)
}

// begin starts the current schedule of j after the recorded times of the previous schedule. If j is disabled, its times until now
// are skipped.
func (j *Job) begin(p Progress, records []Record, now time.Time) Decision {
	s := j.end(p, nil, now)
	switch first := j.Begin(p, now); {
	case j.State == Enabled:
		s = first
	case j.State == Disabled && first.Next != nil && !first.Next.MayRun().After(now):
		s = j.stop(*first.Next, now).after(first.Records)
	}
	return Decision{Verdict: Proceed, Step: s.after(records)}
}

// leave returns the step s, which begins the current schedule of j after b's occurrence, with the times of the
// definition ran that were due before the edit: they are skipped, or, under [CatchUpAll] and unless j is disabled, run
// first.
func (j *Job) leave(ran *Job, p Progress, b Baton, s Step) Step {
	if ran.ScheduleGen != b.Schedule || b.Schedule == j.ScheduleGen {
		return s
	}
	old := ran.following(p, b, j.Anchor)
	if next := old.Next; next != nil && !next.MayRun().After(j.Anchor) {
		if j.State == Enabled {
			return old
		}
		passed, skips := ran.passOver(*next, ran.lastDue(*next, j.Anchor), skip{reason: ReasonDisabled})
		s = s.after(ran.skipped(skips, j.Anchor, passed.Progress))
	}
	return s.after(old.Records)
}

// Rejoined returns the step s of a job that was disabled and has no occurrence left: the job faulted if its last
// occurrence did, according to search.
func (j *Job) Rejoined(s Step, search *PositionSearch) Step {
	if last := search.Found; last != nil && last.Kind == Planned && last.Schedule == j.ScheduleGen && search.Faulted() {
		s.State = Faulted
	}
	return s
}

// Unbegun returns skipped records for the due times of j's schedule if an edit replaces it before it has begun, because
// an occurrence of an earlier schedule, with progress p, still runs.
func (j *Job) Unbegun(p Progress, now time.Time) []Record {
	s := j.Begin(p, now)
	if s.Next == nil || s.Next.MayRun().After(now) {
		return nil
	}
	b, skips := j.passOver(*s.Next, j.lastDue(*s.Next, now), skip{reason: ReasonOverlap})
	return j.skipped(skips, now, b.Progress)
}
