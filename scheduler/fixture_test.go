package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/internal/fixture"
)

// Values shared with the tests of other packages.
var (
	key        = fixture.Key
	at         = fixture.At
	definition = fixture.Definition
)

type noActions = fixture.Actions

// Keys and uids: the job of every row, and an earlier job of its name.
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

// parseDocument parses a document.
func parseDocument(t *testing.T, text string) document.Value {
	t.Helper()
	return must.Get(document.Parse([]byte(text)))(t)
}

// decoder reads documents that are put at a time.
func decoder(when string) *scheduler.DefinitionDecoder {
	return &scheduler.DefinitionDecoder{Actions: noActions{}, Key: key, UID: uid, Now: at(when)}
}

// job parses the fields of a job document, without an action, created at eight.
func job(t *testing.T, members string) *scheduler.Job {
	t.Helper()
	return jobPut(t, "08:00:00", members)
}

// jobPut is job with a time of creation.
func jobPut(t *testing.T, when, members string) *scheduler.Job {
	t.Helper()
	j := fixture.Job(t, when, members)
	j.Revision = revision
	return j
}

// edited returns j with other fields since a time.
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

// namesake returns a job with the name of the deleted job j.
func namesake(j *scheduler.Job) *scheduler.Job {
	next := *j
	next.UID = earlier
	return &next
}

// change modifies a baton that waits for its occurrence.
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

// begun turns a baton into its first retry, due after ten seconds.
func begun(b *scheduler.Baton) {
	*b = b.Begin()
	b.Try, b.Attempt = 1, 1
	b.Due = b.Nominal.Add(10 * time.Second)
}

// of changes the kind of the baton's run.
func of(k scheduler.Kind) change { return func(b *scheduler.Baton) { b.Kind = k } }

// byHand turns the baton into that of a manual run ahead of the planned occurrence at resume.
func byHand(resume string) change {
	return func(b *scheduler.Baton) { b.Kind, b.Resume = scheduler.Manual, at(resume) }
}

// deferred defers the attempt because of its target.
func deferred(until string) change { return func(b *scheduler.Baton) { b.DeferredUntil = at(until) } }

// gapAt sets the next clock change.
func gapAt(when string) change { return func(b *scheduler.Baton) { b.Gap = at(when) } }

// seen sets the time up to which the schedule is recorded.
func seen(when string) change { return func(b *scheduler.Baton) { b.Seen = at(when) } }

// ran sets the number of begun occurrences of the schedule.
func ran(n int) change { return func(b *scheduler.Baton) { b.Number, b.Runs = n, n } }

// postponed marks the postponement by a disabled collection as recorded.
func postponed(b *scheduler.Baton) { b.PostponementRecorded = true }

// outdated turns the baton into one that was armed with the previous schedule.
func outdated(b *scheduler.Baton) { b.Schedule--; b.Revision-- }
