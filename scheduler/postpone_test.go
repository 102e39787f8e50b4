package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// often is a schedule of every second.
const often = once + `, "recurrence": {"frequency": "Second"}`

// looks lets a baton check its collection again, after the time at nine o'clock was recorded.
func looks(b *scheduler.Baton) { b.Seen, b.PostponementRecorded = at("09:00:00"), true }

// TestPostponeRanges covers batons of a job of every second in a disabled collection: the intervals between checks
// grow, and the times passed over are recorded together when the collection is enabled, or after an hour.
func TestPostponeRanges(t *testing.T) {
	j := job(t, often)
	ends := job(t, once+`, "recurrence": {"frequency": "Second", "endTime": "2026-03-02T09:00:40Z"}`)
	off := in(scheduler.Disabled, j)
	mustDecide(t, []decideRow{
		{"the first is recorded at once", j, true, baton(j, "09:00:00"), "09:00:00.1", "skip; postponed 1 at 09:00:00; next 09:00:02 postponed"},
		{"and the next look is soon", j, true, baton(j, "09:00:02", looks), "09:00:02", "skip; next 09:00:04 postponed"},
		{"then later", j, true, baton(j, "09:00:30", looks), "09:00:30", "skip; next 09:01:00 postponed"},
		{"and never later than in a minute", j, true, baton(j, "09:30:00", looks), "09:30:00", "skip; next 09:31:00 postponed"},
		{"after an hour there is a record", j, true, baton(j, "10:00:00", looks), "10:00:00", "skip; postponed 3600 from 09:00:01 to 10:00:00; next 10:01:00 postponed"},
		{"late, with what fell due since", j, true, baton(j, "10:00:00", looks), "10:00:30", "skip; postponed 3630 from 09:00:01 to 10:00:30; next 10:01:30 postponed"},
		{"near its end each is looked at", ends, true, baton(ends, "09:00:30", looks), "09:00:30", "skip; next 09:00:31 postponed"},
		{"at its end all is recorded", ends, true, baton(ends, "09:00:40", looks), "09:00:40", "skip; postponed 40 from 09:00:01 to 09:00:40; no baton, completed"},

		{"enabled, it runs", j, false, baton(j, "09:00:30", looks), "09:00:30", "run 09:00:30 postponed; postponed 29 from 09:00:01 to 09:00:29"},
		{"enabled, with nothing passed over", j, false, baton(j, "09:00:01", looks), "09:00:01", "run 09:00:01 postponed"},
		{"enabled, and late", j, false, baton(j, "09:00:30", looks), "09:00:32", "run 09:00:32 postponed (later); postponed 29 from 09:00:01 to 09:00:29; skipped for catchUp 2 from 09:00:30 to 09:00:31"},
		{"its job is disabled", off, true, baton(j, "09:00:30", looks), "09:00:30", "skip; postponed 29 from 09:00:01 to 09:00:29; skipped for disabled 1 at 09:00:30; no baton, disabled"},
		{"its job is disabled before it looks", off, true, baton(j, "09:00:30", looks), "09:00:29.5", "skip; postponed 29 from 09:00:01 to 09:00:29; no baton, disabled"},
	})
}

