package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

var replannings = map[scheduler.RescheduleAction]string{
	scheduler.LeaveAlone: "leave alone", scheduler.LookAgain: "look again", scheduler.ReplaceIt: "replace", scheduler.DeriveAgain: "derive again",
}

// replanned returns a short text of a replanning.
func replanned(r scheduler.RescheduleAction, s scheduler.Step) string {
	if r == scheduler.ReplaceIt {
		return replannings[r] + "; " + stepSaid(s)
	}
	return replannings[r]
}

// TestReplan covers enabled jobs that were edited, and their batons.
func TestReplan(t *testing.T) {
	j := job(t, minutely)
	edit := edited(t, j, "08:30:00", minutely+`, "description": "with another text"`)
	again := edited(t, in(scheduler.Completed, job(t, once)), "09:05:29", once+`, "timeout": "PT5S"`)
	hourly := edited(t, j, "08:30:00", once+`, "recurrence": {"frequency": "Hour"}`)
	waits := func(changes ...change) scheduler.Found {
		b := baton(j, "09:05:00", changes...)
		return scheduler.Found{Waiting: &b}
	}
	runs := func(changes ...change) scheduler.Found {
		b := baton(j, "09:05:00", changes...)
		return scheduler.Found{Running: &b}
	}
	newer := func(b *scheduler.Baton) { b.Revision = edit.Revision }
	due := func(clock string) change { return func(b *scheduler.Baton) { b.Due = at(clock) } }
	hand := func(b *scheduler.Baton) { b.Nominal, b.Due = at("09:04:07"), at("09:04:07"); byHand("09:05:00")(b) }
	had := in(scheduler.Enabled, edit)
	had.Progress = scheduler.Progress{Runs: 3, Seen: at("09:02:00")}
	for _, row := range []struct {
		name  string
		job   *scheduler.Job
		was   scheduler.State
		found scheduler.Found
		want  string
	}{
		{"it waits: it follows the edit", edit, scheduler.Enabled, waits(), "replace; next 09:05:00"},
		{"it waits, and follows the edit already", edit, scheduler.Enabled, waits(newer), "leave alone"},
		{"it waits for a retry", edit, scheduler.Enabled, waits(begun), "leave alone"},
		{"it waits, by hand: that follows the edit, too", edit, scheduler.Enabled, waits(hand), "replace; next 09:04:07 by hand resume 09:05:00"},
		{"it waits, by hand, for its target", edit, scheduler.Enabled, waits(hand, deferred("09:10:00")), "leave alone"},
		{"it waits, planned, for its target", edit, scheduler.Enabled, waits(deferred("09:10:00")), "replace; next 09:05:00 deferred until 09:10:00"},
		{"it is of an earlier job of the name", namesake(edit), scheduler.Enabled, waits(), "replace; next 09:00:00"},

		{"its schedule is another now", hourly, scheduler.Enabled, waits(), "replace; next 09:00:00"},
		{"its schedule is another now: a retry ends first", hourly, scheduler.Enabled, waits(begun), "leave alone"},
		{"its schedule is another now, and it was disabled", hourly, scheduler.Disabled, waits(hand), "replace; next 09:00:00"},

		{"a worker has it, as it was", edit, scheduler.Enabled, runs(), "look again"},
		{"a worker has it, as it is", edit, scheduler.Enabled, runs(newer), "leave alone"},
		{"a worker has it, and it was disabled", edit, scheduler.Disabled, runs(), "look again"},
		{"a worker holds it until it is due", edit, scheduler.Enabled, runs(due("09:05:31")), "leave alone"},
		{"a worker holds it, and it was disabled", edit, scheduler.Disabled, runs(due("09:05:31")), "leave alone"},
		{"a worker holds it, and it is almost due", edit, scheduler.Enabled, runs(due("09:05:30.1")), "look again"},
		{"a worker holds it, and its schedule is another now", hourly, scheduler.Enabled, runs(due("09:05:31")), "look again"},
		{"a worker has it, long before it is due", edit, scheduler.Enabled, runs(due("10:05:31")), "look again"},

		{"it is lost", edit, scheduler.Enabled, scheduler.Found{}, "derive again"},
		{"the job was at its end", again, scheduler.Completed, scheduler.Found{}, "replace; next 09:05:29"},
		{"the job was at its end, and its worker has not let go of the baton", again, scheduler.Faulted, runs(), "replace; next 09:05:29"},
		{"the job was at its end, and its new baton has fired already", again, scheduler.Completed, runs(func(b *scheduler.Baton) { b.Schedule = again.ScheduleGen }), "look again"},
		{"there is none: the job was disabled", had, scheduler.Disabled, scheduler.Found{}, "replace; skipped for disabled 3 from 09:03:00 to 09:05:00; next 09:06:00"},
		{"there is none: the job was disabled, with another schedule", hourly, scheduler.Disabled, scheduler.Found{}, "replace; skipped for disabled 1 at 09:00:00; next 10:00:00"},

		{"the job was disabled, and its run by hand waits still", edit, scheduler.Disabled, waits(hand, seen("09:04:00"), deferred("09:10:00")), "replace; skipped for disabled 1 at 09:05:00; next 09:04:07 by hand deferred until 09:10:00 resume 09:06:00"},
		{"the job was disabled, and its occurrence waits for a retry still", edit, scheduler.Disabled, waits(begun, seen("09:05:00")), "leave alone"},
		{"likewise, and some fell due", edit, scheduler.Disabled, waits(begun, seen("09:03:00")), "replace; skipped for disabled 2 from 09:04:00 to 09:05:00; next 09:05:00 due 09:05:10 try 2"},
		{"likewise, by hand, and nothing has fallen due", edit, scheduler.Disabled, waits(hand, seen("09:05:00"), begun, byHand("09:06:00")), "leave alone"},
	} {
		r, s := row.job.Replan(row.was, row.found, at("09:05:30"))
		mustSay(t, row.name, replanned(r, s), row.want)
	}
}

