package scheduler_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestEdited puts documents over jobs in every state.
func TestEdited(t *testing.T) {
	j := job(t, once)
	ended := func(state scheduler.State) *scheduler.Job {
		over := in(state, j)
		over.Progress = scheduler.Progress{Number: 1, Runs: 1, Executions: 1, Seen: at("09:00:00")}
		return over
	}
	const on, off = `, "state": "enabled"`, `, "state": "disabled"`
	const other, noted = `, "timeout": "PT5S"`, `, "description": "for people", "labels": {"a": "b"}`
	for _, row := range []struct {
		name    string
		job     *scheduler.Job
		members string
		want    string // the state, how often it was edited, and with another schedule
	}{
		{"an enabled one, as it is", j, once, "enabled"},
		{"an enabled one, as it is, with its state", j, once + on, "enabled"},
		{"an enabled one, to be disabled", j, once + off, "disabled edited"},
		{"an enabled one, changed", j, once + other, "enabled edited"},
		{"an enabled one, with another schedule", j, minutely, "enabled edited scheduled"},

		{"a disabled one, as it is: it stays so", in(scheduler.Disabled, j), once, "disabled"},
		{"a disabled one, as it is, with its state", in(scheduler.Disabled, j), once + off, "disabled"},
		{"a disabled one, to be enabled", in(scheduler.Disabled, j), once + on, "enabled edited"},
		{"a disabled one, changed: it stays so", in(scheduler.Disabled, j), once + other, "disabled edited"},
		{"a disabled one, with another schedule: it stays so", in(scheduler.Disabled, j), minutely, "disabled edited scheduled"},
		{"a disabled one, changed and to be enabled", in(scheduler.Disabled, j), once + other + on, "enabled edited"},

		{"a completed one, as it was: it is over", ended(scheduler.Completed), once, "completed"},
		{"a completed one, as it was, whatever its state", ended(scheduler.Completed), once + off, "completed"},
		{"a completed one, changed: it begins again", ended(scheduler.Completed), once + other, "enabled edited scheduled again"},
		{"a completed one, with another start", ended(scheduler.Completed), minutely, "enabled edited scheduled again"},
		{"a completed one, changed and to be disabled", ended(scheduler.Completed), once + other + off, "disabled edited scheduled again"},
		{"a completed one, with other notes: that is no reason to run it", ended(scheduler.Completed), once + noted, "completed edited"},
		{"a faulted one, as it was", ended(scheduler.Faulted), once, "faulted"},
		{"a faulted one, changed", ended(scheduler.Faulted), once + other, "enabled edited scheduled again"},
	} {
		next := must.Get(row.job.Edited(definition(t, "10:00:00", row.members), at("10:00:00"), 0))(t)
		got := []string{string(next.State)}
		if next.Generation > row.job.Generation {
			got = append(got, "edited")
		}
		if next.ScheduleGen > row.job.ScheduleGen {
			got = append(got, "scheduled")
		}
		if next.BegunGen == next.ScheduleGen {
			got = append(got, "again")
		}
		if begun := strings.Contains(row.want, "again"); begun && (next.Progress.Runs != 0 || next.Progress.Number != 1) {
			t.Errorf("%s: progress %+v, want the counters, and a count that begins again", row.name, next.Progress)
		}
		mustSay(t, row.name, strings.Join(got, " "), row.want)
		if same := row.job.Equals(definition(t, "10:00:00", row.members)); same == (next.Generation > row.job.Generation) {
			t.Errorf("%s: Equals is %v", row.name, same)
		}
	}
}

// TestOver checks the explanations of ended jobs.
func TestOver(t *testing.T) {
	j := job(t, once)
	ran := scheduler.Progress{Number: 1, Executions: 1}
	for _, row := range []struct {
		state    scheduler.State
		progress scheduler.Progress
		want     string
	}{
		{scheduler.Enabled, ran, ""},
		{scheduler.Disabled, scheduler.Progress{}, ""},
		{scheduler.Completed, scheduler.Progress{}, "it never ran, and its schedule has no future time; change its schedule"},
		{scheduler.Completed, ran, "it has ended after its last run; to run it again, apply a change, such as another startTime"},
		{scheduler.Faulted, ran, "it has ended, because its last run faulted; to run it again, apply a change, such as another startTime"},
	} {
		over := in(row.state, j)
		over.Progress = row.progress
		if got := over.TerminalReason(); got != row.want {
			t.Errorf("%s, %+v: %q, want %q", row.state, row.progress, got, row.want)
		}
	}
}

// TestBegunAgain derives the lost baton of a job that was restarted after its end. The history of the run before, which
// the new definition might retry, does not count.
func TestBegunAgain(t *testing.T) {
	j := job(t, noRetry+once)
	over := in(scheduler.Faulted, j)
	over.Progress = scheduler.Progress{Number: 1, Runs: 1, Executions: 1}
	again := edited(t, over, "10:00:00", twoRetries+once)
	before := attempt(j, baton(j, "09:00:00"), "09:00:00", fails)
	search := scheduler.NewPositionSearch(again)
	search.Visit(before)
	if search.Found != nil {
		t.Errorf("found %+v, which is of before its end", search.Found)
	}
	mustSay(t, "it begins", stepSaid(again.Rederive(search.Found, at("10:00:01"))), "next 10:00:00")
	b := baton(again, "10:00:00")
	search = scheduler.NewPositionSearch(again)
	history{attempt(again, b, "10:00:00", fails), before}.visit(search.Visit)
	mustSay(t, "its own try is tried again", stepSaid(again.Rederive(search.Found, at("10:00:01"))), "next 10:00:00 due 10:00:11 try 2")

	old := scheduler.NewAttemptSearch(key, baton(j, "09:00:00"))
	old.Visit(before)
	d := scheduler.Recover(j, again, old, at("10:00:01"))
	mustSay(t, "a worker that was overtaken passes on to the new schedule", stepSaid(d.Step), "faulted 09:00:00; next 10:00:00")
	_, verdict := again.End(scheduler.Completion{Key: key, UID: uid, Schedule: 1, State: scheduler.Faulted})
	if verdict != scheduler.CompletionOvertook {
		t.Errorf("the end of the run before: verdict %d", verdict)
	}
}

// TestUpcoming lists the occurrences that follow from a baton.
func TestUpcoming(t *testing.T) {
	j, three := job(t, minutely), job(t, thrice)
	for _, row := range []struct {
		name  string
		job   *scheduler.Job
		baton scheduler.Baton
		want  string
	}{
		{"it waits", j, baton(j, "09:05:00"), "09:05:00 09:06:00 09:07:00"},
		{"it waits for a retry", j, baton(j, "09:05:00", begun), "09:06:00 09:07:00 09:08:00"},
		{"it runs by hand", j, baton(j, "09:04:07", byHand("09:05:00")), "09:05:00 09:06:00 09:07:00"},
		{"its count is almost used up", three, baton(three, "09:01:00", ran(1)), "09:01:00 09:02:00"},
		{"its count is used up by the run under way", three, baton(three, "09:02:00", ran(2), begun), ""},
		{"it has no schedule", job(t, once), baton(job(t, once), "09:00:00"), "09:00:00"},
	} {
		var got []string
		for _, at := range row.job.Upcoming(&row.baton, 3) {
			got = append(got, clock(at))
		}
		mustSay(t, row.name, strings.Join(got, " "), row.want)
	}
}
