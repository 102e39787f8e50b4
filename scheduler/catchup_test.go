package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// catchUp is the catchUp field of a job.
func catchUp(policy, window string) string {
	if window != "" {
		window = `, "window": "` + window + `"`
	}
	return `, "catchUp": {"policy": "` + policy + `"` + window + `}`
}

// TestCatchUp covers all policies for a baton that is late by no time, one time or many, inside and outside its window.
func TestCatchUp(t *testing.T) {
	latest, latest5 := job(t, minutely+catchUp("once", "")), job(t, minutely+catchUp("once", "PT20S"))
	all, all5 := job(t, minutely+catchUp("all", "")), job(t, minutely+catchUp("all", "PT5M"))
	none, none5 := job(t, minutely+catchUp("skip", "")), job(t, minutely+catchUp("skip", "PT5S"))
	mustDecide(t, []decideRow{
		{"once: on time", latest, false, baton(latest, "09:00:00"), "09:00:00", "run 09:00:00"},
		{"once: late, and the next is not due", latest, false, baton(latest, "09:00:00"), "09:00:59.9", "run 09:00:00"},
		{"once: late by one", latest, false, baton(latest, "09:00:00"), "09:01:00", "run 09:01:00 (later); skipped for catchUp 1 at 09:00:00"},
		{"once: late by many", latest, false, baton(latest, "09:00:00"), "13:20:30", "run 13:20:00 (later); skipped for catchUp 260 from 09:00:00 to 13:19:00"},
		{"once: the last one is inside its window", latest5, false, baton(latest5, "09:00:00"), "09:10:20", "run 09:10:00 (later); skipped for catchUp 10 from 09:00:00 to 09:09:00"},
		{"once: the last one is outside of its window", latest5, false, baton(latest5, "09:00:00"), "09:10:21", "skip; skipped for catchUp 11 from 09:00:00 to 09:10:00; next 09:11:00"},
		{"once: the only one is outside of its window", latest5, false, baton(latest5, "09:00:00"), "09:00:21", "skip; skipped for catchUp 1 at 09:00:00; next 09:01:00"},

		{"all: on time", all, false, baton(all, "09:00:00"), "09:00:00", "run 09:00:00"},
		{"all: late by one", all, false, baton(all, "09:00:00"), "09:01:00", "run 09:00:00"},
		{"all: late by as much as the window", all, false, baton(all, "09:00:00"), "10:00:00", "run 09:00:00"},
		{"all: late by many", all5, false, baton(all5, "09:00:00"), "13:20:30", "run 13:16:00 (later); skipped for catchUp 256 from 09:00:00 to 13:15:00"},
		{"all: the first instant of the window counts", all5, false, baton(all5, "09:00:00"), "13:20:00", "run 13:15:00 (later); skipped for catchUp 255 from 09:00:00 to 13:14:00"},

		{"skip: on time", none, false, baton(none, "09:00:00"), "09:00:00", "run 09:00:00"},
		{"skip: a redelivery after a crash is no miss", none, false, baton(none, "09:00:00"), "09:00:30", "run 09:00:00"},
		{"skip: late", none, false, baton(none, "09:00:00"), "09:00:30.001", "skip; skipped for catchUp 1 at 09:00:00; next 09:01:00"},
		{"skip: late by one", none, false, baton(none, "09:00:00"), "09:01:00", "skip; skipped for catchUp 2 from 09:00:00 to 09:01:00; next 09:02:00"},
		{"skip: late by many", none, false, baton(none, "09:00:00"), "13:20:30", "skip; skipped for catchUp 261 from 09:00:00 to 13:20:00; next 13:21:00"},
		{"skip: a window is less than that grace", none5, false, baton(none5, "09:00:00"), "09:00:05.001", "skip; skipped for catchUp 1 at 09:00:00; next 09:01:00"},
		{"skip: inside such a window", none5, false, baton(none5, "09:00:00"), "09:00:05", "run 09:00:00"},
	})
}

