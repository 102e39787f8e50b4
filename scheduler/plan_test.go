package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestBegin plans the first baton of a schedule.
func TestBegin(t *testing.T) {
	const startless = `"recurrence": {"frequency": "Hour"}`
	j := job(t, minutely)
	for name, test := range map[string]struct {
		j    *scheduler.Job
		want string
	}{
		"at its start":                           {j, "next 09:00:00"},
		"a one-shot":                             {job(t, once), "next 09:00:00"},
		"without a start: at once":               {job(t, startless), "next 08:00:00"},
		"a one-shot without a start: at once":    {job(t, ""), "next 08:00:00"},
		"edited, without a start: not at once":   {edited(t, j, "08:30:00", startless), "next 09:30:00"},
		"edited to a one-shot: at once":          {edited(t, j, "08:30:00", ""), "next 08:30:00"},
		"edited, and its start has passed":       {edited(t, j, "09:30:30", minutely), "next 09:00:00"},
		"it never runs":                          {job(t, once+`, "recurrence": {"rrule": "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}`), "no baton, completed"},
		"disabled: it has a baton none the less": {in(scheduler.Disabled, j), "next 09:00:00, disabled"},
		"before a change of the clock":           {jobPut(t, "2026-03-07T12:00:00Z", nightly), "next " + monday + " gap " + spring},
	} {
		mustSay(t, name, stepSaid(test.j.Begin(scheduler.Progress{}, at("08:00:00"))), test.want)
	}
	s := j.Begin(scheduler.Progress{Number: 5, Runs: 3, Executions: 9, Failures: 2, Faults: 1, Seen: at("08:00:00"), Base: at("08:00:00")}, at("08:00:00"))
	mustSay(t, "the count begins again, the counters stay", progressSaid(s.Next.Progress), "begun 5; attempts 9; failed 2; faults 1")
}

// TestRejoin plans the next baton of a job that was disabled until a quarter past nine.
func TestRejoin(t *testing.T) {
	j, one, three, all := job(t, minutely), job(t, once), job(t, thrice), job(t, minutely+catchUp("all", ""))
	startless, late := job(t, `"recurrence": {"frequency": "Hour"}`), job(t, `"startTime": "2026-03-02T09:30:00Z", "recurrence": {"frequency": "Minute"}`)
	last := job(t, ending)
	seenAt := func(when string) scheduler.Progress { return scheduler.Progress{Number: 1, Runs: 1, Seen: at(when)} }
	for _, row := range []struct {
		name string
		job  *scheduler.Job
		p    scheduler.Progress
		want string
	}{
		{"what fell due is skipped", j, seenAt("09:10:00"), "skipped for disabled 5 from 09:11:00 to 09:15:00; next 09:16:00"},
		{"even if all are caught up", all, seenAt("09:10:00"), "skipped for disabled 5 from 09:11:00 to 09:15:00; next 09:16:00"},
		{"nothing fell due", j, seenAt("09:15:00"), "next 09:16:00"},
		{"it never ran: what fell due is skipped", j, scheduler.Progress{}, "skipped for disabled 16 from 09:00:00 to 09:15:00; next 09:16:00"},
		{"it never ran, and begins later", late, scheduler.Progress{}, "next 09:30:00"},
		{"it never ran, and has no start", startless, scheduler.Progress{}, "skipped for disabled 2 from 08:00:00 to 09:00:00; next 10:00:00"},
		{"it ran, but the schedule saw nothing", j, scheduler.Progress{Number: 1, Runs: 1}, "no baton, completed"},
		{"what is skipped uses up no count", three, seenAt("09:00:00"), "skipped for disabled 15 from 09:01:00 to 09:15:00; next 09:16:00"},
		{"a count is used up", three, scheduler.Progress{Number: 3, Runs: 3, Seen: at("09:02:00")}, "no baton, completed"},
		{"the schedule is over", last, seenAt("09:00:00"), "skipped for disabled 2 from 09:01:00 to 09:02:00; no baton, completed"},
		{"a one-shot that has not run, runs", one, scheduler.Progress{}, "next 09:00:00"},
		{"a one-shot that was skipped, runs", one, scheduler.Progress{Seen: at("09:00:00")}, "next 09:00:00"},
		{"a one-shot that has run does not", one, seenAt("09:00:00"), "no baton, completed"},
	} {
		mustSay(t, row.name, stepSaid(row.job.ResumeSchedule(row.p, at("09:15:30"))), row.want)
	}
	s := j.ResumeSchedule(seenAt("09:10:00"), at("09:15:30"))
	mustSay(t, "what is skipped is seen", progressSaid(s.Next.Progress), "begun 1; runs 1; seen 09:15:00")

	night := jobPut(t, eve, hourly)
	s = night.ResumeSchedule(scheduler.Progress{Seen: at("2026-03-08T05:00:00Z")}, at("2026-03-08T08:30:00Z"))
	mustSay(t, "the clock jumped while it was disabled", stepSaid(s),
		"skipped for dst 1 at "+spring+"; skipped for disabled 3 from 2026-03-08T06:00:00Z to 2026-03-08T08:00:00Z; next 2026-03-08T09:00:00Z")
}

// TestJitter checks that the due time is deterministic, differs between occurrences, and never reaches the next one.
func TestJitter(t *testing.T) {
	j, wide := job(t, minutely+`, "jitter": "PT50S"`), job(t, minutely+`, "jitter": "PT10M"`)
	b := baton(j, "09:00:00")
	b.Revision--
	jitters := map[time.Duration]bool{}
	for _, test := range []struct {
		j    *scheduler.Job
		most time.Duration
	}{{j, 50 * time.Second}, {wide, time.Minute}} {
		for nominal := at("09:00:00"); nominal.Before(at("09:20:00")); nominal = nominal.Add(time.Minute) {
			b.Nominal = nominal
			next := func() *scheduler.Baton {
				_, s := test.j.Replan(scheduler.Enabled, scheduler.Found{Waiting: &b}, at("08:00:00"))
				return s.Next
			}
			first, second := next(), next()
			jitter := first.Due.Sub(nominal)
			if jitter < 0 || jitter >= test.most || !first.Due.Equal(second.Due) {
				t.Errorf("%s is due %s later, at most %s; then at %s", clock(nominal), jitter, test.most, clock(second.Due))
			}
			jitters[jitter] = true
		}
	}
	if len(jitters) < 30 {
		t.Errorf("%d jitters of 40 occurrences", len(jitters))
	}
	one := job(t, once+`, "jitter": "PT10M"`)
	if jitter := one.Begin(scheduler.Progress{}, at("08:00:00")).Next.Due.Sub(at("09:00:00")); jitter <= 0 || jitter >= 10*time.Minute {
		t.Errorf("a one-shot is due %s later", jitter)
	}
}
