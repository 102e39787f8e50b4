package explain

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// expected answers from the schedule, for a time without a record or a baton.
func (q *Question) expected(a *Answer) {
	j := q.job()
	switch {
	case j == nil && q.At.Before(q.Kept):
		q.unknown(a, "")
	case j == nil:
		a.Since = q.Job.Anchor.UTC()
		a.set(Edited, "the job had another schedule then, which is no longer stored: it was changed at "+q.say(q.Job.Anchor),
			"the history has no run at that time either")
	case q.jumped(a, j):
	case q.isDue(j) && q.hasPassed(j) && q.At.Before(q.Kept):
		q.unknown(a, "; by its schedule, it was due")
	case q.stopped(a):
	case !q.isDue(j):
		q.idle(a, j)
	case q.hasPassed(j):
		q.missed(a)
	default:
		q.coming(a, j)
	}
	if j != nil && j != q.Job {
		a.Notes = append(a.Notes, "this answer uses the job's schedule of that time: "+j.Schedule()+
			"; it was changed at "+q.say(q.Job.Anchor))
	}
}

// plan returns the schedule of a job, as its last executions have moved it.
func (q *Question) plan(j *scheduler.Job) *spec.Plan {
	if q.Baton != nil && j == q.Job {
		return j.Plan.Moved(q.Baton.Base)
	}
	return j.Plan
}

// isDue reports whether the schedule has an occurrence at the time.
func (q *Question) isDue(j *scheduler.Job) bool {
	if first, ok := j.Plan.First(); ok && q.At.Before(first) && !q.has(first) {
		return false
	}
	t, ok := q.next(j, q.At.Add(-1))
	return ok && q.has(t)
}

// hasPassed reports whether the occurrence at the time was due before now.
func (q *Question) hasPassed(j *scheduler.Job) bool {
	t, ok := q.next(j, q.At.Add(-1))
	return ok && t.Before(q.Now)
}

// next returns the first occurrence after an instant. It ignores the plan's immediate run, because an edit does not run
// a recurring job.
func (q *Question) next(j *scheduler.Job, after time.Time) (time.Time, bool) {
	t, ok := q.plan(j).Next(after)
	if ok && t.Equal(j.Anchor) && j.ScheduleGen > 1 && !j.OneShot() && j.Def.Timing.Start.IsZero() {
		return q.plan(j).Next(t)
	}
	return t, ok
}

// jumped handles a time that a clock change skips, and that the schedule omits.
func (q *Question) jumped(a *Answer, j *scheduler.Job) bool {
	from := q.At.Add(-1)
	gap, ok := q.plan(j).DSTGap(from, q.end().Add(-1))
	if !ok || !q.Jumped {
		return false
	}
	why, hint := reasonOf(scheduler.ReasonDST)
	a.Reason = scheduler.ReasonDST
	a.set(Skipped, "it was skipped because "+why+": "+gap.Text, hint)
	return true
}

func (q *Question) unknown(a *Answer, also string) {
	a.set(Unknown, "the history does not go back that far: all records of the job are kept since "+q.say(q.Kept)+also,
		"--history-age and --history-per-job of the scheduler set the retention")
}

// idle handles a time without an occurrence.
func (q *Question) idle(a *Answer, j *scheduler.Job) {
	first, runs := j.Plan.First()
	last, earlier := q.plan(j).Last(q.end().Add(-1))
	next, more := q.plan(j).Next(q.end().Add(-1))
	switch {
	case j.OnlyEvents():
		a.set(NotDue, "the job has no schedule: it runs "+j.Schedule(), "")
	case spec.GaveUp(next, more):
		a.set(Unknown, "the next occurrence of its schedule is too expensive to compute", "use fewer rules or patterns")
	case !runs:
		a.set(Ended, "its schedule never has an occurrence", "change its schedule")
	case q.At.Before(first):
		a.set(NotDue, "its schedule begins later, at "+q.say(first), "")
	case !more && earlier && !j.OneShot():
		a.set(Ended, "its schedule had ended: its last occurrence was at "+q.say(last), "change its endTime or count")
	case !more && earlier:
		a.set(Ended, "it runs once, at "+q.say(first), "change its startTime, or add a recurrence")
	default:
		text := "nothing is due at that time"
		if t, ok := q.following(j); ok {
			text += ": the next occurrence is at " + q.say(t)
		}
		if earlier {
			text += ", the previous one was at " + q.say(last)
		}
		a.set(NotDue, text+"; the schedule is "+j.Schedule(), "")
	}
}

// following returns the first occurrence after the time that will take place in the present state.
func (q *Question) following(j *scheduler.Job) (time.Time, bool) {
	t, ok := q.plan(j).Next(q.end().Add(-1))
	ok = ok && !j.Never(t)
	if !ok || t.Before(q.Now) {
		return t, ok && !q.Job.State.Final()
	}
	if !j.OneShot() && q.Job.PausedAt(t) {
		t, ok = q.plan(j).Next(q.Job.PausedUntil.Add(-1))
	}
	return t, ok && !q.Closed && q.Job.State == scheduler.Enabled
}

// stopped handles a job that is disabled, paused, ended or in a disabled collection. The answer covers all later
// times, with or without an occurrence.
func (q *Question) stopped(a *Answer) bool {
	j := q.Job
	switch {
	case j.State == scheduler.Disabled && q.isSince(q.disabledSince()):
		q.disabled(a)
	case j.State.Final() && (q.isDue(j) || !q.end().Before(q.Now)):
		a.set(Ended, "the job had ended: "+j.TerminalReason(), "")
		if !j.Progress.Last.IsZero() {
			a.Notes = append(a.Notes, "its last attempt started at "+q.say(j.Progress.Last))
		}
	case q.isPaused(j):
		q.paused(a)
	case q.Closed && q.unsettled():
		q.closed(a)
	default:
		return false
	}
	return true
}