// TestReplanMarks checks that the baton after an edit has the revision of the edit.
func TestReplanMarks(t *testing.T) {
	j := job(t, minutely)
	b := baton(j, "09:05:00", ran(4), seen("09:04:00"), gapAt("09:04:30"))
	edit := edited(t, j, "08:30:00", minutely+`, "jitter": "PT40S"`)
	_, s := edit.Replan(scheduler.Enabled, scheduler.Found{Waiting: &b}, at("09:04:30"))
	want := b
	want.Revision, want.Due = edit.Revision, s.Next.Due
	if diff := cmp.Diff(want, *s.Next); diff != "" {
		t.Error("(-want +got)\n" + diff)
	}
	if jitter := s.Next.Due.Sub(s.Next.Nominal); jitter <= 0 || b.Revision == edit.Revision {
		t.Errorf("it is due %s later, and what waits is of revision %d", jitter, b.Revision)
	}
}

// TestReplanResumesAtTheEnd covers a job that is enabled without times left, while a manual run waits.
func TestReplanResumesAtTheEnd(t *testing.T) {
	j := job(t, ending)
	b := baton(j, "09:00:07", byHand("09:01:00"), seen("09:00:00"))
	r, s := j.Replan(scheduler.Disabled, scheduler.Found{Waiting: &b}, at("09:30:00"))
	mustSay(t, "what fell due is skipped", replanned(r, s), "replace; skipped for disabled 2 from 09:01:00 to 09:02:00; next 09:00:07 by hand resume 09:01:00")
	mustSay(t, "it knows that nothing is left", progressSaid(s.Next.Progress), "seen 09:02:00")
	mustFollow(t, []afterRow{{"and the job is completed by it", j, j, *s.Next, "09:30:00", succeeds, "proceed; no baton, completed"}})
}

