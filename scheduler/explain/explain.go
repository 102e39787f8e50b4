package explain

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Explain answers a question.
func Explain(q *Question) Answer {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	a := &Answer{
		Job: q.Key.String(), At: q.At.UTC(), Local: q.local(q.At), TimeZone: q.Zone.String(), HistorySince: q.Kept.UTC(),
	}
	if q.Note != "" {
		a.Notes = append(a.Notes, q.Note)
	}
	switch {
	case q.recorded(a):
	case q.Damaged != "":
		a.set(Damaged, "the stored job cannot be read: "+q.Damaged, "apply it again from a file or an export")
	case q.Job == nil:
		q.gone(a)
	case q.end().Before(q.Job.Created):
		a.set(NotCreated, "the job did not exist yet: it was created at "+q.say(q.Job.Created), "")
		a.Since = q.Job.Created.UTC()
	case q.carried(a):
	default:
		q.expected(a)
	}
	if q.Job != nil && q.Job.Plan != nil {
		q.nearest(a)
	}
	return *a
}

// set is the answer in short.
func (a *Answer) set(code Code, text, hint string) { a.Code, a.Answer, a.Hint = code, text, hint }

// gone handles a job that does not exist.
func (q *Question) gone(a *Answer) {
	_, told := q.last(JobDeleted, time.Time{})
	if !told && !q.Deleted && len(q.Records) == 0 {
		a.set(NoJob, "no job has this name, and no earlier one is known", "carillon get -A shows all jobs")
		return
	}
	text := "the job was deleted"
	if c, ok := q.blame(a, JobDeleted, time.Time{}); ok {
		text += " at " + q.say(c.At) + by(c)
	}
	a.set(Deleted, text, "its history was deleted too; to run it, create the job again")
}

// carried answers with where the job's batons are.
func (q *Question) carried(a *Answer) bool {
	if q.isMeant(q.Place) && q.placed(a, q.Place) {
		return true
	}
	for _, p := range q.Detached {
		if q.isMeant(p) {
			return q.placed(a, p)
		}
	}
	return false
}

// isMeant reports whether the question is about the baton's occurrence.
func (q *Question) isMeant(p Place) bool {
	b := p.Baton
	return b != nil && !q.Job.Never(b.Nominal) && (q.has(b.Nominal) || q.has(b.Due) || q.has(b.MayRun()) || q.underWay(p))
}

// nameOf names the run of a baton.
func (q *Question) nameOf(b *scheduler.Baton) string {
	switch {
	case b.Kind.IsManual():
		return "the manual run of " + q.say(b.Nominal)
	case b.Cause != nil:
		return "the run of the event of " + q.say(b.Nominal)
	}
	return "the occurrence of " + q.say(b.Nominal)
}

// placed answers with where a baton is.
func (q *Question) placed(a *Answer, p Place) bool {
	b, due, which := p.Baton, p.Baton.MayRun(), q.nameOf(p.Baton)
	switch {
	case q.Closed && b.NeedsOpen():
		q.closed(a)
	case q.Job.State == scheduler.Disabled && !b.Kind.IsManual() && !b.Begun():
		return false
	case b.NeedsOpen() && !q.Job.OneShot() && q.Job.PausedAt(b.Nominal):
		q.paused(a)
	case q.stalled(p):
		a.set(Overdue, which+" has been due since "+q.say(due)+", and its attempt has not ended", overdueHint)
	case p.Running && !due.After(q.Now):
		a.set(Running, which+" is with a worker: its attempt is active or about to start", "")
	case b.Begun():
		a.set(Retrying, which+" has not succeeded yet: the next attempt is due at "+q.say(due), "")
	case b.Queued && b.Cause != nil:
		a.set(Waits, which+" waits for earlier runs of its key (trigger.overlap)", queueHint)
	case b.Deferred():
		what, hint := awaited(b.Unmet)
		a.set(Waits, which+" waits for "+what+" until "+q.say(due), hint)
	case due.After(q.Now):
		a.set(Planned, "it is planned for "+q.say(due)+q.jittered(b), "")
	default:
		a.set(Overdue, which+" was due at "+q.say(due)+" and has not started", overdueHint)
	}
	a.Occurrence, a.Nominal, a.Due, a.Attempts = scheduler.OccurrenceID(q.Key, b.Nominal), b.Nominal.UTC(), due.UTC(), b.Try
	a.addCause(b.Cause)
	if b.Cause != nil && q.Ledgers[b.Cause.Key] != nil {
		a.Notes = append(a.Notes, q.Ledgers[b.Cause.Key].Describe(b.Cause.Key))
	}
	return true
}

// underWay reports whether a question about the present is about the baton's attempt in progress.
func (q *Question) underWay(p Place) bool {
	return p.Running && !p.Baton.MayRun().After(q.Now) && q.has(q.Now) && (p.Baton.Kind.IsDetached() || !q.isDue(q.Job))
}

// stallAfter is for how long beyond the job's timeout an attempt may be under way.
const stallAfter = time.Minute

// stalled reports whether the baton has been handed out for so long that no attempt
// of it can be under way.
func (q *Question) stalled(p Place) bool {
	return p.Running && p.Baton.MayRun().Add(q.Job.Def.Timeout+stallAfter).Before(q.Now)
}

const overdueHint = "no worker has received it, or it waits for a slot: check that a scheduler is ready " +
	"(/readyz gives the reason if not), and whether its workers are busy"

const queueHint = "trigger.concurrency lets more runs of a key start at the same time; carillon runs cancel ends the earlier ones"

const targetHint = "carillon describe shows the target; the collection's targets set its rate limit, concurrency and circuit breaker"

// awaited names the cause of a deferral, and gives a hint.
func awaited(unmet bool) (what, hint string) {
	if unmet {
		return "its condition", onlyIfHint + " once carillon cancel has ended this run"
	}
	return "its target", targetHint
}

// jittered says that a run is later than its schedule says.
func (q *Question) jittered(b *scheduler.Baton) string {
	switch {
	case b.Due.Equal(b.Nominal):
		return ""
	case b.Cause != nil:
		return ", as its trigger delays or collects events"
	}
	if b.Due.Equal(q.Job.PausedUntil) {
		return ", when its pause ends"
	}
	return ", which is its occurrence of " + q.say(b.Nominal) + " with its jitter"
}

// closed handles runs that a disabled collection postpones.
func (q *Question) closed(a *Answer) {
	text := "collection " + q.Key.Collection + " is disabled"
	if c, ok := q.blame(a, CollectionDisabled, time.Time{}); ok {
		text += " since " + q.say(c.At) + by(c)
	}
	a.set(Postponed, text+", so that its jobs do not run",
		"to run them again: carillon collection enable "+q.Key.Collection)
}

// nearest reports the occurrences around the time, and clock changes between them.
func (q *Question) nearest(a *Answer) {
	j := q.job()
	if j == nil || j.Plan == nil || a.Code == NotCreated {
		return
	}
	plan := q.plan(j)
	times := make([]time.Time, 0, 1)
	if t, ok := plan.Last(q.At.Add(-1)); ok && !t.Before(j.Anchor) {
		a.Before = q.time(t)
	}
	if t, ok := q.following(j); ok {
		a.After = q.time(t)
		times = append(times, t)
	}
	if a.Code == NotDue && len(times) > 0 {
		from := q.At
		if a.Before != nil {
			from = a.Before.UTC
		}
		a.Notes = append(a.Notes, plan.ClockNotes(from, times)...)
	}
}

func (q *Question) time(t time.Time) *Time { return &Time{t.UTC(), q.local(t)} }
