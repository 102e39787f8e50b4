package scheduler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestWake checks that a worker wakes for the attempt, or for an earlier clock change that skips times.
func TestWake(t *testing.T) {
	j := job(t, minutely)
	for name, row := range map[string]struct {
		b            scheduler.Baton
		mayRun, wake string
	}{
		"an occurrence":                           {baton(j, "09:00:00"), "09:00:00", "09:00:00"},
		"a retry":                                 {baton(j, "09:00:00", begun), "09:00:10", "09:00:10"},
		"one that its target deferred":            {baton(j, "09:00:00", deferred("09:05:00")), "09:05:00", "09:05:00"},
		"one that is due later than deferred":     {baton(j, "09:00:00", begun, deferred("09:00:05")), "09:00:10", "09:00:10"},
		"with a gap before it":                    {baton(j, "09:00:00", gapAt("08:30:00")), "09:00:00", "08:30:00"},
		"with a gap at its instant":               {baton(j, "09:00:00", gapAt("09:00:00")), "09:00:00", "09:00:00"},
		"a retry, with a gap at its instant":      {baton(j, "09:00:00", begun, gapAt("09:00:00")), "09:00:10", "09:00:10"},
		"deferred, with a gap before its instant": {baton(j, "09:00:00", deferred("09:05:00"), gapAt("08:30:00")), "09:05:00", "08:30:00"},
	} {
		mustSay(t, name, clock(row.b.MayRun())+"; "+clock(row.b.Wake()), row.mayRun+"; "+row.wake)
		if got, want := row.b.Deferred(), !row.b.DeferredUntil.IsZero(); got != want {
			t.Errorf("%s: deferred %t", name, got)
		}
	}
}

