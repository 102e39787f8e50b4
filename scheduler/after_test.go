package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// Actions of jobs, which precede their timing.
const (
	noRetry     = `"action": {"type": "None", "target": "target:80", "retryPolicy": {"retryType": "none"}}, `
	twoRetries  = `"action": {"type": "None", "target": "target:80", "retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 2}}, `
	errorAction = `"action": {"type": "None", "target": "target:80", "retryPolicy": {"retryType": "none"}, "errorAction": ` +
		`{"type": "None", "target": "other:80", "retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 1}}}, `
	finalOnNone = `"action": {"type": "None", "retryPolicy": {"retryInterval": "PT10S", "finalOn": []}}, `
)

// Results of attempts, after one second.
var (
	succeeds   = scheduler.Result{Status: 200, Message: "fine", Duration: time.Second}
	fails      = scheduler.Result{Failed: true, Status: 500, Message: "out of order", Summary: "order", Duration: time.Second}
	failsFinal = scheduler.Result{Failed: true, Final: true, Status: 404, Message: "no such thing", Duration: time.Second}
	asksLater  = scheduler.Result{Failed: true, Status: 503, RetryAfter: time.Minute, Duration: time.Second}
)

// lasting returns res with a duration.
func lasting(d time.Duration, res scheduler.Result) scheduler.Result {
	res.Duration = d
	return res
}

// try sets the number of tries of a baton's occurrence.
func try(n int) change {
	return func(b *scheduler.Baton) {
		*b = b.Begin()
		b.Try, b.Attempt = n-1, n-1
	}
}

// inErrorAction moves a baton to the n-th try of the errorAction, after one try of the action.
func inErrorAction(n int) change {
	return func(b *scheduler.Baton) {
		*b = b.Begin()
		b.Try, b.Attempt, b.Phase = n, n-1, scheduler.ErrorPhase
		b.Failed = &scheduler.Failure{Status: 500, Attempts: 1, Message: "out of order", Summary: "order"}
	}
}

// An afterRow is an ended attempt.
type afterRow struct {
	name    string
	ran     *scheduler.Job // the definition it ran under
	now     *scheduler.Job // its job as it is now
	baton   scheduler.Baton
	started string
	res     scheduler.Result
	want    string
}

// after returns the decision and the counted baton.
func (r *afterRow) after() scheduler.Decision {
	rec, b := scheduler.AttemptRecord(r.ran, r.baton, at(r.started), r.res)
	return scheduler.After(r.ran, r.now, b, r.res, rec.Ended)
}

func mustFollow(t *testing.T, rows []afterRow) {
	t.Helper()
	for _, row := range rows {
		d := row.after()
		mustSay(t, row.name, said(d), row.want)
		if n := strings.Count(strings.Join(recordsSaid(d.Step.Records), " "), "faulted"); n > 1 {
			t.Errorf("%s: it faulted %d times", row.name, n)
		}
	}
}

