package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// paused returns j with a pause until a time, set at eight.
func paused(until string, j *scheduler.Job) *scheduler.Job {
	next := *j.Paused(at(until), at("08:00:00"))
	return &next
}

// pausedFrom lets the baton pass over times of a pause from a time on.
func pausedFrom(when string) change { return func(b *scheduler.Baton) { b.PausedFrom = at(when) } }

// dueAt sets the earliest start.
func dueAt(when string) change { return func(b *scheduler.Baton) { b.Due = at(when) } }

// TestPauseDecides covers batons of jobs that are paused, or were until now.
func TestPauseDecides(t *testing.T) {
	plain := job(t, minutely)
	j := paused("09:30:00", plain)
	hourly := paused("09:30:00", job(t, once+`, "recurrence": {"frequency": "Hour"}`))
	ends := paused("09:30:00", job(t, ending))
	limited := paused("09:30:00", job(t, thrice))
	beside := paused("09:30:00", job(t, minutely+`, "overlap": "allow"`))
	all := paused("09:30:00", job(t, minutely+`, "catchUp": {"policy": "all"}`))
	mustDecide(t, []decideRow{
		{"what is due in the pause goes beyond it", j, false, baton(j, "09:00:00"), "09:00:00", "skip; next 09:30:00 paused from 09:00:00"},
		{"and after it all of it is one record", j, false, baton(j, "09:30:00", pausedFrom("09:00:00")), "09:30:00", "run 09:30:00; skipped for paused 30 from 09:00:00 to 09:29:00"},
		{"and so when it is late", j, false, baton(j, "09:30:00", pausedFrom("09:00:00")), "09:32:10", "run 09:32:00 (later); skipped for paused 30 from 09:00:00 to 09:29:00; skipped for catchUp 2 from 09:30:00 to 09:31:00"},
		{"what was deferred and has not begun does not run in the pause", j, false, baton(j, "08:59:00", deferred("09:10:00")), "09:10:00", "skip; next 09:30:00 paused from 08:59:00"},
		{"what was deferred beyond the pause runs", j, false, baton(j, "09:00:00", deferred("09:40:00")), "09:40:00", "run 09:00:00 deferred until 09:40:00"},
		{"a retry runs", j, false, baton(j, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"a run by hand runs", j, false, baton(j, "09:10:07", byHand("09:30:00")), "09:10:07", "run 09:10:07 by hand resume 09:30:00"},
		{"what came late, and was due in it, does not run", j, false, baton(j, "09:00:00"), "09:40:30", "skip; next 09:30:00 paused from 09:00:00"},
		{"all that was missed is no reason", all, false, baton(all, "09:00:00"), "09:20:00", "skip; next 09:30:00 paused from 09:00:00"},
		{"a detached one that has not begun goes", beside, false, baton(beside, "09:00:00", of(scheduler.Detached)), "09:10:00", "skip; skipped for paused 1 at 09:00:00; merge"},
		{"one that has not goes on after it", beside, false, baton(beside, "09:00:00", of(scheduler.Detached)), "09:40:00", "run 09:00:00 detached"},
		{"nothing is in the pause", hourly, false, baton(hourly, "10:00:00"), "10:00:00", "run 10:00:00"},
		{"a count is not used up", limited, false, baton(limited, "09:00:00", ran(2)), "09:00:00", "skip; next 09:30:00 paused from 09:00:00"},

		{"nothing is left after it: the last one is waited for, as it may end early", ends, false, baton(ends, "09:00:00"), "09:00:00", "skip; next 09:02:00 paused from 09:00:00"},
		{"and ends it", ends, false, baton(ends, "09:02:00", pausedFrom("09:00:00")), "09:02:00", "skip; skipped for paused 3 from 09:00:00 to 09:02:00; no baton, completed"},
		{"and so where it is the only one", ends, false, baton(ends, "09:02:00"), "09:02:00", "skip; skipped for paused 1 at 09:02:00; no baton, completed"},

		{"in a disabled collection, too", j, true, baton(j, "09:00:00"), "09:00:00", "skip; next 09:30:00 paused from 09:00:00"},
		{"which postpones what comes after it", j, true, baton(j, "09:30:00", pausedFrom("09:00:00")), "09:30:00", "skip; skipped for paused 30 from 09:00:00 to 09:29:00; postponed 1 at 09:30:00; next 09:31:00 postponed"},
		{"what that passed over before stays its", paused("11:00:00", plain), true, baton(j, "09:30:00", looks), "09:30:00", "skip; postponed 29 from 09:01:00 to 09:29:00; next 11:00:00 paused from 09:30:00"},
		{"disabled amid it", in(scheduler.Disabled, j), false, baton(j, "09:30:00", pausedFrom("09:00:00")), "09:10:30", "skip; skipped for paused 11 from 09:00:00 to 09:10:00; no baton, disabled"},
	})
}

// TestPauseOfAOneShot checks that a one-shot waits for the end of the pause, and that the misfire policy then applies.
func TestPauseOfAOneShot(t *testing.T) {
	one := paused("11:00:00", job(t, once))
	never := paused("11:00:00", job(t, once+`, "catchUp": {"policy": "skip"}`))
	window := paused("11:00:00", job(t, once+`, "catchUp": {"window": "PT1H"}`))
	barely := paused("09:00:20", job(t, once+`, "catchUp": {"policy": "skip"}`))
	mustSay(t, "it waits from the first", stepSaid(one.Begin(scheduler.Progress{}, at("08:00:00"))), "next 09:00:00 due 11:00:00")
	mustDecide(t, []decideRow{
		{"paused when it is due", one, false, baton(one, "09:00:00"), "09:00:00", "wait; next 09:00:00 due 11:00:00"},
		{"it runs at the end", one, false, baton(one, "09:00:00", dueAt("11:00:00")), "11:00:00", "run 09:00:00 due 11:00:00"},
		{"unless nothing is to be made up for", never, false, baton(never, "09:00:00", dueAt("11:00:00")), "11:00:00", "skip; skipped for paused 1 at 09:00:00; no baton, completed"},
		{"or not after so long", window, false, baton(window, "09:00:00", dueAt("11:00:00")), "11:00:00", "skip; skipped for paused 1 at 09:00:00; no baton, completed"},
		{"a moment is not late", barely, false, baton(barely, "09:00:00", dueAt("09:00:20")), "09:00:20", "run 09:00:00 due 09:00:20"},
	})
}

// TestPausePlans covers the next occurrences of paused jobs.
func TestPausePlans(t *testing.T) {
	plain := job(t, minutely)
	j := paused("09:30:00", plain)
	mustSay(t, "a new job", stepSaid(j.Begin(scheduler.Progress{}, at("08:00:00"))), "next 09:30:00 paused from 09:00:00")
	row := afterRow{ran: plain, now: j, baton: baton(plain, "09:00:00"), started: "09:00:00", res: succeeds}
	mustSay(t, "after a run", said(row.after()), "proceed; next 09:30:00 paused from 09:01:00")
	s := j.ResumeSchedule(scheduler.Progress{Runs: 1, Seen: at("09:00:00")}, at("09:10:30"))
	mustSay(t, "enabled amid it, by an edit that leaves it", stepSaid(s), "skipped for disabled 10 from 09:01:00 to 09:10:00; next 09:30:00 paused from 09:11:00")
	mustSay(t, "over", stepSaid(paused("08:30:00", plain).Begin(scheduler.Progress{}, at("08:40:00"))), "next 09:00:00")

	waits := baton(j, "09:30:00", pausedFrom("09:00:00"), ran(3))
	run, records, err := j.Trigger(&waits, at("09:10:30"), at("09:10:30"))
	mustSay(t, "a run by hand", strings.Join(recordsSaid(records), "; ")+"; "+triggered(run, err),
		"skipped for paused 11 from 09:00:00 to 09:10:00; 09:10:30 by hand resume 09:11:00; begun 3; runs 3; seen 09:10:00")
	row = afterRow{ran: j, now: j, baton: *run, started: "09:10:30", res: succeeds}
	mustSay(t, "and what follows it", said(row.after()), "proceed; next 09:30:00 paused from 09:11:00")
}

// TestPauseEdited covers waiting batons when a pause begins, changes or ends.
func TestPauseEdited(t *testing.T) {
	j := job(t, minutely)
	one := job(t, once)
	with := func(until string, j *scheduler.Job) *scheduler.Job {
		next := paused(until, j)
		next.Revision++
		return next
	}
	ended := j.WithState(scheduler.Enabled, at("09:10:30"), 0)
	ended.Revision++
	amid := baton(j, "09:30:00", pausedFrom("09:11:00"))
	for _, row := range []struct {
		name  string
		job   *scheduler.Job
		baton scheduler.Baton
		want  string
	}{
		{"it begins", with("09:30:00", j), baton(j, "09:11:00"), "next 09:30:00 paused from 09:11:00"},
		{"it begins after the next run", with("09:30:00", j), baton(j, "09:40:00"), "next 09:40:00"},
		{"it gets longer", with("09:50:00", j), amid, "next 09:50:00 paused from 09:11:00"},
		{"it gets shorter", with("09:20:00", j), amid, "next 09:20:00 paused from 09:11:00"},
		{"it ends early", ended, amid, "next 09:11:00"},
		{"it begins amid a retry", with("09:30:00", j), baton(j, "09:10:00", begun), "alone"},
		{"it begins for a one-shot", with("09:30:00", one), baton(one, "09:00:00"), "next 09:00:00 due 09:30:00"},
	} {
		what, s := row.job.Replan(scheduler.Enabled, scheduler.Found{Waiting: &row.baton}, at("09:10:30"))
		got := "alone"
		if what == scheduler.ReplaceIt {
			got = stepSaid(s)
		}
		mustSay(t, row.name, got, row.want)
	}
	settled, ok := with("09:30:00", j).Settle(baton(j, "09:30:00", pausedFrom("09:00:00")), at("09:10:30"))
	mustSay(t, "what has passed is recorded first", stepSaid(settled), "skipped for paused 11 from 09:00:00 to 09:10:00; next 09:30:00 paused from 09:11:00")
	if !ok {
		t.Error("there was nothing to settle")
	}
}

// TestPauseOverAges checks that a schedule of every second, paused for a thousand years, is not iterated.
func TestPauseOverAges(t *testing.T) {
	j := paused("3026-03-02T09:00:00Z", job(t, often))
	s := j.Begin(scheduler.Progress{}, at("08:00:00"))
	d := scheduler.Decide(j, true, *s.Next, at("3026-03-02T09:00:00Z"))
	if seconds := int(at("3026-03-02T09:00:00Z").Unix() - at("09:00:00").Unix()); len(d.Records) != 1 || d.Records[0].Count != seconds {
		t.Errorf("records %v, want one of %d", recordsSaid(d.Records), seconds)
	}
}

// TestPauseAcrossAClockChange checks that a DST gap in a pause has a separate record.
func TestPauseAcrossAClockChange(t *testing.T) {
	j := paused("2026-04-02T12:00:00Z", job(t, `"startTime": "2026-03-27T09:00:00Z", "timeZone": "Europe/Berlin", "dst": {"gap": "skip"},
		"recurrence": {"cron": "30 2 * * *"}`))
	s := j.Begin(scheduler.Progress{}, at("08:00:00"))
	counts := map[scheduler.Reason]int{}
	for now := s.Next.Wake(); ; now = s.Next.Wake() {
		d := scheduler.Decide(j, true, *s.Next, now)
		records := d.Records
		if d.Verdict != scheduler.Run {
			records = d.Step.Records
		}
		for _, r := range records {
			counts[r.Reason] += r.Count
		}
		if d.Verdict == scheduler.Run {
			break
		}
		s = d.Step
	}
	if counts[scheduler.ReasonDST] != 1 || counts[scheduler.ReasonPaused] != 5 {
		t.Errorf("left out: %v", counts)
	}
}

// TestPauseOfADocument covers documents and patches with and without a pause.
func TestPauseOfADocument(t *testing.T) {
	const until = `, "pausedUntil": "2026-03-02T12:00:00Z"`
	j := job(t, minutely)
	halted := job(t, minutely+until)
	if !halted.PausedUntil.Equal(at("12:00:00")) || strings.Contains(string(halted.Def.Properties()), "paused") {
		t.Fatalf("paused until %s: %s", halted.PausedUntil, halted.Def.Properties())
	}
	for _, row := range []struct {
		name    string
		job     *scheduler.Job
		members string
		want    string
	}{
		{"none is named, and there is none", j, minutely, "same "},
		{"none is named: it stays", halted, minutely, "same 12:00:00"},
		{"the same", halted, minutely + until, "same 12:00:00"},
		{"another", halted, minutely + `, "pausedUntil": "2026-03-02T13:00:00Z"`, "edited 13:00:00"},
		{"none", halted, minutely + `, "pausedUntil": null`, "edited "},
		{"one", j, minutely + until, "edited 12:00:00"},
		{"none is named, and the schedule is another", halted, once, "edited 12:00:00"},
		{"a job at its end stays there", in(scheduler.Completed, j), minutely + until, "same "},
	} {
		next := edited(t, row.job, "09:10:00", row.members)
		got := "same "
		if next.Generation > row.job.Generation {
			got = "edited "
		}
		if !next.PausedUntil.IsZero() {
			got += clock(next.PausedUntil)
		}
		mustSay(t, row.name, got, row.want)
	}
	for patch, want := range map[string]string{
		`{}`: "12:00:00", `{"pausedUntil": null}`: "", `{"PAUSEDUNTIL": null}`: "", `{"timeout": "PT5S"}`: "12:00:00",
		`{"pausedUntil": "2026-03-02T13:00:00Z"}`: "13:00:00", `{"state": "enabled"}`: "12:00:00",
	} {
		draft, _ := decoder("09:10:00").Patched(halted, parseDocument(t, patch))
		def, err := draft.Definition()
		if err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		next := must.Get(halted.Edited(def, at("09:10:00"), 0))(t)
		got := ""
		if !next.PausedUntil.IsZero() {
			got = clock(next.PausedUntil)
		}
		mustSay(t, patch, got, want)
	}
	draft, _ := decoder("09:10:00").Patched(halted, parseDocument(t, `{"pausedUntil": "9999-12-31T23:59:59-05:00"}`))
	if _, err := draft.Definition(); !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), "after the year 9999") {
		t.Errorf("an end that cannot be written: %v", err)
	}
	if on := halted.WithState(scheduler.Enabled, at("09:10:00"), 0); !on.PausedUntil.IsZero() {
		t.Error("enabled, it is paused still")
	}
}