// isSince reports whether the time is at or after the change that led to the present state. Now always is.
func (q *Question) isSince(change time.Time) bool { return !q.At.Before(change) || q.has(q.Now) }

// disabled handles a disabled job.
func (q *Question) disabled(a *Answer) {
	text := "the job is disabled"
	if _, ok := q.last(JobDisabled, time.Time{}); ok {
		c, _ := q.blame(a, JobDisabled, time.Time{})
		text += ", since " + q.say(c.At) + by(c)
	} else if c, ok := q.blame(a, JobChanged, time.Time{}); ok {
		text += ", at the latest since its last change at " + q.say(c.At) + by(c)
	}
	a.set(Disabled, text, "to run it again: carillon enable "+q.Key.String())
}

// isPaused reports whether the time falls into the pause of j. An occurrence at that time has no record yet.
func (q *Question) isPaused(j *scheduler.Job) bool {
	if j.OneShot() {
		return false
	}
	if t, ok := q.next(j, q.At.Add(-1)); ok && q.has(t) {
		return j.PausedAt(t) && (!t.Before(q.Now) || q.Baton != nil && !q.Baton.PausedFrom.IsZero() && !t.Before(q.Baton.PausedFrom))
	}
	c, known := q.last(JobPaused, time.Time{})
	return j.PausedAt(q.Now) && j.PausedAt(q.At) && (!q.end().Before(q.Now) || known && q.isSince(c.At))
}

// paused handles times in a job's pause.
func (q *Question) paused(a *Answer) {
	text := "the job is paused until " + q.say(q.Job.PausedUntil)
	if c, ok := q.blame(a, JobPaused, time.Time{}); ok {
		text += ", since " + q.say(c.At) + by(c)
	}
	a.set(Paused, text+"; runs that are due before are skipped, and recorded when the pause ends",
		"to end the pause now: carillon enable "+q.Key.String())
}

// unsettled reports whether the disabled collection holds back runs at the time. If the audit log does not have the time
// of that change, only future runs count, and those that the baton has passed over without a record.
func (q *Question) unsettled() bool {
	if c, ok := q.last(CollectionDisabled, time.Time{}); ok {
		return q.isSince(c.At)
	}
	return !q.end().Before(q.Now) || q.Baton != nil && q.Baton.PostponementRecorded && q.At.After(q.Baton.Seen)
}

// missed handles a past occurrence without a record.
func (q *Question) missed(a *Answer) {
	b := q.Baton
	if b == nil || !b.Nominal.Before(q.At) {
		a.set(Unrecorded, "it was due, but neither the history nor the job's baton has it",
			"to find jobs without batons: carillon doctor; a damaged store may have lost records")
		return
	}
	earlier := "the occurrence of " + q.say(b.Nominal)
	active := b.Deferred() && !b.Begun() || (q.Running || b.Begun()) && !q.stalled(q.Place)
	switch {
	case active && q.queued():
		a.set(Waits, "it waits in the queue of the job, and runs after "+earlier, "")
	case b.Unmet && !q.Running:
		what, hint := awaited(true)
		a.set(Waits, "it follows "+earlier+", which waits for "+what+" until "+q.say(b.MayRun()), hint)
	case b.Deferred() && !b.Unmet && !b.Begun():
		why, hint := reasonOf(scheduler.ReasonPostponed)
		a.Reason = scheduler.ReasonPostponed
		a.set(Skipped, "it does not run because "+why+": "+earlier+"; the skip is recorded when the earlier one continues", hint)
	case (q.Running || b.Begun()) && !q.stalled(q.Place):
		why, hint := reasonOf(scheduler.ReasonOverlap)
		a.Reason = scheduler.ReasonOverlap
		a.set(Skipped, "it does not run because "+why+": "+earlier+"; the skip is recorded when the earlier one ends", hint)
	default:
		a.set(Overdue, earlier+" has been due since "+q.say(b.MayRun())+" and has not ended, and this one follows it", overdueHint)
	}
}

// coming handles a future occurrence.
func (q *Question) coming(a *Answer, j *scheduler.Job) {
	t, _ := q.next(j, q.At.Add(-1))
	a.Occurrence, a.Nominal = scheduler.OccurrenceID(j.Key, t), t.UTC()
	if left, limited := q.left(j); limited && q.before(j, t) >= left {
		a.Occurrence, a.Nominal = "", time.Time{}
		a.set(Ended, fmt.Sprintf("its schedule ends before that time: of its count of %d, %s", j.Plan.MaxRuns(),
			count(left, "run is left", "runs are left")), "increase its count")
		return
	}
	text := "it is planned for " + q.say(t)
	if j.Def.Jitter > 0 {
		text += ", plus a part of its jitter"
	}
	a.set(Planned, text, "")
}

// left is how many runs are left of a schedule with a count.
func (q *Question) left(j *scheduler.Job) (n int, limited bool) {
	most := j.Plan.MaxRuns()
	if most == 0 || q.Baton == nil {
		return 0, false
	}
	return max(0, most-q.Baton.Runs), true
}

// before returns the number of occurrences before one, starting with the baton's.
func (q *Question) before(j *scheduler.Job, t time.Time) int {
	return q.plan(j).Count(q.Baton.Nominal, t.Add(-1))
}