// TestAfterSuccess covers successful attempts.
func TestAfterSuccess(t *testing.T) {
	j, one, three, last := job(t, minutely), job(t, once), job(t, thrice), job(t, ending)
	all, tries := job(t, minutely+catchUp("all", "")), job(t, twoRetries+minutely)
	long := lasting(200*time.Second, succeeds)
	mustFollow(t, []afterRow{
		{"the schedule goes on", j, j, baton(j, "09:00:00"), "09:00:00", succeeds, "proceed; next 09:01:00"},
		{"a retry that succeeds is as good", j, j, baton(j, "09:00:00", try(3)), "09:00:20", succeeds, "proceed; next 09:01:00"},
		{"a one-shot is completed", one, one, baton(one, "09:00:00"), "09:00:00", succeeds, "proceed; no baton, completed"},
		{"a count is not used up", three, three, baton(three, "09:00:00", ran(1)), "09:00:00", succeeds, "proceed; next 09:01:00"},
		{"a count is used up", three, three, baton(three, "09:00:00", ran(2)), "09:00:00", succeeds, "proceed; no baton, completed"},
		{"a schedule has an end", last, last, baton(last, "09:02:00"), "09:02:00", succeeds, "proceed; no baton, completed"},
		{"the clock was set back by an hour while it ran", j, j, baton(j, "09:00:00"), "08:00:00", succeeds, "proceed; next 09:01:00"},
		{"it ended as the next one falls due", j, j, baton(j, "09:00:00"), "09:00:59", succeeds, "proceed; next 09:01:00"},

		{"one fell due while it ran", j, j, baton(j, "09:00:00"), "09:00:59.5", succeeds, "proceed; skipped for overlap 1 at 09:01:00; next 09:02:00"},
		{"three fell due while it ran", j, j, baton(j, "09:00:00"), "09:00:00", long, "proceed; skipped for overlap 3 from 09:01:00 to 09:03:00; next 09:04:00"},
		{"the rest of the schedule fell due while it ran", last, last, baton(last, "09:00:00"), "09:00:00", long, "proceed; skipped for overlap 2 from 09:01:00 to 09:02:00; no baton, completed"},
		{"what falls due when a count is used up is none of it", three, three, baton(three, "09:00:00", ran(2)), "09:00:00", long, "proceed; no baton, completed"},
		{"three fell due while its target deferred it", j, j, baton(j, "09:00:00", deferred("09:03:19")), "09:03:19", succeeds, "proceed; skipped for postponed 3 from 09:01:00 to 09:03:00; next 09:04:00"},
		{"three fell due while it ran, after its condition held", j, j, baton(j, "09:00:00", unmet("09:00:30")), "09:00:30", long, "proceed; skipped for overlap 3 from 09:01:00 to 09:03:00; next 09:04:00"},
		{"a retry waits for no condition", tries, tries, baton(tries, "09:00:00", unmet("09:00:30")), "09:00:30", fails, "proceed; next 09:00:00 due 09:00:41 try 2"},
		{"catch-up all runs them after it", all, all, baton(all, "09:00:00"), "09:00:00", long, "proceed; next 09:01:00"},
	})
}

// TestAfterSkipsKeepJitter checks that a time whose jitter has not elapsed is no overlap.
func TestAfterSkipsKeepJitter(t *testing.T) {
	j := job(t, minutely+`, "jitter": "PT40S"`)
	row := afterRow{ran: j, now: j, baton: baton(j, "09:00:00"), started: "09:00:00", res: lasting(180*time.Second+time.Millisecond, succeeds)}
	d := row.after()
	mustSay(t, "the jitter of the last one is to come", strings.Join(recordsSaid(d.Step.Records), "; "), "skipped for overlap 2 from 09:01:00 to 09:02:00")
	if n := d.Step.Next; !n.Nominal.Equal(at("09:03:00")) || n.Due.Sub(n.Nominal) < time.Millisecond {
		t.Errorf("next %s", batonSaid(n))
	}
	row.res = lasting(220*time.Second, succeeds)
	mustSay(t, "its jitter is over", strings.Join(recordsSaid(row.after().Step.Records), "; "), "skipped for overlap 3 from 09:01:00 to 09:03:00")
}