// TestPostponeSettles covers events that end the wait for a disabled collection before the next check: the times passed
// over are recorded, and later ones are not lost.
func TestPostponeSettles(t *testing.T) {
	j, one := job(t, often), job(t, once)
	waits := baton(j, "09:01:00", looks, ran(3))

	s, ok := j.Settle(waits, at("09:00:40.5"))
	if !ok {
		t.Fatal("there is nothing to settle")
	}
	mustSay(t, "an edit", stepSaid(s)+"; "+progressSaid(s.Next.Progress), "postponed 40 from 09:00:01 to 09:00:40; next 09:01:00 postponed; begun 3; runs 3; seen 09:00:40")
	if again, ok := j.Settle(*s.Next, at("09:00:40.9")); ok {
		t.Errorf("it settles twice: %s", stepSaid(again))
	}
	mustSay(t, "and what comes after it", said(scheduler.Decide(j, true, *s.Next, at("09:01:00"))), "run 09:01:00 postponed; postponed 19 from 09:00:41 to 09:00:59")
	for name, b := range map[string]scheduler.Baton{
		"that was not postponed": baton(j, "09:01:00", seen("09:00:00")), "of a one-shot": baton(one, "09:00:00", postponed),
		"of a retry": baton(j, "09:01:00", looks, begun), "of another schedule": baton(j, "09:01:00", looks, outdated),
	} {
		if s, ok := j.Settle(b, at("09:00:40")); ok {
			t.Errorf("a baton %s: %s", name, stepSaid(s))
		}
	}

	run, records, err := j.Trigger(&waits, at("09:00:40.5"), at("09:00:40.5"))
	mustSay(t, "a run by hand", strings.Join(recordsSaid(records), "; ")+"; "+triggered(run, err),
		"postponed 40 from 09:00:01 to 09:00:40; 09:00:40.5 by hand resume 09:00:41; begun 3; runs 3; seen 09:00:40")
	row := afterRow{ran: j, now: j, baton: *run, started: "09:00:40.5", res: succeeds}
	mustSay(t, "and what follows it", said(row.after()), "proceed; skipped for overlap 1 at 09:00:41; next 09:00:42")

	hourly := edited(t, j, "09:00:40.5", `"startTime": "2026-03-02T10:00:00Z", "recurrence": {"frequency": "Hour"}`)
	mustSay(t, "another schedule", said(hourly.Restart(j, false, waits, at("09:00:50"))), "proceed; postponed 40 from 09:00:01 to 09:00:40; next 10:00:00")
}

// TestPostponedOneShotIsRecordedOnce also covers a manual run during the wait.
func TestPostponedOneShotIsRecordedOnce(t *testing.T) {
	j := job(t, once)
	waits := baton(j, "09:00:00", postponed)
	run, records, err := j.Trigger(&waits, at("09:10:00"), at("09:10:00"))
	if len(records) != 0 || err != nil {
		t.Fatalf("%v, %v", recordsSaid(records), err)
	}
	row := afterRow{ran: j, now: j, baton: *run, started: "09:10:00", res: succeeds}
	next := row.after().Step.Next
	mustSay(t, "it waits again", batonSaid(next), "09:00:00 postponed")
	mustSay(t, "and is not recorded again", said(scheduler.Decide(j, false, *next, at("09:10:01"))), "skip; next 09:00:00 postponed, fired at 09:11:01")
}

// TestPostponedRangesAreWhole simulates a day in a disabled collection: every time is recorded once, in few records.
func TestPostponedRangesAreWhole(t *testing.T) {
	for name, schedule := range map[string]string{
		"every second": often, "every minute": minutely, "every hour": once + `, "recurrence": {"frequency": "Hour"}`,
		"every 7 seconds": once + `, "recurrence": {"frequency": "Second", "interval": 7}`,
	} {
		j := job(t, schedule)
		now, end := at("09:00:00"), at("2026-03-03T09:00:00Z")
		b := baton(j, "09:00:00")
		var records []scheduler.Record
		steps := 0
		for ; b.Nominal.Before(end); steps++ {
			d := scheduler.Decide(j, false, b, now)
			records = append(records, d.Step.Records...)
			b = *d.Step.Next
			if wait := b.Nominal.Sub(now); wait > time.Minute+7*time.Second && j.Plan.Interval() < time.Minute {
				t.Fatalf("%s: it looks again after %s", name, wait)
			}
			now = b.Nominal
		}
		d := scheduler.Decide(j, true, b, now)
		records = append(records, d.Records...)
		next, want := at("09:00:00"), 0
		for i := range records {
			r := &records[i]
			if !r.From.Equal(next) || r.Outcome != scheduler.OutcomePostponed || r.Message != "collection default is disabled" {
				t.Fatalf("%s: record %d begins %s, want %s: %+v", name, i, r.From, next, r)
			}
			want += r.Count
			next, _ = j.Plan.Next(r.To)
		}
		if !next.Equal(b.Nominal) || d.Verdict != scheduler.Run {
			t.Errorf("%s: recorded up to %s, and then %s", name, next, said(d))
		}
		if diff := cmp.Diff(j.Plan.Count(at("09:00:00"), b.Nominal.Add(-1)), want); diff != "" {
			t.Errorf("%s: instants (-want +recorded)\n%s", name, diff)
		}
		if len(records) > 26 || steps > 1500 {
			t.Errorf("%s: %d records, %d steps", name, len(records), steps)
		}
	}
}
