package why_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

var key = scheduler.Key{Collection: "default", Job: "job"}

const uid = "0123456789abcdef"

// noAction is the only action of these jobs: nothing runs it.
type noAction struct{}

func (noAction) Target() string { return "target:80" }

func (noAction) Invoke(context.Context, scheduler.Attempt) scheduler.Result {
	panic("an explanation ran an action")
}

type noActions struct{}

func (noActions) Types() []string { return []string{"None"} }

func (noActions) ReadAction(string, *document.Object) scheduler.Action { return noAction{} }

// job was put at a time.
func job(t *testing.T, when, members string) *scheduler.Job {
	t.Helper()
	j, err := scheduler.NewJob(key, uid, definition(t, when, members), at(when), 0)
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return j
}

func definition(t *testing.T, when, members string) *scheduler.Definition {
	t.Helper()
	v, err := document.Parse([]byte(`{"action": {"type": "None"}, ` + members + `}`))
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	reading := scheduler.Reading{
		Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: noActions{}, Key: key, UID: uid, Now: at(when),
	}
	def, err := reading.Definition(v)
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return def
}

// edited returns j with another schedule since a time.
func edited(t *testing.T, j *scheduler.Job, when, members string) *scheduler.Job {
	t.Helper()
	next, err := j.Edited(definition(t, when, members), at(when), 0)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// in returns j in another state since a time.
func in(state scheduler.State, j *scheduler.Job, when string) *scheduler.Job {
	return j.Turned(state, at(when), 0)
}

// at reads a time on the day of the rows, or one with its date.
func at(s string) time.Time {
	if !strings.Contains(s, "T") {
		s = "2026-03-02T" + s + "Z"
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
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
