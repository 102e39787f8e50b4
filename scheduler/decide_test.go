package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// A decideRow is a decision before an attempt.
type decideRow struct {
	name   string
	job    *scheduler.Job
	closed bool // its collection is disabled
	baton  scheduler.Baton
	now    string
	want   string
}

func mustDecide(t *testing.T, rows []decideRow) {
	t.Helper()
	for _, row := range rows {
		mustSay(t, row.name, said(scheduler.Decide(row.job, !row.closed, row.baton, at(row.now))), row.want)
	}
}

// TestDecide covers every verdict.
func TestDecide(t *testing.T) {
	j := job(t, minutely)
	other := edited(t, j, "08:30:00", once+`, "recurrence": {"frequency": "Hour"}`)
	mustDecide(t, []decideRow{
		{"what is due runs", j, false, baton(j, "09:00:00"), "09:00:00", "run 09:00:00"},
		{"what is due runs, a moment late", j, false, baton(j, "09:00:00"), "09:00:00.9", "run 09:00:00"},
		{"a retry runs, however late", j, false, baton(j, "09:00:00", begun), "19:00:00", "run 09:00:00 due 09:00:10 try 2"},
		{"what its target deferred runs, however late", j, false, baton(j, "09:00:00", deferred("09:30:00")), "19:00:00", "run 09:00:00 deferred until 09:30:00"},
		{"a run by hand runs, however late", j, false, baton(j, "08:50:07", byHand("09:00:00")), "19:00:00", "run 08:50:07 by hand resume 09:00:00"},
		{"a detached occurrence runs, however late", j, false, baton(j, "09:00:00", of(scheduler.Detached)), "19:00:00", "run 09:00:00 detached"},
		{"a detached run by hand runs, however late", in(scheduler.Disabled, j), false, baton(j, "08:50:07", of(scheduler.ManualDetached)), "19:00:00", "run 08:50:07 by hand, detached"},

		{"a baton without a definition is astray", nil, false, baton(j, "09:00:00"), "09:00:00", "astray"},
		{"a retry is so, too", nil, false, baton(j, "09:00:00", begun), "09:00:10", "astray"},
		{"another job has the name", namesake(j), false, baton(j, "09:00:00"), "09:00:00", "orphan"},
		{"another job has the name, and is disabled", namesake(in(scheduler.Disabled, j)), false, baton(j, "09:00:00"), "09:00:00", "orphan"},

		{"a new schedule begins instead", other, false, baton(j, "09:00:00"), "09:00:00", "restart"},
		{"a new schedule begins instead, the collection open or not", other, true, baton(j, "09:00:00"), "09:00:00", "restart"},
		{"a retry is not of the new schedule", other, false, baton(j, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"a run by hand is of no schedule", other, false, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", "run 08:50:07 by hand resume 09:00:00"},
		{"a detached occurrence stays one of the schedule before", other, false, baton(j, "09:00:00", of(scheduler.Detached)), "09:00:00", "run 09:00:00 detached"},
	})
}

// TestDecideStopped covers batons of jobs that were disabled or have ended: they are removed, and due times are
// recorded.
func TestDecideStopped(t *testing.T) {
	j := job(t, minutely)
	off, over := in(scheduler.Disabled, j), in(scheduler.Completed, j)
	mustDecide(t, []decideRow{
		{"disabled when it is due", off, false, baton(j, "09:00:00"), "09:00:00", "skip; skipped for disabled 1 at 09:00:00; no baton, disabled"},
		{"disabled before it is due", off, false, baton(j, "09:00:00"), "08:59:59.5", "skip; no baton, disabled"},
		{"disabled before its target lets it run", off, false, baton(j, "09:00:00", deferred("09:10:00")), "09:00:00", "skip; no baton, disabled"},
		{"disabled when its target lets it run", off, false, baton(j, "09:00:00", deferred("09:10:00")), "09:10:00", "skip; skipped for disabled 11 from 09:00:00 to 09:10:00; no baton, disabled"},
		{"disabled before a retry: what has begun ends as usual", off, false, baton(j, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"disabled, and the schedule is another", edited(t, j, "08:30:00", `"state": "disabled", `+once), false, baton(j, "09:00:00"), "09:00:00", "restart"},
		{"disabled, and the collection, too", off, true, baton(j, "09:00:00"), "09:00:00", "skip; skipped for disabled 1 at 09:00:00; no baton, disabled"},
		{"at its end", over, false, baton(j, "09:00:00"), "09:00:00", "skip; no baton, completed"},
		{"at its end, by hand", in(scheduler.Faulted, j), false, baton(j, "08:50:07", byHand("09:00:00")), "09:00:00", "skip; no baton, faulted"},
		{"disabled before a detached occurrence began", off, false, baton(j, "09:00:00", of(scheduler.Detached)), "09:00:00", "skip; skipped for disabled 1 at 09:00:00; merge"},
		{"disabled, and by hand", off, false, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", "run 08:50:07 by hand resume 09:00:00"},
	})
	d := scheduler.Decide(off, true, baton(j, "09:00:00", ran(2), seen("08:59:00")), at("09:00:00"))
	mustSay(t, "the progress of a job that was disabled", progressSaid(d.Step.Progress), "begun 2; runs 2; seen 09:00:00")
	d = scheduler.Decide(off, true, baton(j, "09:00:00", seen("08:59:00")), at("08:59:30"))
	mustSay(t, "the progress when nothing was due", progressSaid(d.Step.Progress), "seen 08:59:00")
}

// TestDecideClosed covers batons in a disabled collection.
func TestDecideClosed(t *testing.T) {
	j, one, last, beside := job(t, minutely), job(t, once), job(t, ending), job(t, minutely+`, "overlap": "allow"`)
	mustDecide(t, []decideRow{
		{"it is recorded, and the next one waits", j, true, baton(j, "09:00:00"), "09:00:00.2", "skip; postponed 1 at 09:00:00; next 09:01:00 postponed"},
		{"late, they are recorded as one", j, true, baton(j, "09:00:00"), "09:02:10", "skip; postponed 3 from 09:00:00 to 09:02:00; next 09:03:00 postponed"},
		{"the last one of a schedule", last, true, baton(last, "09:02:00"), "09:02:00", "skip; postponed 1 at 09:02:00; no baton, completed"},
		{"a one-shot waits for the collection", one, true, baton(one, "09:00:00"), "09:00:00.2", "skip; postponed 1 at 09:00:00; next 09:00:00 postponed, fired at 09:00:01.2"},
		{"which is recorded once", one, true, baton(one, "09:00:00", postponed), "09:01:00.2", "skip; next 09:00:00 postponed, fired at 09:02:00.2"},
		{"and runs when it is open", one, false, baton(one, "09:00:00", postponed), "09:05:00", "run 09:00:00 postponed"},
		{"what may overlap is not detached either", beside, true, baton(beside, "09:00:00"), "09:00:00", "skip; postponed 1 at 09:00:00; next 09:01:00 postponed"},
		{"a run by hand runs", j, true, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", "run 08:50:07 by hand resume 09:00:00"},
		{"a retry runs", j, true, baton(j, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"a detached occurrence runs", beside, true, baton(beside, "09:00:00", of(scheduler.Detached)), "09:00:00", "run 09:00:00 detached"},
	})
	d := scheduler.Decide(j, false, baton(j, "09:00:00", ran(2)), at("09:00:00"))
	mustSay(t, "what is postponed uses up no count", progressSaid(d.Step.Progress), "begun 2; runs 2; seen 09:00:00")
	want := []scheduler.Record{{
		Job: key, Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomePostponed,
		Nominal: at("09:00:00"), From: at("09:00:00"), To: at("09:00:00"), Count: 1, Ended: at("09:00:00"),
		Message: "collection default is disabled", UID: incarnation, Schedule: 1, Progress: d.Step.Progress,
	}}
	if diff := cmp.Diff(want, d.Step.Records); diff != "" {
		t.Error("the record of what is postponed (-want +got)\n" + diff)
	}
}

// TestDecideOverlap covers jobs whose occurrences may overlap.
func TestDecideOverlap(t *testing.T) {
	const allow = `, "overlap": "allow"`
	j, three, one := job(t, minutely+allow), job(t, thrice+allow), job(t, once+allow)
	all := job(t, minutely+allow+`, "catchUp": {"policy": "all"}`)
	mustDecide(t, []decideRow{
		{"an occurrence is detached, and the schedule goes on", j, false, baton(j, "09:00:00"), "09:00:00", "detach 09:00:00; next 09:01:00"},
		{"the last one of a count", three, false, baton(three, "09:02:00", ran(2)), "09:02:00", "detach 09:02:00; no baton, completed"},
		{"a one-shot", one, false, baton(one, "09:00:00"), "09:00:00", "detach 09:00:00; no baton, completed"},
		{"a late one, with what was missed before it", j, false, baton(j, "09:00:00"), "09:02:10", "detach 09:02:00 (later); skipped for catchUp 2 from 09:00:00 to 09:01:00; next 09:03:00"},
		{"each of those that were missed", all, false, baton(all, "09:00:00"), "09:02:10", "detach 09:00:00; next 09:01:00"},
		{"one that its target deferred", j, false, baton(j, "09:00:00", deferred("09:10:00")), "09:10:00", "detach 09:00:00 deferred until 09:10:00; next 09:01:00"},
		{"a run by hand is not detached", j, false, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", "run 08:50:07 by hand resume 09:00:00"},
		{"nor is a retry", j, false, baton(j, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"nor is what is", j, false, baton(j, "09:00:00", of(scheduler.Detached)), "09:00:00", "run 09:00:00 detached"},
	})
	d := scheduler.Decide(j, true, baton(j, "09:00:00", ran(2), seen("08:59:00")), at("09:00:00"))
	mustSay(t, "the job's own baton counts the detached occurrence", progressSaid(d.Step.Next.Progress), "begun 3; runs 3; seen 09:00:00; ran 09:00:00")
	beside := d.Baton.Detached()
	mustSay(t, "the detached one begins with nothing but its number", batonSaid(&beside)+"; "+progressSaid(beside.Progress), "09:00:00 detached; begun 2; runs 2")
}

// TestDecideJitter covers occurrences with jitter.
func TestDecideJitter(t *testing.T) {
	j := job(t, minutely+`, "jitter": "PT40S"`)
	due := map[string]time.Duration{} // by nominal time: a hash of the occurrence
	for _, nominal := range []string{"09:00:00", "09:05:00", "09:06:00"} {
		s := scheduler.Decide(j, false, baton(j, nominal), at(nominal)).Step
		due[clock(s.Next.Nominal)] = s.Next.Due.Sub(s.Next.Nominal)
	}
	late := func(nominal string) change {
		return func(b *scheduler.Baton) { b.Due = b.Nominal.Add(due[nominal]) }
	}
	mustDecide(t, []decideRow{
		{"what is due runs", j, false, baton(j, "09:01:00", late("09:01:00")), "09:01:40", "run 09:01:00 due " + clock(at("09:01:00").Add(due["09:01:00"]))},
		{
			"late, the last one waits for its jitter", j, false, baton(j, "09:01:00"), "09:06:00",
			"wait (later); skipped for catchUp 5 from 09:01:00 to 09:05:00; next 09:06:00 due " + clock(at("09:06:00").Add(due["09:06:00"])),
		},
		{
			"late, and its jitter is over", j, false, baton(j, "09:01:00"), "09:06:45",
			"run 09:06:00 due " + clock(at("09:06:00").Add(due["09:06:00"])) + " (later); skipped for catchUp 5 from 09:01:00 to 09:05:00",
		},
	})
	for nominal, d := range due {
		if d < 0 || d >= 40*time.Second {
			t.Errorf("%s is due %s later", nominal, d)
		}
	}
}

// TestDecideMarks checks that a run uses the current definition, and a retry the definition it began with.
func TestDecideMarks(t *testing.T) {
	j := job(t, minutely)
	newer := *j
	newer.Revision = 9
	b := scheduler.Decide(&newer, true, baton(j, "09:00:00"), at("09:00:00")).Baton
	if b.Revision != 9 || b.UID != incarnation {
		t.Errorf("an occurrence runs as of revision %d of %q", b.Revision, b.UID)
	}
	b = scheduler.Decide(&newer, true, baton(j, "09:00:00", begun), at("09:00:10")).Baton
	if b.Revision != revision {
		t.Errorf("a retry runs as of revision %d", b.Revision)
	}
	for _, d := range []scheduler.Decision{
		scheduler.Decide(&newer, false, baton(j, "09:00:00"), at("09:00:00")),
		scheduler.Decide(in(scheduler.Enabled, &newer), true, baton(j, "09:00:00"), at("19:00:00")),
	} {
		if next := d.Step.Next; next != nil && (next.Revision != 9 || next.UID != incarnation || next.Schedule != 1) {
			t.Errorf("the next baton is %+v", next)
		}
	}
}
