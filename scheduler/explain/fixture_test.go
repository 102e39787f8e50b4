package explain_test

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/internal/fixture"
)

// What the tests share with those of other packages.
var (
	key    = fixture.Key
	at     = fixture.At
	job    = fixture.Job
	edited = fixture.Edited
)

const uid = fixture.UID

// in returns j in another state since a time.
func in(state scheduler.State, j *scheduler.Job, when string) *scheduler.Job {
	return j.WithState(state, at(when), 0)
}

// attempt is the record of the n-th attempt of the occurrence of a time, which began
// so long after it and took a second.
func attempt(nominal string, n int, outcome scheduler.Outcome, after time.Duration) *scheduler.Record {
	r := &scheduler.Record{
		Job: key, UID: uid[:8], Schedule: 1, Outcome: outcome, Nominal: at(nominal), Due: at(nominal), Attempt: n - 1, Try: n,
		Occurrence: scheduler.OccurrenceID(key, at(nominal)), Status: 200, Duration: time.Second, Target: "target:80",
	}
	r.ID = r.Occurrence + "#1"
	r.Started = r.Nominal.Add(after)
	r.Ended = r.Started.Add(r.Duration)
	if outcome != scheduler.OutcomeCompleted {
		r.Status, r.Message = 503, "it is away"
	}
	return r
}

// omitted is the record of instants that were skipped or postponed.
func omitted(outcome scheduler.Outcome, reason scheduler.Reason, from, to string, n int) *scheduler.Record {
	r := &scheduler.Record{
		Job: key, UID: uid[:8], Schedule: 1, Outcome: outcome, Reason: reason, Nominal: at(from), From: at(from), To: at(to),
		Count: n, Ended: at(to),
	}
	if reason != scheduler.ReasonDST {
		r.Occurrence = scheduler.OccurrenceID(key, r.Nominal)
	}
	return r
}

// baton waits for the occurrence of a time.
func baton(nominal string, changes ...func(*scheduler.Baton)) *scheduler.Baton {
	b := &scheduler.Baton{UID: uid[:8], Schedule: 1, Nominal: at(nominal), Due: at(nominal)}
	for _, f := range changes {
		f(b)
	}
	return b
}
