package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// The clocks of New York change from 02:00 to 03:00 on March 8, 2026, at 07:00 UTC.
const (
	newYork = `"timeZone": "America/New_York", "dst": {"gap": "skip"}, "recurrence": `
	nightly = newYork + `{"cron": "30 2 * * *"}`
	hourly  = newYork + `{"cron": "0 * * * *"}`

	saturday = "2026-03-07T07:30:00Z" // the night before
	spring   = "2026-03-08T07:00:00Z"
	monday   = "2026-03-09T06:30:00Z" // the night after
	eve      = "2026-03-07T12:00:00Z"
)

// TestDecideGap covers batons that wait for a time after a DST gap in their schedule.
func TestDecideGap(t *testing.T) {
	j, other := jobPut(t, eve, nightly), jobPut(t, eve, hourly)
	jittered := jobPut(t, eve, hourly+`, "jitter": "PT30M"`)
	waits := []change{seen(saturday), gapAt(spring)}
	const gone = "skipped for dst 1 at " + spring
	due := baton(jittered, spring, gapAt(spring), func(b *scheduler.Baton) { b.Due = at("2026-03-08T07:20:00Z") })
	mustDecide(t, []decideRow{
		{"the clock jumps: it is recorded, and the instant is waited for", j, false, baton(j, monday, waits...), spring, "wait; " + gone + "; next " + monday},
		{"the clock has jumped, late", j, false, baton(j, monday, waits...), "2026-03-08T22:00:00Z", "wait; " + gone + "; next " + monday},
		{"both have passed", j, false, baton(j, monday, waits...), monday, "run " + monday + "; " + gone},
		{"both have passed, and the collection is closed", j, true, baton(j, monday, waits...), monday, "skip; " + gone + "; postponed 1 at " + monday + "; next 2026-03-10T06:30:00Z postponed"},
		{"the clock jumps while the collection is closed", j, true, baton(j, monday, waits...), spring, "wait; " + gone + "; next " + monday},
		{"it has jumped right at an instant", other, false, baton(other, spring, gapAt(spring)), spring, "run " + spring + "; " + gone},
		{
			"which has its jitter to come", jittered, false, due, spring,
			"wait; next " + spring + " due 2026-03-08T07:20:00Z gap " + spring,
		},
		{"and when that is over", jittered, false, due, "2026-03-08T07:20:00Z", "run " + spring + " due 2026-03-08T07:20:00Z; " + gone},
		{"disabled when both have passed", in(scheduler.Disabled, j), false, baton(j, monday, waits...), monday, "skip; " + gone + "; skipped for disabled 1 at " + monday + "; no baton, disabled"},
		{"disabled before the instant", in(scheduler.Disabled, j), false, baton(j, monday, waits...), spring, "skip; no baton, disabled"},
		{"a run by hand passes none", j, false, baton(j, eve, byHand(monday)), spring, "run " + eve + " by hand resume " + monday},
		{"a gap of a schedule that knows none", other, false, baton(other, "2026-03-07T14:00:00Z", gapAt("2026-03-07T13:30:00Z")), "2026-03-07T14:00:00Z", "run 2026-03-07T14:00:00Z"},
	})
	d := scheduler.Decide(j, true, baton(j, monday, waits...), at(spring))
	want := []scheduler.Record{{
		Job: key, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonDST, Nominal: at(spring), From: at(spring), To: at(spring),
		Count: 1, Message: "2026-03-08 02:30 does not exist in America/New_York: does not run", Ended: at(spring), UID: incarnation,
		Schedule: 1, Progress: scheduler.Progress{Seen: at(spring)},
	}}
	if diff := cmp.Diff(want, d.Step.Records); diff != "" {
		t.Error("the record of the gap (-want +got)\n" + diff)
	}
	mustSay(t, "the instant waits with the gap behind it", progressSaid(d.Step.Next.Progress), "seen "+spring)
}

