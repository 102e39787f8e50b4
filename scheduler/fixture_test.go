package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/internal/fixture"
)

// What the tests share with those of other packages.
var (
	key        = fixture.Key
	at         = fixture.At
	definition = fixture.Definition
)

type noActions = fixture.Actions

// The job of every row, one that had its name before, and what tells the batons of the two apart.
const (
	uid         = fixture.UID
	earlier     = "fedcba9876543210"
	incarnation = "01234567"
	revision    = 7
)

// Timings of jobs. They begin at nine on the day of the rows.
const (
	once     = `"startTime": "2026-03-02T09:00:00Z"`
	minutely = once + `, "recurrence": {"frequency": "Minute"}`
	thrice   = once + `, "recurrence": {"frequency": "Minute", "count": 3}`
	ending   = once + `, "recurrence": {"frequency": "Minute", "endTime": "2026-03-02T09:02:30Z"}`
)

// job reads the members of a job document, which needs no action. It was put at eight.
func job(t *testing.T, members string) *scheduler.Job {
	t.Helper()
	return jobPut(t, "08:00:00", members)
}

// jobPut is a job that was put at a time.
func jobPut(t *testing.T, when, members string) *scheduler.Job {
	t.Helper()
	j := fixture.Job(t, when, members)
	j.Revision = revision
	return j
}

// edited returns j with other members since a time.
func edited(t *testing.T, j *scheduler.Job, when, members string) *scheduler.Job {
	t.Helper()
	next := fixture.Edited(t, j, when, members)
	next.Revision = j.Revision + 1
	return next
}

// in returns j in another state.
func in(state scheduler.State, j *scheduler.Job) *scheduler.Job {
	next := *j
	next.State = state
	return &next
}

// namesake returns a job that has the name of j since j was deleted.
func namesake(j *scheduler.Job) *scheduler.Job {
	next := *j
	next.UID = earlier
	return &next
}

// change is a difference from a baton that waits for its occurrence.
type change = func(b *scheduler.Baton)

// baton waits for the planned occurrence of j at a time.
func baton(j *scheduler.Job, nominal string, changes ...change) scheduler.Baton {
	b := scheduler.Baton{
		UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: at(nominal), Due: at(nominal),
	}
	for _, f := range changes {
		f(&b)
	}
	return b
}

// begun makes of a baton its first retry, which is due after ten seconds.
func begun(b *scheduler.Baton) {
	*b = b.Begin()
	b.Try, b.Attempt = 1, 1
	b.Due = b.Nominal.Add(10 * time.Second)
}

// of makes the baton one of a run of another kind.
func of(k scheduler.Kind) change { return func(b *scheduler.Baton) { b.Kind = k } }

// byHand makes of the baton that of a run by hand, before the planned occurrence with which the schedule resumes.
func byHand(resume string) change {
	return func(b *scheduler.Baton) { b.Kind, b.Resume = scheduler.Manual, at(resume) }
}

// deferred puts the attempt off because of its target.
func deferred(until string) change { return func(b *scheduler.Baton) { b.DeferredUntil = at(until) } }

// gapAt lets the clock jump at a time.
func gapAt(when string) change { return func(b *scheduler.Baton) { b.Gap = at(when) } }

// seen says up to which time the schedule has been dealt with.
func seen(when string) change { return func(b *scheduler.Baton) { b.Seen = at(when) } }

// ran says how many occurrences of the schedule have begun.
func ran(n int) change { return func(b *scheduler.Baton) { b.Number, b.Runs = n, n } }

// postponed says that the record of the closed collection is written.
func postponed(b *scheduler.Baton) { b.PostponementRecorded = true }

// outdated makes of the baton one that was armed with the schedule before.
func outdated(b *scheduler.Baton) { b.Schedule--; b.Revision-- }
