package explain

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Question is a time and all known facts about the job.
type Question struct {
	Moment
	Place // of the job's own baton

	Key  scheduler.Key
	Now  time.Time
	Zone *time.Location // the job's time zone, used to show times

	Job     *scheduler.Job // current, or final if its history shows that it has ended; nil: no such job
	Damaged string         // why the job cannot be read; Job is then nil
	Deleted bool           // the store knows that a job of the name was deleted

	Detached []Place // its detached runs: overlapping ones, and manual ones of a disabled job
	Closed   bool    // the collection is disabled

	Ledgers map[string]*scheduler.Ledger // of the keys of its runs

	// Records are the records with the job's name stored from shortly before At, oldest first. If there are many, the
	// later ones may be missing.
	Records []*scheduler.Record

	// Kept is the instant since which all records of the job exist.
	Kept time.Time

	// JobThen is the job at the time in question. Nil if its schedule was the same or is unknown.
	JobThen *scheduler.Job

	// Changes are the known edits of the job and of its collection, in any order.
	Changes []Change

	// Trail is the start of the audit log, which records changes. Zero: no audit log.
	Trail time.Time
}

// Place is where a baton is.
type Place struct {
	Baton   *scheduler.Baton // nil: none
	Running bool             // a worker has it
}

// own returns the records of the current job or, if it does not exist, of the name.
func (q *Question) own() []*scheduler.Record {
	var own []*scheduler.Record
	for _, r := range q.Records {
		if !r.Damaged && (q.Job == nil || r.IsOf(q.Job.Incarnation())) {
			own = append(own, r)
		}
	}
	return own
}

// jobOf returns the job as it was with a schedule; nil when that is not known.
func (q *Question) jobOf(schedule int) *scheduler.Job {
	for _, j := range []*scheduler.Job{q.Job, q.JobThen} {
		if j != nil && j.ScheduleGen == schedule {
			return j
		}
	}
	return nil
}

// job returns the job with the schedule that it had at the time; nil when that is not
// known.
func (q *Question) job() *scheduler.Job {
	if q.Job != nil && q.Job.ScheduleGen > 1 && !q.end().After(q.Job.Anchor) {
		return q.JobThen
	}
	return q.Job
}

// Missed reports whether a record is of an instant of the job that did not run, or failed after all retries.
func (q *Question) Missed(r *scheduler.Record) bool {
	return q.Job != nil && !r.Damaged && r.IsOf(q.Job.Incarnation()) &&
		(r.Outcome == scheduler.OutcomeFaulted || !r.IsAttempt())
}

// Latest is the time that a question without one is about: now, if the state of the job or of its collection explains it;
// else the latest instant that has not ended or did not run, whose record is last, nil for none; else the next one.
// A faulted job is explained by the run that it failed in.
func (q *Question) Latest(last *scheduler.Record) Moment {
	at, b := q.Now, q.Baton
	switch {
	case q.isHeld():
	case b != nil && (b.Begun() || b.Deferred() || !b.MayRun().After(q.Now)):
		at = q.lastPlanned(b.Nominal, q.Now)
	case b != nil && !b.PausedFrom.IsZero() && b.PausedFrom.Before(q.Now): // it has no record yet
		at = q.lastPlanned(b.PausedFrom, q.Job.PausedUntil.Add(-1))
	case last != nil && last.Outcome == scheduler.OutcomeFaulted:
		at = last.Nominal
	case last != nil:
		at = last.To
	case q.Job.OnlyEvents():
		at = q.lastAttempted()
	case b != nil:
		at = b.Nominal
	default:
		if t, ok := q.next(q.Job, q.Now.Add(-1)); ok {
			at = t
		}
	}
	return Moment{At: at.UTC().Truncate(time.Second), Span: time.Second}
}

// lastPlanned returns the last time of the schedule that is not after end, or at if that is later.
func (q *Question) lastPlanned(at, end time.Time) time.Time {
	if t, ok := q.plan(q.Job).Last(end); ok && t.After(at) {
		return t
	}
	return at
}

// lastAttempted returns the time of the last detached run that has an attempt; now, if none has one.
func (q *Question) lastAttempted() time.Time {
	at := q.Now
	for _, p := range q.Detached {
		if p.Baton.Begun() && (at.Equal(q.Now) || p.Baton.Nominal.After(at)) {
			at = p.Baton.Nominal
		}
	}
	return at
}

// isHeld reports whether the state of the job, of its collection or its pause keeps it from running now.
func (q *Question) isHeld() bool {
	return q.Job == nil || q.Closed || q.Job.State != scheduler.Enabled && q.Job.State != scheduler.Faulted ||
		q.Job.PausedAt(q.Now) && !q.Job.OneShot()
}