// TestAfterFailure covers failed attempts.
func TestAfterFailure(t *testing.T) {
	none, two, handled, strict := job(t, noRetry+minutely), job(t, twoRetries+minutely), job(t, errorAction+minutely), job(t, finalOnNone+minutely)
	one, oneHandled, three := job(t, twoRetries+once), job(t, errorAction+once), job(t, noRetry+thrice)
	mustFollow(t, []afterRow{
		{"it is retried", two, two, baton(two, "09:00:00"), "09:00:00", fails, "proceed; next 09:00:00 due 09:00:11 try 2"},
		{"it is retried again", two, two, baton(two, "09:00:00", try(2)), "09:00:11", fails, "proceed; next 09:00:00 due 09:00:22 try 3"},
		{"later, if the target asks for it", two, two, baton(two, "09:00:00"), "09:00:00", asksLater, "proceed; next 09:00:00 due 09:01:01 try 2"},
		{"a retry is deferred no more", two, two, baton(two, "09:00:00", deferred("09:00:30")), "09:00:30", fails, "proceed; next 09:00:00 due 09:00:41 try 2"},
		{"its retries are used up", two, two, baton(two, "09:00:00", try(3)), "09:00:22", fails, "proceed; faulted 09:00:00; next 09:01:00"},
		{"it has none", none, none, baton(none, "09:00:00"), "09:00:00", fails, "proceed; faulted 09:00:00; next 09:01:00"},
		{"while it was retried, two fell due", two, two, baton(two, "09:00:00", try(3)), "09:02:30", fails, "proceed; faulted 09:00:00; skipped for overlap 2 from 09:01:00 to 09:02:00; next 09:03:00"},
		{"no retry could help", two, two, baton(two, "09:00:00"), "09:00:00", failsFinal, "proceed; faulted 09:00:00; next 09:01:00"},
		{"but the job wants it", strict, strict, baton(strict, "09:00:00"), "09:00:00", failsFinal, "proceed; next 09:00:00 due 09:00:11 try 2"},
		{"a one-shot has faulted", one, one, baton(one, "09:00:00", try(3)), "09:00:22", fails, "proceed; faulted 09:00:00; no baton, faulted"},
		{"a job whose last occurrence faulted has, too", three, three, baton(three, "09:02:00", ran(2)), "09:02:00", fails, "proceed; faulted 09:02:00; no baton, faulted"},

		{"its errorAction is next, at once", handled, handled, baton(handled, "09:00:00"), "09:00:00", fails, "proceed; next 09:00:00 due 09:00:01 try 2 of the errorAction"},
		{"its errorAction is next, if no retry could help", handled, handled, baton(handled, "09:00:00"), "09:00:00", failsFinal, "proceed; next 09:00:00 due 09:00:01 try 2 of the errorAction"},
		{"its errorAction succeeded", handled, handled, baton(handled, "09:00:00", inErrorAction(1)), "09:00:01", succeeds, "proceed; faulted 09:00:00; next 09:01:00"},
		{"its errorAction is retried", handled, handled, baton(handled, "09:00:00", inErrorAction(1)), "09:00:01", fails, "proceed; next 09:00:00 due 09:00:12 try 3 of the errorAction"},
		{"its errorAction failed, too", handled, handled, baton(handled, "09:00:00", inErrorAction(2)), "09:00:12", fails, "proceed; faulted 09:00:00; next 09:01:00"},
		{"the errorAction of a one-shot succeeded", oneHandled, oneHandled, baton(oneHandled, "09:00:00", inErrorAction(1)), "09:00:01", succeeds, "proceed; faulted 09:00:00; no baton, faulted"},
		{"the errorAction of a one-shot failed", oneHandled, oneHandled, baton(oneHandled, "09:00:00", inErrorAction(2)), "09:00:12", fails, "proceed; faulted 09:00:00; no baton, faulted"},
	})
}

// TestRetryBaton checks that the baton of a retry keeps the occurrence's state, and no deferral.
func TestRetryBaton(t *testing.T) {
	two, handled := job(t, twoRetries+minutely), job(t, errorAction+minutely)
	away := func(b *scheduler.Baton) {
		b.DeferredUntil, b.DeferredSince, b.DeferralRecorded = at("09:00:30"), at("09:00:05"), true
	}
	for _, row := range []struct {
		row    afterRow
		change change // from the baton whose attempt failed
	}{
		{afterRow{"a retry", two, two, baton(two, "09:00:00", try(2), away), "09:00:30", fails, ""}, func(b *scheduler.Baton) {
			b.Try, b.Attempt, b.Due = 2, 2, at("09:00:41")
		}},
		{afterRow{"the errorAction", handled, handled, baton(handled, "09:00:00", away), "09:00:30", fails, ""}, func(b *scheduler.Baton) {
			b.Try, b.Phase, b.Failed, b.Due = 1, scheduler.ErrorPhase, &scheduler.Failure{
				Status: 500, Attempts: 1, Message: "out of order", Summary: "order", Due: at("09:00:00"), Started: at("09:00:30"), Ended: at("09:00:31"),
			}, at("09:00:31")
		}},
		{afterRow{"a retry of the errorAction", handled, handled, baton(handled, "09:00:00", inErrorAction(1), away), "09:00:30", fails, ""}, func(b *scheduler.Baton) {
			b.Try, b.Attempt, b.Due = 2, 1, at("09:00:41")
		}},
	} {
		_, want := scheduler.AttemptRecord(row.row.ran, row.row.baton, at(row.row.started), row.row.res)
		want.DeferredUntil, want.DeferredSince, want.DeferralRecorded = time.Time{}, time.Time{}, false
		row.change(&want)
		if diff := cmp.Diff(&want, row.row.after().Step.Next); diff != "" {
			t.Errorf("%s (-want +got)\n%s", row.row.name, diff)
		}
	}
}

