package scheduler_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// triggered returns a short text of the baton of a manual run, or the error.
func triggered(b *scheduler.Baton, err error) string {
	switch {
	case err != nil && !errors.Is(err, scheduler.ErrConflict):
		return "not a conflict: " + err.Error()
	case err != nil:
		return err.Error()
	case b == nil:
		return "nothing to do"
	}
	return batonSaid(b) + "; " + progressSaid(b.Progress)
}

// TestTrigger requests a run at 09:00:07, ahead of the waiting baton.
func TestTrigger(t *testing.T) {
	j := job(t, minutely)
	asked := at("09:00:07")
	hand := func(nominal string, changes ...change) scheduler.Baton {
		return baton(j, nominal, append([]change{byHand("09:01:00")}, changes...)...)
	}
	for _, row := range []struct {
		name    string
		waiting scheduler.Baton
		want    string
	}{
		{"the planned occurrence waits", baton(j, "09:01:00", ran(4), seen("09:00:00")), "09:00:07 by hand resume 09:01:00; begun 4; runs 4; seen 09:00:00"},
		{"the planned occurrence waits for a retry", baton(j, "09:00:00", begun), "job default/job: conflict: it waits for a retry at 2026-03-02T09:00:10Z"},
		{"the planned occurrence waits for its target", baton(j, "09:00:00", deferred("09:05:00")), "job default/job: conflict: its target does not let it run before 2026-03-02T09:05:00Z"},
		{"the planned occurrence waits for its condition", baton(j, "09:00:00", unmet("09:00:30")), "job default/job: conflict: its condition (onlyIf) is checked again at 2026-03-02T09:00:30Z; cancel that run to run the job now"},
		{"its retry waits for its target", baton(j, "09:00:00", begun, deferred("09:05:00")), "job default/job: conflict: its target does not let it run before 2026-03-02T09:05:00Z"},
		{"the same request waits for a retry", hand("09:00:07", begun), "nothing to do"},
		{"the same request waits for its target", hand("09:00:07", deferred("09:05:00")), "nothing to do"},
		{"another request waits for a retry", hand("09:00:06", begun), "job default/job: conflict: it waits for a retry at 2026-03-02T09:00:16Z"},
		{"another request waits for its target", hand("09:00:06", deferred("09:05:00")), "job default/job: conflict: its target does not let it run before 2026-03-02T09:05:00Z"},
	} {
		b, _, err := j.Trigger(&row.waiting, asked, asked)
		mustSay(t, row.name, triggered(b, err), row.want)
	}
	waiting := baton(j, "09:01:00", ran(4), gapAt("09:00:30"), outdated)
	got, _, _ := j.Trigger(&waiting, asked, asked)
	want := &scheduler.Baton{
		Kind: scheduler.Manual, UID: incarnation, Revision: revision, Schedule: 1, Nominal: asked, Due: asked,
		Resume: at("09:01:00"), Progress: waiting.Progress,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("the baton (-want +got)\n" + diff)
	}
}

// TestTriggerDisabled requests a run of a disabled job, which may still have the baton of a manual run.
func TestTriggerDisabled(t *testing.T) {
	j := in(scheduler.Disabled, job(t, minutely))
	j.Progress = scheduler.Progress{Number: 4, Runs: 3, Executions: 6}
	planned, same, other := baton(j, "09:00:07"), baton(j, "09:00:07", byHand("09:01:00")), baton(j, "09:00:06", byHand("09:01:00"))
	const runs = "09:00:07 by hand, detached; begun 4"
	for name, row := range map[string]struct {
		own  *scheduler.Baton
		want string
	}{
		"it has no baton":                   {nil, runs},
		"the same request has not ended":    {&same, "nothing to do"},
		"another request has not ended":     {&other, runs},
		"an occurrence at that very moment": {&planned, runs},
	} {
		mustSay(t, name, triggered(j.TriggerDisabled(row.own, at("09:00:07")), nil), row.want)
	}
}

// TestTriggerBusy requests a run while no baton waits.
func TestTriggerBusy(t *testing.T) {
	j := job(t, minutely)
	planned, held, same, other := baton(j, "09:00:07"), baton(j, "09:00:09"), baton(j, "09:00:07", byHand("09:01:00")), baton(j, "09:00:06", byHand("09:01:00"))
	for name, row := range map[string]struct {
		running *scheduler.Baton
		closed  bool
		want    string
	}{
		"no worker has it either":                         {nil, false, "job default/job: conflict: its next run is being scheduled; try again"},
		"a planned occurrence runs":                       {&planned, false, "job default/job: conflict: it is running or about to run"},
		"a planned occurrence is about to":                {&held, false, "job default/job: conflict: its scheduled run at 2026-03-02T09:00:09Z is imminent; try again after it"},
		"another request runs":                            {&other, false, "job default/job: conflict: it is running or about to run"},
		"what was asked for is running":                   {&same, false, "nothing to do"},
		"its collection is disabled, and a worker has it": {&planned, true, "job default/job: conflict: its next run is being scheduled; try again"},
		"its collection is disabled, and it runs by hand": {&other, true, "job default/job: conflict: it is running or about to run"},
	} {
		mustSay(t, name, triggered(nil, j.TriggerBusy(row.running, !row.closed, at("09:00:07"), at("09:00:08"))), row.want)
	}
}