// TestRestartOverdue covers schedule edits while a baton is overdue, as after an outage: times due before the edit are
// decided under the previous schedule, and the current schedule begins after them.
func TestRestartOverdue(t *testing.T) {
	const half = "09:20:30" // when it was edited
	j, all, skips := job(t, minutely), job(t, minutely+catchUp("all", "")), job(t, minutely+catchUp("skip", ""))
	narrow := job(t, minutely+catchUp("once", "PT10S"))
	overlapping := job(t, minutely+`, "overlap": "allow"`)
	hourly := func(old *scheduler.Job) *scheduler.Job {
		return edited(t, old, half, `"startTime": "2026-03-02T10:00:00Z", "recurrence": {"frequency": "Hour"}`)
	}
	lost := hourly(j)
	lost.ScheduleGen++
	for _, row := range []struct {
		name   string
		j, old *scheduler.Job
		shut   bool
		b      scheduler.Baton
		now    string
		want   string
	}{
		{"the latest runs", hourly(j), j, false, baton(j, "09:05:00"), half, "run 09:20:00 (later); skipped for catchUp 15 from 09:05:00 to 09:19:00"},
		{"all run", hourly(all), all, false, baton(all, "09:05:00"), half, "run 09:05:00"},
		{"none runs", hourly(skips), skips, false, baton(skips, "09:05:00"), half, "proceed; skipped for catchUp 16 from 09:05:00 to 09:20:00; next 10:00:00"},
		{"the window was narrow", hourly(narrow), narrow, false, baton(narrow, "09:05:00"), half, "proceed; skipped for catchUp 16 from 09:05:00 to 09:20:00; next 10:00:00"},
		{"the edit is long ago", hourly(j), j, false, baton(j, "09:05:00"), "10:20:30", "proceed; skipped for catchUp 16 from 09:05:00 to 09:20:00; next 10:00:00"},
		{"the job was disabled, too", in(scheduler.Disabled, hourly(j)), j, false, baton(j, "09:05:00"), half, "proceed; skipped for disabled 16 from 09:05:00 to 09:20:00; no baton, disabled"},
		{"the collection is disabled", hourly(j), j, true, baton(j, "09:05:00"), half, "proceed; postponed 16 from 09:05:00 to 09:20:00; next 10:00:00"},
		{"the job was paused, too", hourly(j).Paused(at("09:40:00"), at(half)), j, false, baton(j, "09:05:00"), half, "proceed; skipped for catchUp 16 from 09:05:00 to 09:20:00; next 10:00:00"},
		{"it runs detached", hourly(overlapping), overlapping, false, baton(overlapping, "09:05:00"), half, "detach 09:20:00 (later); skipped for catchUp 15 from 09:05:00 to 09:19:00; next 10:00:00"},
		{"it was not due yet", hourly(j), j, false, baton(j, "09:21:00"), half, "proceed; next 10:00:00"},
		{"the schedule before is not kept", lost, hourly(j), false, baton(j, "09:05:00"), half, "proceed; skipped for catchUp 1 at 09:05:00; next 10:00:00"},
	} {
		mustSay(t, row.name, said(row.j.Restart(row.old, !row.shut, row.b, at(row.now))), row.want)
	}
	mustFollow(t, []afterRow{
		{"the run of the schedule before ended", j, hourly(j), baton(j, "09:20:00"), "09:20:30", succeeds, "proceed; next 10:00:00"},
		{"it ran across others, and the edit", j, hourly(j), baton(j, "09:05:00"), "09:05:00", lasting(20*time.Minute, succeeds), "proceed; skipped for overlap 15 from 09:06:00 to 09:20:00; next 10:00:00"},
		{"others are to be caught up", all, hourly(all), baton(all, "09:05:00"), "09:20:31", succeeds, "proceed; next 09:06:00"},
		{"the last of these", all, hourly(all), baton(all, "09:20:00"), "09:20:31", succeeds, "proceed; next 10:00:00"},
		{"a manual run ran across others, and the edit", j, hourly(j), baton(j, "09:04:30", byHand("09:05:00")), "09:04:30", lasting(20*time.Minute, succeeds), "proceed; skipped for overlap 16 from 09:05:00 to 09:20:00; next 10:00:00"},
	})
}

// TestUnbegun replaces a schedule that has not begun because of an occurrence of the previous one.
func TestUnbegun(t *testing.T) {
	j := job(t, twoRetries+minutely)
	once := edited(t, j, "09:00:30", noRetry+`"startTime": "2026-03-02T09:00:30Z"`)
	every := edited(t, j, "09:00:30", noRetry+`"recurrence": {"frequency": "Minute"}`)
	for _, row := range []struct {
		name, now string
		job       *scheduler.Job
		count     int
	}{
		{"a one-shot that was due", "09:00:31", once, 1},
		{"some instants were due", "09:03:45", every, 3},
		{"none was due yet", "09:01:15", every, 0},
	} {
		records := row.job.Unbegun(baton(j, "09:00:00").Progress, at(row.now))
		if row.count == 0 && len(records) == 0 {
			continue
		}
		if len(records) != 1 || records[0].Count != row.count || records[0].Reason != scheduler.ReasonOverlap {
			t.Errorf("%s: %+v, want one record of %d skipped instants", row.name, records, row.count)
		}
	}
}
