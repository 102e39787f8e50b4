package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-sched/carillon/scheduler"
)

// story is an occurrence from its first attempt on: each attempt continues from the decision after the previous one.
type story struct {
	t       *testing.T
	job     *scheduler.Job
	now     time.Time
	baton   scheduler.Baton
	history history // newest first
	faulted *scheduler.Record
}

// attempt ends the next attempt with res, optionally with a crash between its record and the next step.
func (s *story) attempt(res scheduler.Result, crash bool) {
	s.t.Helper()
	rec, b := scheduler.AttemptRecord(s.job, s.baton, s.now, res)
	s.now = rec.Ended
	s.history = append(history{rec}, s.history...)
	d := scheduler.After(s.job, s.job, b, res, rec.Ended)
	if crash {
		search := scheduler.NewAttemptSearch(key, s.baton)
		s.history.visit(search.Visit)
		d = scheduler.Recover(s.job, s.job, search, rec.Ended.Add(time.Minute))
	}
	for i := range d.Step.Records {
		if r := &d.Step.Records[i]; r.Outcome == scheduler.OutcomeFaulted {
			s.faulted = r
		}
	}
	if d.Step.Next != nil {
		s.baton = *d.Step.Next
		s.now = s.baton.Due
	}
}

// TestFaultedTellsOfTheMainAction checks that a faulted record describes the main action's last attempt, regardless of
// the errorAction and of the process that wrote it.
func TestFaultedTellsOfTheMainAction(t *testing.T) {
	const handled = `"action": {"type": "None", "target": "target:80", "retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 1}, ` +
		`"errorAction": {"type": "None", "target": "other:80", "retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 1}}}, `
	busy := scheduler.Result{Failed: true, Status: 503, Message: "busy", Duration: 3 * time.Second}
	for name, test := range map[string]struct {
		job  string
		ends []scheduler.Result // of the errorAction
	}{
		"there is no errorAction":   {twoRetries, []scheduler.Result{fails}},
		"the errorAction succeeded": {handled, []scheduler.Result{succeeds}},
		"it succeeded when retried": {handled, []scheduler.Result{fails, succeeds}},
		"the errorAction failed":    {handled, []scheduler.Result{fails, failsFinal}},
	} {
		for _, crash := range []bool{false, true} {
			j := job(t, test.job+minutely)
			s := &story{t: t, job: j, now: at("09:00:00"), baton: baton(j, "09:00:00")}
			s.attempt(fails, crash)
			s.attempt(busy, crash)
			for _, res := range test.ends {
				s.attempt(res, crash)
			}
			var want scheduler.Record
			for _, r := range s.history {
				if r.Phase == scheduler.MainPhase {
					want = *r
					break
				}
			}
			if s.faulted == nil {
				t.Fatalf("%s: it did not fault", name)
			}
			if want.FaultedAt = s.history[0].Ended; !s.faulted.FaultedAt.Equal(want.FaultedAt) {
				t.Errorf("%s: given up at %s, want %s", name, clock(s.faulted.FaultedAt), clock(want.FaultedAt))
			}
			want.Outcome = scheduler.OutcomeFaulted
			if diff := cmp.Diff(&want, s.faulted, cmpopts.IgnoreFields(scheduler.Record{}, "ID", "Progress")); diff != "" {
				t.Errorf("%s, crash %t (-want +got)\n%s", name, crash, diff)
			}
		}
	}
}