// TestFailureKnown checks that an errorAction receives the failure of its action, cut at 2,048 bytes.
func TestFailureKnown(t *testing.T) {
	j := job(t, errorAction+minutely)
	for name, row := range map[string]struct{ message, want string }{
		"a line":                          {"out of order", "out of order"},
		"as long as it may be":            {strings.Repeat("x", 2048), strings.Repeat("x", 2048)},
		"longer":                          {strings.Repeat("x", 2049), strings.Repeat("x", 2048)},
		"longer, and cut in a character":  {strings.Repeat("x", 2047) + "é", strings.Repeat("x", 2047)},
		"longer, and cut in a larger one": {strings.Repeat("x", 2045) + "🔔", strings.Repeat("x", 2045)},
		"longer, and cut behind one":      {strings.Repeat("x", 2044) + "🔔🔔", strings.Repeat("x", 2044) + "🔔"},
	} {
		row := afterRow{ran: j, now: j, baton: baton(j, "09:00:00"), started: "09:00:00", res: scheduler.Result{Failed: true, Status: 500, Message: row.message}, want: row.want}
		nine := at("09:00:00")
		want := &scheduler.Failure{Status: 500, Attempts: 1, Message: row.want, Due: nine, Started: nine, Ended: nine}
		if diff := cmp.Diff(want, row.after().Step.Next.Failed); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestAfterMeanwhile covers jobs that were changed during an attempt.
func TestAfterMeanwhile(t *testing.T) {
	j, none := job(t, twoRetries+minutely), job(t, noRetry+minutely)
	off := in(scheduler.Disabled, j)
	hourly := edited(t, j, "08:59:00", noRetry+`"startTime": "2026-03-02T09:30:00Z", "recurrence": {"frequency": "Hour"}`)
	unstarted := edited(t, j, "09:00:00.5", noRetry+`"recurrence": {"frequency": "Hour"}`)
	stricter, milder := edited(t, j, "08:59:00", noRetry+minutely), edited(t, none, "08:59:00", twoRetries+minutely)
	long := lasting(200*time.Second, succeeds)
	all := job(t, noRetry+minutely+`, "catchUp": {"policy": "all"}`)
	allOff := in(scheduler.Disabled, edited(t, all, "09:02:30", noRetry+`"startTime": "2026-03-02T09:30:00Z", "recurrence": {"frequency": "Hour"}, "catchUp": {"policy": "all"}`))
	onceOff := in(scheduler.Disabled, edited(t, j, "09:00:30", noRetry+`"startTime": "2026-03-02T09:00:30Z"`))
	mustFollow(t, []afterRow{
		{"disabled, and all that fell due was to be made up for", all, in(scheduler.Disabled, all), baton(all, "09:00:00"), "09:00:00", long, "proceed; skipped for disabled 3 from 09:01:00 to 09:03:00; no baton, disabled"},
		{"edited to run once, and then disabled", j, onceOff, baton(j, "09:00:00"), "09:00:00", lasting(50*time.Second, succeeds), "proceed; skipped for disabled 1 at 09:00:30; no baton, disabled"},
		{"edited and disabled, and all that fell due was to be made up for", all, allOff, baton(all, "09:00:00"), "09:00:00", long, "proceed; skipped for disabled 2 from 09:01:00 to 09:02:00; no baton, disabled"},
		{"disabled during a run by hand, and some fell due", j, off, baton(j, "09:00:07", byHand("09:01:00")), "09:00:07", long, "proceed; skipped for overlap 3 from 09:01:00 to 09:03:00; no baton, disabled"},
		{"disabled", j, off, baton(j, "09:00:00"), "09:00:00", succeeds, "proceed; no baton, disabled"},
		{"disabled: it is retried all the same", j, off, baton(j, "09:00:00"), "09:00:00", fails, "proceed; next 09:00:00 due 09:00:11 try 2, disabled"},
		{"disabled, and it faulted", j, off, baton(j, "09:00:00", try(3)), "09:00:00", fails, "proceed; faulted 09:00:00; no baton, disabled"},
		{"disabled, and some fell due", j, off, baton(j, "09:00:00"), "09:00:00", long, "proceed; skipped for overlap 3 from 09:01:00 to 09:03:00; no baton, disabled"},
		{"another schedule begins", j, hourly, baton(j, "09:00:00"), "09:00:00", succeeds, "proceed; next 09:30:00"},
		{"another schedule begins, without a start", j, unstarted, baton(j, "09:00:00"), "09:00:00", succeeds, "proceed; next 10:00:00.5"},
		{"another schedule begins after the retries", j, hourly, baton(j, "09:00:00"), "09:00:00", fails, "proceed; next 09:00:00 due 09:00:11 try 2"},
		{"another schedule begins after a run by hand", j, hourly, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds, "proceed; next 09:30:00"},
		{"fewer retries: those it began with count", j, stricter, baton(j, "09:00:00"), "09:00:00", fails, "proceed; next 09:00:00 due 09:00:11 try 2"},
		{"more retries: those it began with count", none, milder, baton(none, "09:00:00"), "09:00:00", fails, "proceed; faulted 09:00:00; next 09:01:00"},
		{"at its end, which is written", j, in(scheduler.Completed, j), baton(j, "09:00:00"), "09:00:00", fails, "drop"},
		{"at its end, by hand", j, in(scheduler.Faulted, j), baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds, "drop"},
		{"its definition is gone", j, nil, baton(j, "09:00:00"), "09:00:00", succeeds, "astray"},
		{"deleted, and its name used again", j, namesake(j), baton(j, "09:00:00"), "09:00:00", succeeds, "orphan"},
	})
	if d := scheduler.After(nil, nil, baton(j, "09:00:00"), succeeds, at("09:00:01")); d.Verdict != scheduler.Astray {
		t.Errorf("deleted, and its definition, too: %s", said(d))
	}
}

// TestAfterMoves covers schedules that count from executions.
func TestAfterMoves(t *testing.T) {
	recur := job(t, once+`, "recurrence": {"cron": "@recur 10 minutes"}`)
	anchored := job(t, once+`, "recurrence": {"frequency": "Minute", "interval": 10, "anchor": "lastExecution"}`)
	grid := job(t, once+`, "recurrence": {"cron": "@recur 10 minutes", "anchor": "grid"}`)
	based := func(start string) func(*scheduler.Baton) { return func(b *scheduler.Baton) { b.Base = at(start) } }
	mustFollow(t, []afterRow{
		{"@recur: on time", recur, recur, baton(recur, "09:10:00"), "09:10:00.9", succeeds, "proceed; next 09:20:00"},
		{"@recur: late by less than a minute", recur, recur, baton(recur, "09:10:00"), "09:10:50.5", succeeds, "proceed; next 09:20:50.5"},
		{"@recur: late, with retries", recur, recur, baton(recur, "09:10:00", try(2), based("09:10:09")), "09:11:30", succeeds, "proceed; next 09:20:09"},
		{"@recur: on time, with retries", recur, recur, baton(recur, "09:10:00", try(2)), "09:11:30", succeeds, "proceed; next 09:20:00"},
		{"@recur: a retry is as long as the interval", recur, recur, baton(recur, "09:10:00", try(2), based("09:10:09")), "09:20:30", succeeds, "proceed; skipped for overlap 1 at 09:20:09; next 09:30:09"},
		{"@recur: by hand, with retries", recur, recur, baton(recur, "09:13:07", byHand("09:20:00"), try(2), based("09:13:08")), "09:14:00", succeeds, "proceed; next 09:23:08"},
		{"@recur on the grid: late", grid, grid, baton(grid, "09:10:00"), "09:12:00", succeeds, "proceed; next 09:20:00"},
		{"@recur on the grid: by hand", grid, grid, baton(grid, "09:13:07", byHand("09:20:00")), "09:13:07", succeeds, "proceed; next 09:20:00"},
		{"@recur: late by a minute", recur, recur, baton(recur, "09:10:00"), "09:11:00", succeeds, "proceed; next 09:21:00"},
		{"@recur: by hand", recur, recur, baton(recur, "09:13:07", byHand("09:20:00")), "09:13:07", succeeds, "proceed; next 09:23:07"},
		{"@recur: by hand, and long", recur, recur, baton(recur, "09:13:07", byHand("09:20:00")), "09:13:07", lasting(15*time.Minute, succeeds), "proceed; skipped for overlap 1 at 09:23:07; next 09:33:07"},
		{"the last execution: on time", anchored, anchored, baton(anchored, "09:10:00"), "09:10:00", succeeds, "proceed; next 09:20:00"},
		{"the last execution: late", anchored, anchored, baton(anchored, "09:10:00"), "09:14:00", succeeds, "proceed; next 09:24:00"},
		{"the last execution: a retry moves nothing", anchored, anchored, baton(anchored, "09:10:00", try(2), based("09:10:01")), "09:14:00", succeeds, "proceed; next 09:20:01"},
		{"the last execution: by hand", anchored, anchored, baton(anchored, "09:13:07", byHand("09:20:00")), "09:13:07", succeeds, "proceed; next 09:23:07"},
	})
}

// TestAfterCounts follows the progress of a job through its attempts.
func TestAfterCounts(t *testing.T) {
	j := job(t, twoRetries+minutely)
	had := func(b *scheduler.Baton) { b.Ran = at("08:59:00") }
	for _, test := range []struct {
		row  afterRow
		want string
	}{
		{afterRow{"the first attempt counts its occurrence", j, j, baton(j, "09:00:00", had), "09:00:00.1", succeeds, ""}, "begun 1; runs 1; attempts 1; last 09:00:00.1; seen 09:00:00; ran 09:00:00; prior 08:59:00"},
		{afterRow{"a failure is counted", j, j, baton(j, "09:00:00"), "09:00:00", fails, ""}, "begun 1; runs 1; attempts 1; failed 1; last 09:00:00; seen 09:00:00; ran 09:00:00"},
		{afterRow{"a retry is of the same occurrence", j, j, baton(j, "09:00:00", try(2)), "09:00:11", fails, ""}, "begun 1; runs 1; attempts 1; failed 1; last 09:00:11; seen 09:00:00; ran 09:00:00"},
		{afterRow{"a fault is counted", j, j, baton(j, "09:00:00", try(3)), "09:00:22", fails, ""}, "begun 1; runs 1; attempts 1; failed 1; faults 1; last 09:00:22; seen 09:00:00; ran 09:00:00"},
		{afterRow{"a run by hand is none of the schedule", j, j, baton(j, "08:50:07", byHand("09:00:00"), seen("08:49:00")), "08:50:07", succeeds, ""}, "begun 1; attempts 1; last 08:50:07; seen 08:49:00; ran 08:50:07"},
		{afterRow{"what is skipped is seen", j, j, baton(j, "09:00:00"), "09:00:00", lasting(200*time.Second, succeeds), ""}, "begun 1; runs 1; attempts 1; last 09:00:00; seen 09:03:00; ran 09:00:00"},
	} {
		d := test.row.after()
		mustSay(t, test.row.name, progressSaid(d.Step.Progress), test.want)
		if diff := cmp.Diff(d.Step.Progress, d.Step.Next.Progress); diff != "" {
			t.Errorf("%s: the next baton has another progress\n%s", test.row.name, diff)
		}
		for _, r := range d.Step.Records {
			if diff := cmp.Diff(d.Step.Progress, r.Progress); diff != "" {
				t.Errorf("%s: the record of %s has another progress\n%s", test.row.name, r.Outcome, diff)
			}
		}
	}
	moved := job(t, once+`, "recurrence": {"cron": "@recur 10 minutes"}`)
	row := afterRow{"", moved, moved, baton(moved, "09:10:00"), "09:12:00", succeeds, ""}
	mustSay(t, "an execution that moves the schedule is its base", progressSaid(row.after().Step.Progress),
		"begun 1; runs 1; attempts 1; last 09:12:00; seen 09:10:00; base 09:12:00; ran 09:10:00")
}