// TestGapsMissed covers gaps among skipped times.
func TestGapsMissed(t *testing.T) {
	j, skips := jobPut(t, eve, hourly), jobPut(t, eve, hourly+catchUp("skip", ""))
	sunday := jobPut(t, eve, nightly)
	const gone = "skipped for dst 1 at " + spring
	mustDecide(t, []decideRow{
		{
			"the latest runs", j, false, baton(j, "2026-03-08T05:00:00Z", seen("2026-03-08T04:00:00Z")), "2026-03-08T09:10:00Z",
			"run 2026-03-08T09:00:00Z (later); " + gone + "; skipped for catchUp 4 from 2026-03-08T05:00:00Z to 2026-03-08T08:00:00Z",
		},
		{
			"the latest is where the clock has jumped", j, false, baton(j, "2026-03-08T05:00:00Z", seen("2026-03-08T04:00:00Z")), "2026-03-08T07:10:00Z",
			"run 2026-03-08T07:00:00Z (later); skipped for catchUp 2 from 2026-03-08T05:00:00Z to 2026-03-08T06:00:00Z; " + gone,
		},
		{
			"none runs", skips, false, baton(skips, "2026-03-08T05:00:00Z", seen("2026-03-08T04:00:00Z")), "2026-03-08T09:10:00Z",
			"skip; " + gone + "; skipped for catchUp 5 from 2026-03-08T05:00:00Z to 2026-03-08T09:00:00Z; next 2026-03-08T10:00:00Z",
		},
		{
			"the collection is closed", j, true, baton(j, "2026-03-08T05:00:00Z", seen("2026-03-08T04:00:00Z")), "2026-03-08T09:10:00Z",
			"skip; postponed 5 from 2026-03-08T05:00:00Z to 2026-03-08T09:00:00Z; " + gone + "; next 2026-03-08T10:00:00Z postponed",
		},
		{
			"the clock has jumped right at the first one, which is recorded once", j, false, baton(j, spring, seen("2026-03-08T06:00:00Z"), gapAt(spring)), "2026-03-08T09:10:00Z",
			"run 2026-03-08T09:00:00Z (later); " + gone + "; skipped for catchUp 2 from " + spring + " to 2026-03-08T08:00:00Z",
		},
		{
			"likewise, and none runs", skips, false, baton(skips, spring, seen("2026-03-08T06:00:00Z"), gapAt(spring)), "2026-03-08T09:10:00Z",
			"skip; " + gone + "; skipped for catchUp 3 from " + spring + " to 2026-03-08T09:00:00Z; next 2026-03-08T10:00:00Z",
		},
		{
			"likewise, and the collection is closed", j, true, baton(j, spring, seen("2026-03-08T06:00:00Z"), gapAt(spring)), "2026-03-08T09:10:00Z",
			"skip; " + gone + "; postponed 3 from " + spring + " to 2026-03-08T09:00:00Z; next 2026-03-08T10:00:00Z postponed",
		},
		{
			"the next one has the gap before it", sunday, true, baton(sunday, saturday), saturday,
			"skip; postponed 1 at " + saturday + "; next " + monday + " postponed gap " + spring,
		},
	})
}

// TestGapAtTheEnd checks that a gap after the last time, for which no baton waits, is recorded with that time.
func TestGapAtTheEnd(t *testing.T) {
	j := jobPut(t, "2026-03-06T12:00:00Z", newYork+`{"cron": "30 2 * * *", "endTime": "2026-03-08T20:00:00Z"}`)
	d := scheduler.Decide(j, false, baton(j, saturday), at(saturday))
	mustSay(t, "the last instant", said(d), "skip; postponed 1 at "+saturday+"; skipped for dst 1 at "+spring+"; no baton, completed")
}

// TestPassRecordedGaps removes recorded gaps from a baton.
func TestPassRecordedGaps(t *testing.T) {
	j, other := jobPut(t, eve, nightly), jobPut(t, eve, hourly)
	recorded := map[int64]bool{at(spring).Unix(): true}
	for name, test := range map[string]struct {
		j        *scheduler.Job
		b        scheduler.Baton
		recorded map[int64]bool
		want     string
	}{
		"none is recorded":         {j, baton(j, monday, gapAt(spring)), nil, monday + " gap " + spring},
		"it is recorded":           {j, baton(j, monday, gapAt(spring)), recorded, monday},
		"that at the instant, too": {other, baton(other, spring, gapAt(spring)), recorded, spring},
		"there is none":            {j, baton(j, monday), recorded, monday},
	} {
		b := test.j.PassRecordedGaps(test.b, test.recorded)
		mustSay(t, name, batonSaid(&b), test.want)
	}
	b := j.PassRecordedGaps(baton(j, monday, gapAt(spring)), recorded)
	mustSay(t, "what is recorded is behind it", progressSaid(b.Progress), "seen "+spring)
}

// TestRestart checks that gaps before an edit belong to the previous schedule.
func TestRestart(t *testing.T) {
	old := jobPut(t, eve, nightly)
	waits := baton(old, monday, seen(saturday), gapAt(spring))
	const after, before = "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z"
	daily := newYork + `{"cron": "0 4 * * *"}`
	for name, test := range map[string]struct {
		j, old *scheduler.Job
		b      scheduler.Baton
		want   string
	}{
		"edited after the gap":                        {edited(t, old, after, daily), old, waits, "skipped for dst 1 at " + spring + "; next 2026-03-09T08:00:00Z"},
		"edited before the gap":                       {edited(t, old, before, daily), old, waits, "next 2026-03-08T08:00:00Z"},
		"edited before the gap, to a pattern with it": {edited(t, old, before, newYork+`{"cron": "45 2 * * *"}`), old, waits, "next 2026-03-09T06:45:00Z gap " + spring},
		"there is no gap":                             {edited(t, old, after, daily), old, baton(old, monday), "next 2026-03-09T08:00:00Z"},
		"the schedule before is not kept":             {edited(t, old, after, daily), edited(t, old, after, daily), waits, "next 2026-03-09T08:00:00Z"},
	} {
		mustSay(t, name, said(test.j.Restart(test.old, true, test.b, at("2026-03-08T13:00:00Z"))), "proceed; "+test.want)
	}
	j := edited(t, old, after, daily)
	d := j.Restart(old, true, baton(old, monday, ran(3), seen(saturday)), at("2026-03-08T13:00:00Z"))
	mustSay(t, "its count begins again", progressSaid(d.Step.Next.Progress), "begun 3")
}
