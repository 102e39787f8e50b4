package why

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Question is what is asked, and all that is known.
type Question struct {
	Moment

	Key  scheduler.Key
	Now  time.Time
	Zone *time.Location // of the job's clock, in which times are told

	Job     *scheduler.Job // as it is, at its end when its history says so; nil: there is none
	Damaged string         // what is wrong with a job that cannot be read; Job is nil then
	Deleted bool           // the store knows that a job of the name was deleted

	Baton   *scheduler.Baton // the job's own, nil: none
	Running bool             // a worker has the baton
	Closed  bool             // the collection is disabled

	// Records are those of the name that were stored from shortly before At on, the
	// oldest first; the later of many may be missing.
	Records []*scheduler.Record

	// Kept is the instant since which all records of the job are there.
	Kept time.Time

	// Then is the job as it was at the time, if its schedule was another one than
	// today and is known; else nil.
	Then *scheduler.Job

	// Changes are what is known of edits of the job, the oldest first.
	Changes []Change
}

// Change is an edit of a job, as far as it is known.
type Change struct {
	At   time.Time
	What What
	By   string // "": nobody knows
}

// What was done to a job.
type What string

// The changes of a job.
const (
	Turned  What = "disabled"
	Removed What = "deleted"
	Changed What = "changed" // nobody knows how
)

// ChangesIn are the changes that a definition itself tells of: when it was written last.
func ChangesIn(j *scheduler.Job) []Change {
	if j.Generation <= 1 {
		return nil
	}
	c := Change{At: j.Updated, What: Changed, By: j.Origin.Name}
	if j.Origin.Op == "disable" {
		c.What = Turned
	}
	return []Change{c}
}

// last returns the last change of one of the kinds.
func (q *Question) last(kinds ...What) (found Change, ok bool) {
	for _, c := range q.Changes {
		for _, kind := range kinds {
			if c.What == kind && !c.At.Before(found.At) {
				found, ok = c, true
			}
		}
	}
	return found, ok
}

// own returns the records of the present job or, where there is none, of the name.
func (q *Question) own() []*scheduler.Record {
	var own []*scheduler.Record
	for _, r := range q.Records {
		if !r.Damaged && (q.Job == nil || scheduler.SameIncarnation(r.UID, q.Job.Incarnation())) {
			own = append(own, r)
		}
	}
	return own
}

// jobOf returns the job as it was with a schedule; nil when that is not known.
func (q *Question) jobOf(schedule int) *scheduler.Job {
	for _, j := range []*scheduler.Job{q.Job, q.Then} {
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
		return q.Then
	}
	return q.Job
}
