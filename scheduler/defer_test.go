package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestDefer defers attempts at 09:00:05 because of their target.
func TestDefer(t *testing.T) {
	j := job(t, minutely)
	const until = "09:05:00"
	recorded := func(b *scheduler.Baton) { b.DeferralRecorded = true }
	for _, row := range []struct {
		name     string
		baton    scheduler.Baton
		deferral scheduler.Deferral
		want     string
	}{
		{"its target is slow", baton(j, "09:00:00"), scheduler.Deferral{}, "next 09:00:00 deferred until 09:05:00, fired at 09:05:00"},
		{"a rate: its turn is exact", baton(j, "09:00:00"), scheduler.Deferral{Ahead: true, Message: "too many"}, "postponed 1 at 09:00:00; next 09:00:00 deferred until 09:05:00, fired at 09:04:59.5"},
		{"again: it is recorded once", baton(j, "09:00:00", deferred("09:00:01"), recorded), scheduler.Deferral{Ahead: true, Message: "too many"}, "next 09:00:00 deferred until 09:05:00, fired at 09:04:59.5"},
		{"a circuit is open", baton(j, "09:00:00"), scheduler.Deferral{Circuit: true, Message: "open"}, "postponed 1 at 09:00:00; next 09:00:00 deferred until 09:05:00, fired at 09:05:00"},
		{"slow before, and now a circuit is open", baton(j, "09:00:00", deferred("09:00:01")), scheduler.Deferral{Circuit: true, Message: "open"}, "postponed 1 at 09:00:00; next 09:00:00 deferred until 09:05:00, fired at 09:05:00"},
		{"its condition did not hold before", baton(j, "09:00:00", unmet("09:00:01")), scheduler.Deferral{Ahead: true, Message: "too many"}, "postponed 1 at 09:00:00; next 09:00:00 deferred until 09:05:00, fired at 09:04:59.5"},
		{"a retry", baton(j, "09:00:00", begun), scheduler.Deferral{}, "next 09:00:00 due 09:00:10 try 2 deferred until 09:05:00, fired at 09:05:00"},
		{"a run by hand", baton(j, "09:00:04", byHand("09:01:00")), scheduler.Deferral{}, "next 09:00:04 by hand deferred until 09:05:00 resume 09:01:00, fired at 09:05:00"},
		{"a detached occurrence", baton(j, "09:00:00", of(scheduler.Detached)), scheduler.Deferral{}, "next 09:00:00 detached deferred until 09:05:00, fired at 09:05:00"},
	} {
		row.deferral.At = at(until)
		s := j.Defer(row.baton, row.deferral, at("09:00:05"))
		mustSay(t, row.name, stepSaid(s), row.want)
		if got, want := s.Next.DeferralRecorded, row.baton.DeferralRecorded || row.deferral.Message != ""; got != want {
			t.Errorf("%s: recorded %t", row.name, got)
		}
		if got, want := !s.Next.DeferredSince.IsZero(), row.deferral.Circuit; got != want {
			t.Errorf("%s: since %s", row.name, clock(s.Next.DeferredSince))
		}
		if diff := cmp.Diff(row.baton.Progress, s.Progress); diff != "" {
			t.Errorf("%s: its progress was changed\n%s", row.name, diff)
		}
	}
}

// TestDeferredSince checks that DeferredSince stays at the first deferral by an open circuit breaker.
func TestDeferredSince(t *testing.T) {
	j := job(t, minutely)
	open := scheduler.Deferral{At: at("09:01:00"), Circuit: true, Message: "open"}
	first := j.Defer(baton(j, "09:00:00"), open, at("09:00:05")).Next
	second := j.Defer(*first, open, at("09:01:05")).Next
	if !second.DeferredSince.Equal(at("09:00:05")) {
		t.Errorf("since %s", clock(second.DeferredSince))
	}
}

// TestDeferredRecord checks the record of a deferred attempt.
func TestDeferredRecord(t *testing.T) {
	j := job(t, minutely)
	want := &scheduler.Record{
		Job: key, ID: "default/job@2026-03-02T09:00:00Z#2", Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomePostponed,
		Nominal: at("09:00:00"), Due: at("09:00:10"), Ended: at("09:00:15"), From: at("09:00:00"), To: at("09:00:00"), Count: 1,
		Attempt: 1, Try: 2, Message: "too many", Type: "None", Target: "target:80", UID: incarnation, Revision: revision, Schedule: 1,
		Progress: scheduler.Progress{Number: 1, Runs: 1},
	}
	if diff := cmp.Diff(want, deferral(t, j, baton(j, "09:00:00", begun), "09:00:15")); diff != "" {
		t.Error("(-want +got)\n" + diff)
	}
	got := deferral(t, j, baton(j, "09:00:00", ran(4)), "09:00:05")
	mustSay(t, "an occurrence that has not begun counts nothing", progressSaid(got.Progress), "begun 4; runs 4")
	got = deferral(t, j, baton(j, "09:00:00", ran(4)).Detached(), "09:00:05")
	mustSay(t, "but its job has counted a detached one", progressSaid(got.Progress), "begun 5; runs 5")
}

// TestArmAt checks that a baton is fired 500 ms before it is due, earlier for a long interval, and immediately if a
// timer is not worthwhile.
func TestArmAt(t *testing.T) {
	const half = 500 * time.Millisecond
	secondly := once + `, "recurrence": {"frequency": "Second"}`
	short, beside := job(t, secondly), job(t, secondly+`, "overlap": "allow"`)
	for _, row := range []struct {
		name   string
		job    *scheduler.Job
		before time.Duration // now is so long before it is due
		atOnce bool
	}{
		{"in a minute", short, time.Minute, false},
		{"in a second", short, time.Second, false},
		{"in less than a second", short, time.Second - 1, true},
		{"late", short, -time.Minute, true},
		{"detached runs are counted in while it waits", beside, 750 * time.Millisecond, false},
		{"but not in less than it takes to fire it", beside, 750*time.Millisecond - 1, true},
	} {
		due := at("09:00:00")
		armed := row.job.ArmAt(due, due.Add(-row.before), 0)
		if row.atOnce && !armed.IsZero() || !row.atOnce && !armed.Equal(due.Add(-half)) {
			t.Errorf("%s: fired at %s", row.name, clock(armed))
		}
	}
	for _, row := range []struct {
		name  string
		every string
		most  time.Duration // how much earlier than half a second before
	}{
		{"below a minute", `, "recurrence": {"frequency": "Second", "interval": 59}`, 1},
		{"every minute", `, "recurrence": {"frequency": "Minute"}`, 2 * time.Second / 60},
		{"every half hour", `, "recurrence": {"frequency": "Minute", "interval": 30}`, time.Second},
		{"every hour", `, "recurrence": {"frequency": "Hour"}`, 2 * time.Second},
		{"every day", `, "recurrence": {"frequency": "Day"}`, 2 * time.Second},
		{"once", "", 2 * time.Second},
	} {
		j, due := job(t, once+row.every), at("09:00:00")
		var widest time.Duration
		for i := range 256 {
			j.Key.Job = "job" + string(rune('a'+i%16)) + string(rune('a'+i/16))
			early := due.Add(-half).Sub(j.ArmAt(due, due.Add(-time.Hour), 0))
			if early < 0 || early >= row.most {
				t.Fatalf("%s: %s is fired %s earlier", row.name, j.Key, early)
			}
			widest = max(widest, early)
		}
		if row.most > 1 && widest < row.most/2 {
			t.Errorf("%s: none of a herd is fired more than %s earlier", row.name, widest)
		}
	}
}
