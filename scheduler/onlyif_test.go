package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestOnlyIfProblems checks the paths and messages of wrong conditions.
func TestOnlyIfProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                "onlyIf.job: is required; onlyIf.since: is required",
		`{"job": "a/b/c", "since": "PT1H"}`: `onlyIf.job: "a/b/c" is neither the name of a job nor collection/job`,
		`{"job": "a", "since": "P1M"}`:      "onlyIf.since: ",
		`{"job": "a", "since": "PT1H", "outcome": "skipped"}`: "onlyIf.outcome: ",
		`{"job": "a", "since": "PT1H", "otherwise": "wait"}`:  "onlyIf.otherwise: ",
	} {
		_, err := decoder("08:00:00").Definition(parseDocument(t, `{"action": {"type": "test"}, "onlyIf": `+text+`}`))
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\n", "; "), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAnswer decides about due occurrences by the last end of the other job.
func TestAnswer(t *testing.T) {
	const condition = `, "onlyIf": {"job": "extract", "since": "PT1H"`
	skips, waits := job(t, minutely+condition+`}`), job(t, minutely+condition+`, "waitUpTo": "PT40S"}`)
	long, one := job(t, minutely+condition+`, "waitUpTo": "PT1H"}`), job(t, once+condition+`, "waitUpTo": "PT10M"}`)
	apart, last := job(t, minutely+condition+`}, "overlap": "allow"`), job(t, ending+condition+`}`)
	for _, row := range []struct {
		name  string
		job   *scheduler.Job
		baton scheduler.Baton
		now   string
		last  string // end of the other job
		want  string
	}{
		{"it has ended", skips, baton(skips, "09:00:00"), "09:00:00", "08:59:59", "run 09:00:00"},
		{"just in time", skips, baton(skips, "09:00:00"), "09:00:00", "08:00:00", "run 09:00:00"},
		{"too long ago", skips, baton(skips, "09:00:00"), "09:00:00", "07:59:59", "skip; skipped for onlyIf 1 at 09:00:00; next 09:01:00"},
		{"never", skips, baton(skips, "09:00:00"), "09:00:00", "", "skip; skipped for onlyIf 1 at 09:00:00; next 09:01:00"},
		{"others were missed before", skips, baton(skips, "09:00:00"), "09:02:10", "", "skip; skipped for catchUp 2 from 09:00:00 to 09:01:00; skipped for onlyIf 1 at 09:02:00; next 09:03:00"},
		{"the last one of the schedule", last, baton(last, "09:02:00"), "09:02:00", "", "skip; skipped for onlyIf 1 at 09:02:00; no baton, completed"},
		{"it may overlap", apart, baton(apart, "09:00:00"), "09:00:00", "08:59:59", "detach 09:00:00; next 09:01:00"},

		{"it waits a second", waits, baton(waits, "09:00:00"), "09:00:00", "", "wait; postponed for onlyIf 1 at 09:00:00; next 09:00:00 unmet until 09:00:01, fired at 09:00:01"},
		{"its target deferred it before", waits, baton(waits, "09:00:00", deferred("09:00:10"), recordedDeferral), "09:00:10", "", "wait; postponed for onlyIf 1 at 09:00:00; next 09:00:00 unmet until 09:00:20, fired at 09:00:20"},
		{"then longer", waits, baton(waits, "09:00:00", unmet("09:00:10")), "09:00:10", "", "wait; next 09:00:00 unmet until 09:00:20, fired at 09:00:20"},
		{"and at most until its time is up", waits, baton(waits, "09:00:00", unmet("09:00:30")), "09:00:30", "", "wait; next 09:00:00 unmet until 09:00:40, fired at 09:00:40"},
		{"its time is up", waits, baton(waits, "09:00:00", unmet("09:00:40")), "09:00:40", "", "skip; skipped for onlyIf 1 at 09:00:00; next 09:01:00"},
		{"it has ended in the end", waits, baton(waits, "09:00:00", unmet("09:00:40")), "09:00:40", "09:00:39", "run 09:00:00 unmet until 09:00:40"},
		{"the next one is due", long, baton(long, "09:00:00", unmet("09:01:00")), "09:01:00", "", "skip; skipped for onlyIf 1 at 09:00:00; next 09:01:00"},
		{"a one-shot waits", one, baton(one, "09:00:00", unmet("09:05:00")), "09:05:00", "", "wait; next 09:00:00 unmet until 09:06:00, fired at 09:06:00"},
		{"and ends", one, baton(one, "09:00:00", unmet("09:10:00")), "09:10:00", "", "skip; skipped for onlyIf 1 at 09:00:00; no baton, completed"},
	} {
		d := scheduler.Decide(row.job, true, row.baton, at(row.now))
		if d.Verdict != scheduler.Ask {
			t.Errorf("%s: %s, want ask", row.name, said(d))
			continue
		}
		var end *scheduler.Record
		if row.last != "" {
			end = &scheduler.Record{Stored: at(row.last)}
		}
		d = row.job.Answer(d, end, row.job.AsksSince(&d.Baton, false, at(row.now)), at(row.now))
		mustSay(t, row.name, said(d), row.want)
		for _, r := range d.Step.Records {
			if want := "extract has not completed since " + at(row.now).Add(-time.Hour).Format(time.RFC3339); r.Reason == scheduler.ReasonOnlyIf && r.Message != want {
				t.Errorf("%s: message %q, want %q", row.name, r.Message, want)
			}
		}
	}
	repeated := baton(waits, "09:00:00", deferred("09:00:10"))
	for doubtful, want := range map[bool]string{false: "08:30:00", true: "08:00:10"} {
		if got := waits.AsksSince(&repeated, doubtful, at("09:30:00")); !got.Equal(at(want)) {
			t.Errorf("repeated %t: an end counts since %s, want %s", doubtful, clock(got), want)
		}
	}
	mustDecide(t, []decideRow{
		{"a retry does not ask", skips, false, baton(skips, "09:00:00", begun), "09:00:10", "run 09:00:00 due 09:00:10 try 2"},
		{"nor does a run by hand", skips, false, baton(skips, "08:50:07", byHand("09:00:00")), "08:50:07", "run 08:50:07 by hand resume 09:00:00"},
		{"nor does one that runs detached", apart, false, baton(apart, "09:00:00", of(scheduler.Detached)), "09:00:00", "run 09:00:00 detached"},
		{"nor does one of a disabled job", in(scheduler.Disabled, skips), false, baton(skips, "09:00:00"), "09:00:00", "skip; skipped for disabled 1 at 09:00:00; no baton, disabled"},
	})
	half := edited(t, skips, "09:20:30", `"startTime": "2026-03-02T09:30:00Z", "recurrence": {"frequency": "Hour"}`)
	mustSay(t, "its schedule was edited before it was asked", said(half.Restart(skips, true, baton(skips, "09:20:00"), at("09:21:00"))),
		"proceed; skipped for onlyIf 1 at 09:20:00; next 09:30:00")
}

// TestQueue covers occurrences that are due while an earlier one runs, with overlap queue.
func TestQueue(t *testing.T) {
	const queue = `, "overlap": "queue"`
	j, last, three := job(t, minutely+queue), job(t, ending+queue), job(t, thrice+queue)
	none := job(t, minutely+queue+catchUp("skip", ""))
	long := lasting(200*time.Second, succeeds)
	mustFollow(t, []afterRow{
		{"none was due", j, j, baton(j, "09:00:00"), "09:00:00", succeeds, "proceed; next 09:01:00"},
		{"three were due", j, j, baton(j, "09:00:00"), "09:00:00", long, "proceed; next 09:01:00 queued"},
		{"of a manual run, too", j, j, baton(j, "08:59:59.5", byHand("09:00:00")), "08:59:59.5", succeeds, "proceed; next 09:00:00 queued"},
		{"a queued one ends", j, j, baton(j, "09:01:00", queued), "09:03:20", succeeds, "proceed; next 09:02:00 queued"},
		{"the last queued one ends", j, j, baton(j, "09:03:00", queued), "09:03:30", succeeds, "proceed; next 09:04:00"},
		{"the rest of the schedule", last, last, baton(last, "09:01:00"), "09:01:00", long, "proceed; next 09:02:00 queued"},
		{"a count is used up", three, three, baton(three, "09:02:00", ran(2)), "09:02:00", long, "proceed; no baton, completed"},
		{"a hundred were due", j, j, baton(j, "09:00:00"), "09:00:00", lasting(100*time.Minute+30*time.Second, succeeds), "proceed; next 09:01:00 queued"},
		{"a hundred were due, and one is now", j, j, baton(j, "09:00:00"), "09:00:00", lasting(101*time.Minute, succeeds), "proceed; next 09:01:00 queued"},
		{"a hundred and one were due", j, j, baton(j, "09:00:00"), "09:00:00", lasting(101*time.Minute+30*time.Second, succeeds), "proceed; skipped for overlap 1 at 09:01:00; next 09:02:00 queued"},
		{"three hundred were due", j, j, baton(j, "09:00:00"), "09:00:00", lasting(5*time.Hour+30*time.Second, succeeds), "proceed; skipped for overlap 200 from 09:01:00 to 12:20:00; next 12:21:00 queued"},
		{"the job was disabled meanwhile", j, in(scheduler.Disabled, j), baton(j, "09:00:00"), "09:00:00", long, "proceed; skipped for disabled 3 from 09:01:00 to 09:03:00; no baton, disabled"},
	})
	mustDecide(t, []decideRow{
		{"a queued one is not missed", j, false, baton(j, "09:01:00", queued), "09:03:20", "run 09:01:00 queued"},
		{"whatever the misfire policy", none, false, baton(none, "09:01:00", queued), "19:03:20", "run 09:01:00 queued"},
		{"others are", j, false, baton(j, "09:01:00"), "09:03:20", "run 09:03:00 (later); skipped for catchUp 2 from 09:01:00 to 09:02:00"},
	})
}

// TestTriggerEnds covers the end of a trigger, with which a job ends that only events start.
func TestTriggerEnds(t *testing.T) {
	ends := func(end string) string {
		return `"trigger": {"on": {"source": "a"}, "endTime": "2026-03-02T` + end + `Z"}`
	}
	j := job(t, ends("09:00:00"))
	b := *j.Begin(scheduler.Progress{}, at("08:00:00")).Next
	if !b.Due.Equal(at("09:00:00")) || !j.Never(b.Nominal) || len(j.Upcoming(&b, 3)) > 0 {
		t.Errorf("the baton waits until %s: %+v", b.Due, j.Upcoming(&b, 3))
	}
	later := edited(t, j, "08:30:00", ends("10:00:00"))
	never := clock(scheduler.EndOfTime) + " due "
	mustDecide(t, []decideRow{
		{"it ends", j, false, b, "09:00:00", "skip; no baton, completed"},
		{"late, and its collection is disabled", j, true, b, "11:00:00", "skip; no baton, completed"},
		{"its end has moved", later, false, b, "09:00:00", "wait; next " + never + "10:00:00"},
		{"it is paused", j.Paused(at("09:30:00"), at("08:30:00")), false, b, "09:00:00", "skip; no baton, completed"},
		{"it is disabled", in(scheduler.Disabled, j), false, b, "09:00:00", "skip; no baton, disabled"},
	})
	counts := func(n string) string { return strings.Replace(ends("10:00:00"), "}, ", `}, "count": `+n+`, `, 1) }
	two := job(t, counts("2"))
	used, last := two.EndTrigger(*two.Begin(scheduler.Progress{}, at("08:00:00")).Next, at("08:40:00"))
	three := edited(t, two, "08:40:00", counts("3"))
	mustDecide(t, []decideRow{
		{"its count is used up", two, false, used, "08:40:00", "skip; no baton, completed"},
		{"its count has grown", three, false, used, "08:40:00", "wait; next " + never + "10:00:00"},
		{"its count has gone", edited(t, two, "08:40:00", ends("10:00:00")), false, used, "08:40:00", "wait; next " + never + "10:00:00"},
	})
	if next, again := three.EndTrigger(*scheduler.Decide(three, true, used, at("08:40:00")).Step.Next, at("08:50:00")); !last || !again || next.Runs != 3 {
		t.Errorf("after its count has grown, it ends with %d runs: %t, %t", next.Runs, last, again)
	}
	_, s := later.Replan(scheduler.Enabled, scheduler.Found{Waiting: &b}, at("08:30:00"))
	mustSay(t, "an edit moves its end", stepSaid(s), "next "+never+"10:00:00")
	over := in(scheduler.Completed, j)
	for _, row := range []struct {
		name    string
		job     *scheduler.Job
		stored  string
		verdict scheduler.MatchVerdict
	}{
		{"before the end", j, "08:59:59", scheduler.Matches},
		{"at the end", j, "09:00:00", scheduler.Ignores},
		{"before the end, and matched later", over, "08:59:59", scheduler.Matches},
		{"after the end", over, "09:00:01", scheduler.Ignores},
	} {
		e := &scheduler.Event{Topic: scheduler.Topic{Collection: key.Collection, Name: "a"}, Time: at(row.stored)}
		if m := row.job.Match(e); m.Verdict != row.verdict {
			t.Errorf("%s: %+v", row.name, m)
		}
	}
}

// unmet lets the occurrence wait for its condition.
func unmet(until string) change {
	return func(b *scheduler.Baton) { b.DeferredUntil, b.DeferralRecorded, b.Unmet = at(until), true, true }
}

// recordedDeferral marks the deferral as recorded, queued the occurrence as due while an earlier one ran.
func recordedDeferral(b *scheduler.Baton) { b.DeferralRecorded = true }
func queued(b *scheduler.Baton)           { b.Queued = true }
