package scheduler_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestGivenUp covers a job whose next run is too expensive to compute. It must not end like a job with a completed
// schedule: its state, its message and a record show the reason.
func TestGivenUp(t *testing.T) {
	j := job(t, `"recurrence": {"rrule": "DTSTART:20260302T090000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=3,8`+
		` RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=10,11,12,13,14,15,16,17;BYMINUTE=0,13,26,39,52`+
		` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=10,11,12,13,14,15,16,17 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=10,11,12,13,14,15,16,17"}`)
	now := at("09:00:01")
	b := scheduler.Baton{
		UID: incarnation, Revision: revision, Schedule: 1, Nominal: at("09:00:00"),
	}
	d := scheduler.After(j, j, b.Begin(), scheduler.Result{}, now)
	s := d.Step
	if s.Next != nil || s.State != scheduler.Faulted || !s.Progress.GaveUp {
		t.Errorf("step: %+v", s)
	}
	if len(s.Records) != 1 {
		t.Fatalf("records: %+v", s.Records)
	}
	r := s.Records[0]
	if r.Outcome != scheduler.OutcomeSkipped || r.Reason != scheduler.ReasonCostly || !strings.HasPrefix(r.Message, "too costly: ") || r.Occurrence != "" {
		t.Errorf("record: %+v", r)
	}
	over, verdict := j.End(scheduler.Completion{Key: key, UID: uid, Schedule: 1, State: s.State, Progress: s.Progress})
	if verdict != scheduler.WriteCompletion || !strings.Contains(over.TerminalReason(), "too expensive to compute") {
		t.Errorf("in the end: %v, %s", verdict, over.TerminalReason())
	}
	again, err := over.Edited(definition(t, "10:00:00", minutely), at("10:00:00"), 0)
	if err != nil || again.State != scheduler.Enabled || again.Progress.GaveUp {
		t.Errorf("put with another schedule: %+v, %v", again, err)
	}
}

// TestTooManyToCount covers an outage of a year for a schedule whose times are counted one by one. The record states
// that its count is a lower bound.
func TestTooManyToCount(t *testing.T) {
	j := job(t, `"recurrence": {"rrule": "DTSTART:20260302T090000Z RRULE:FREQ=SECONDLY;INTERVAL=7 RRULE:FREQ=SECONDLY;INTERVAL=11"}`+
		catchUp("skip", ""))
	for now, part := range map[string]bool{"2026-03-02T10:00:00Z": false, "2027-03-02T09:00:00Z": true} {
		records := scheduler.Decide(j, true, baton(j, "09:00:00"), at(now)).Step.Records
		if len(records) != 1 || strings.Contains(records[0].Message, "at least") != part {
			t.Errorf("at %s: %+v", now, records)
		}
	}
}