// TestCatchUpAtTheEnd covers batons that are late at the end of their schedule.
func TestCatchUpAtTheEnd(t *testing.T) {
	latest, all, none := job(t, ending+catchUp("once", "")), job(t, ending+catchUp("all", "")), job(t, ending+catchUp("skip", ""))
	short, allShort := job(t, ending+catchUp("once", "PT5M")), job(t, ending+catchUp("all", "PT5M"))
	mustDecide(t, []decideRow{
		{"once: the last one of the schedule", latest, false, baton(latest, "09:00:00"), "09:45:00", "run 09:02:00 (later); skipped for catchUp 2 from 09:00:00 to 09:01:00"},
		{"once: none is in the window", short, false, baton(short, "09:00:00"), "09:45:00", "skip; skipped for catchUp 3 from 09:00:00 to 09:02:00; no baton, completed"},
		{"all: each of them", all, false, baton(all, "09:00:00"), "09:45:00", "run 09:00:00"},
		{"all: those in the window", allShort, false, baton(allShort, "09:00:00"), "09:06:01", "run 09:02:00 (later); skipped for catchUp 2 from 09:00:00 to 09:01:00"},
		{"all: none is in the window", allShort, false, baton(allShort, "09:00:00"), "09:45:00", "skip; skipped for catchUp 3 from 09:00:00 to 09:02:00; no baton, completed"},
		{"skip: all of them", none, false, baton(none, "09:00:00"), "09:45:00", "skip; skipped for catchUp 3 from 09:00:00 to 09:02:00; no baton, completed"},
	})
}

// TestCatchUpOneShot checks that a one-shot, which has no later occurrence, runs unless it has a window and exceeds it.
func TestCatchUpOneShot(t *testing.T) {
	latest, windowed := job(t, once), job(t, once+catchUp("once", "PT1H"))
	all, allWindowed := job(t, once+catchUp("all", "")), job(t, once+catchUp("all", "PT1H"))
	none := job(t, once+catchUp("skip", ""))
	const days = "2026-04-02T09:00:00Z"
	mustDecide(t, []decideRow{
		{"once: however late", latest, false, baton(latest, "09:00:00"), days, "run 09:00:00"},
		{"once: inside its window", windowed, false, baton(windowed, "09:00:00"), "10:00:00", "run 09:00:00"},
		{"once: outside of its window", windowed, false, baton(windowed, "09:00:00"), "10:00:01", "skip; skipped for catchUp 1 at 09:00:00; no baton, completed"},
		{"all: however late", all, false, baton(all, "09:00:00"), days, "run 09:00:00"},
		{"all: inside its window", allWindowed, false, baton(allWindowed, "09:00:00"), "10:00:00", "run 09:00:00"},
		{"all: outside of its window", allWindowed, false, baton(allWindowed, "09:00:00"), "10:00:01", "skip; skipped for catchUp 1 at 09:00:00; no baton, completed"},
		{"skip: within the grace", none, false, baton(none, "09:00:00"), "09:00:30", "run 09:00:00"},
		{"skip: late", none, false, baton(none, "09:00:00"), "09:00:31", "skip; skipped for catchUp 1 at 09:00:00; no baton, completed"},
	})
}

// TestCatchUpCount checks that skipped times do not count toward recurrence.count.
func TestCatchUpCount(t *testing.T) {
	j := job(t, thrice)
	d := scheduler.Decide(j, true, baton(j, "09:00:00", ran(1)), at("09:10:00"))
	mustSay(t, "it is run", said(d), "run 09:10:00 (later); skipped for catchUp 10 from 09:00:00 to 09:09:00")
	mustSay(t, "with what it has done", progressSaid(d.Baton.Progress), "begun 1; runs 1; seen 09:09:00")
	want := []scheduler.Record{{
		Job: key, Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonCatchUp,
		Nominal: at("09:00:00"), From: at("09:00:00"), To: at("09:09:00"), Count: 10, Ended: at("09:10:00"), UID: incarnation,
		Schedule: 1, Progress: d.Baton.Progress,
	}}
	if diff := cmp.Diff(want, d.Records); diff != "" {
		t.Error("the record (-want +got)\n" + diff)
	}

	none := job(t, thrice+catchUp("skip", ""))
	d = scheduler.Decide(none, true, baton(none, "09:00:00", ran(2)), at("09:10:00"))
	mustSay(t, "all are skipped", said(d), "skip; skipped for catchUp 11 from 09:00:00 to 09:10:00; next 09:11:00")
	mustSay(t, "with what it has done", progressSaid(d.Step.Progress), "begun 2; runs 2; seen 09:10:00")
}