// TestAttemptOf checks the attempt that an action receives.
func TestAttemptOf(t *testing.T) {
	j := job(t, minutely)
	had := func(b *scheduler.Baton) { b.Ran, b.Prior = at("08:59:00"), at("08:58:00") }
	retried := func(b *scheduler.Baton) { b.Ran, b.Prior = at("09:00:00"), at("08:59:00") }
	const id = "default/job@2026-03-02T09:00:00Z"
	cause := &scheduler.Cause{Event: "default.orders", Count: 1}
	for name, row := range map[string]struct {
		b    scheduler.Baton
		want scheduler.Attempt
	}{
		"the first try": {baton(j, "09:00:00", had), scheduler.Attempt{
			ID: id + "#1", Key: id, Due: at("09:00:00"), Try: 1, Previous: at("08:59:00"),
		}},
		"a retry has the same key": {baton(j, "09:00:00", begun, retried), scheduler.Attempt{
			ID: id + "#2", Key: id, Due: at("09:00:10"), Try: 2, Previous: at("08:59:00"),
		}},
		"the errorAction is another call": {baton(j, "09:00:00", inErrorAction(1), retried), scheduler.Attempt{
			ID: id + "#2", Key: id + "/error", Due: at("09:00:00"), Try: 2, Phase: scheduler.ErrorPhase, Failure: failure, Previous: at("08:59:00"),
		}},
		"events started it": {
			baton(j, "09:00:00", func(b *scheduler.Baton) { b.Cause, b.Events = cause, json.RawMessage("[{}]") }),
			scheduler.Attempt{ID: id + "#1", Key: id, Due: at("09:00:00"), Try: 1, Cause: cause, Events: json.RawMessage("[{}]")},
		},
		"nothing ran before": {baton(j, "09:00:00"), scheduler.Attempt{ID: id + "#1", Key: id, Due: at("09:00:00"), Try: 1}},
	} {
		row.want.Job, row.want.Occurrence, row.want.Nominal = key, id, at("09:00:00")
		if diff := cmp.Diff(row.want, row.b.AttemptOf(key)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestNames checks that the names of occurrences and detached messages contain the time in UTC, to the nanosecond.
func TestNames(t *testing.T) {
	nominal := at("09:00:00.000000001")
	if got := scheduler.OccurrenceID(key, at("2026-03-02T10:00:00.000000001+01:00")); got != "default/job@2026-03-02T09:00:00.000000001Z" {
		t.Error(got)
	}
	if a, b := scheduler.DetachedName(nominal), scheduler.DetachedName(at("09:00:00")); a == b || a != "dgs691yvpc01" {
		t.Errorf("%s, %s", a, b)
	}
}

// TestAttemptRecord checks the record of an attempt, and its baton.
func TestAttemptRecord(t *testing.T) {
	j := job(t, errorAction+minutely)
	res := scheduler.Result{
		Failed: true, Final: true, Status: 404, Message: "no such thing", Summary: "no", Headers: "A: b", Response: "thing",
		Duration: 2 * time.Second, RetryAfter: time.Second,
	}
	b := baton(j, "09:00:00", byHand("09:01:00"))
	got, counted := scheduler.AttemptRecord(j, b, at("09:00:00.1"), res)
	want := &scheduler.Record{
		Job: key, ID: "default/job@2026-03-02T09:00:00Z#1", Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomeFailed,
		Nominal: at("09:00:00"), Due: at("09:00:00"), Started: at("09:00:00.1"), Ended: at("09:00:02.1"), Try: 1, Kind: scheduler.Manual,
		Status: 404, Message: "no such thing", Summary: "no", Headers: "A: b", Response: "thing", Duration: 2 * time.Second, Final: true, RetryAfter: time.Second, Type: "None",
		Target: "target:80", UID: incarnation, Revision: revision, Schedule: 1, Resume: at("09:01:00"), Progress: counted.Progress,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("of the action (-want +got)\n" + diff)
	}
	counted.Progress = b.Progress
	if diff := cmp.Diff(b, counted); diff != "" {
		t.Error("but for its progress, the baton was changed (-want +got)\n" + diff)
	}
	if got.Lateness() != time.Second/10 || !got.IsAttempt() || (&scheduler.Record{}).IsAttempt() {
		t.Errorf("late by %s, an attempt: %t", got.Lateness(), got.IsAttempt())
	}
	got, _ = scheduler.AttemptRecord(j, baton(j, "09:00:00", inErrorAction(2)), at("09:00:12"), succeeds)
	want = &scheduler.Record{
		Job: key, ID: "default/job@2026-03-02T09:00:00Z#3", Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomeCompleted,
		Nominal: at("09:00:00"), Due: at("09:00:00"), Started: at("09:00:12"), Ended: at("09:00:13"), Attempt: 1, Try: 3, Phase: scheduler.ErrorPhase,
		Status: 200, Message: "fine", Duration: time.Second, Type: "None", Target: "other:80", Failed: failure, UID: incarnation,
		Revision: revision, Schedule: 1, Progress: got.Progress,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("of the errorAction (-want +got)\n" + diff)
	}
}

// TestLate checks that only the first attempt of an occurrence can be late, if it begins more than lateAfter after its
// due time, jitter included.
func TestLate(t *testing.T) {
	minute := job(t, `"lateAfter": "PT1M", `+errorAction+minutely)
	for _, test := range []struct {
		job     *scheduler.Job
		started string
		retry   bool
		want    bool
	}{
		{minute, "09:01:30", false, false},
		{minute, "09:01:30.001", false, true},
		{minute, "09:59:00", true, false},
		{job(t, errorAction+minutely), "09:59:00", false, false},
	} {
		b := baton(test.job, "09:00:00")
		b.Due = at("09:00:30") // by its jitter
		if test.retry {
			b.Attempt, b.Try = 1, 1
		}
		r, _ := scheduler.AttemptRecord(test.job, b, at(test.started), scheduler.Result{})
		data := must.Get(r.Encode())(t)
		stored := must.Get(scheduler.DecodeRecord(data))(t)
		if r.Late != test.want || stored.Late != test.want {
			t.Errorf("%s: got %t, stored as %t", test.started, r.Late, stored.Late)
		}
	}
}

// TestFaultedRecord checks the faulted record of an occurrence whose errorAction came from a version that did not store
// the times of the main action's last attempt.
func TestFaultedRecord(t *testing.T) {
	j := job(t, errorAction+minutely)
	got := fault(t, j, baton(j, "09:00:00", inErrorAction(2)), "09:00:12", failsFinal)
	want := &scheduler.Record{
		Job: key, Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomeFaulted, Nominal: at("09:00:00"),
		Ended: at("09:00:13"), FaultedAt: at("09:00:13"), Try: 1, Status: 500, Message: "out of order", Summary: "order", UID: incarnation,
		Type: "None", Target: "target:80", Revision: revision, Schedule: 1, Progress: got.Progress,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got)\n" + diff)
	}
}

// TestSame checks that a record equals the one that was read, regardless of the fields that the store sets.
func TestSame(t *testing.T) {
	j := job(t, minutely)
	mine := attempt(j, baton(j, "09:00:00"), "09:00:00", succeeds)
	data := must.Get(mine.Encode())(t)
	read := must.Get(scheduler.DecodeRecord(data))(t)
	read.Sequence = 12
	if !mine.Same(read) {
		t.Error("a record is not the same once it is stored")
	}
	for name, other := range map[string]*scheduler.Record{
		"of another try":        attempt(j, baton(j, "09:00:00", try(2)), "09:00:00", succeeds),
		"of another occurrence": attempt(j, baton(j, "09:01:00"), "09:00:00", succeeds),
		"that ended later":      attempt(j, baton(j, "09:00:00"), "09:00:01", succeeds),
		"that it faulted":       fault(t, job(t, noRetry+minutely), baton(j, "09:00:00"), "09:00:00", fails),
	} {
		if mine.Same(other) {
			t.Errorf("a record %s is the same", name)
		}
	}
}

// TestCheckBaton covers invalid batons.
func TestCheckBaton(t *testing.T) {
	j := job(t, minutely)
	own, beside := scheduler.BatonKey{Key: key}, scheduler.BatonKey{Key: key, Detached: "x"}
	for name, row := range map[string]struct {
		slot scheduler.BatonKey
		b    scheduler.Baton
		ok   bool
	}{
		"an occurrence":                  {own, baton(j, "09:00:00"), true},
		"a run by hand":                  {own, baton(j, "08:50:07", byHand("09:00:00")), true},
		"a detached occurrence":          {beside, baton(j, "09:00:00", of(scheduler.Detached)), true},
		"a detached run by hand":         {beside, baton(j, "09:00:00", of(scheduler.ManualDetached)), true},
		"a run by hand in front of none": {own, baton(j, "08:50:07", of(scheduler.Manual)), false},
		"detached, on the job's own":     {own, baton(j, "09:00:00", of(scheduler.Detached)), false},
		"the job's own, detached":        {beside, baton(j, "09:00:00"), false},
		"without an instant":             {own, scheduler.Baton{}, false},
		"counting below zero":            {own, baton(j, "09:00:00", func(b *scheduler.Baton) { b.Try = -1 }), false},
	} {
		if err := row.b.Check(row.slot); (err == nil) != row.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
