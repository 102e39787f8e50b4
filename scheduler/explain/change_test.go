package explain_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// changes are known, and the audit trail begins at a time of the day; "" for one that is empty.
func changes(trailBegins string, all ...explain.Change) func(*explain.Question) {
	return func(q *explain.Question) {
		q.Changes = all
		if trailBegins != "" {
			q.Trail = at(trailBegins)
		}
	}
}

// TestWhoDisabled asks about what did not run because somebody had disabled the job, or its collection.
func TestWhoDisabled(t *testing.T) {
	enabled := job(t, "05:00:00", hourly)
	off := in(scheduler.Disabled, enabled, "08:30:00")
	turned := func(when, who string) explain.Change {
		return explain.Change{At: at(when), Kind: explain.JobDisabled, By: who}
	}
	shut := func(when, who string) explain.Change {
		return explain.Change{At: at(when), Kind: explain.CollectionDisabled, By: who}
	}
	skippedAt := func(clock string) func(*explain.Question) {
		return records(omitted(scheduler.OutcomeSkipped, scheduler.ReasonDisabled, clock, clock, 1))
	}
	postponed := records(omitted(scheduler.OutcomePostponed, "", "09:00:00", "09:00:00", 1))
	for _, test := range []struct {
		row

		job *scheduler.Job
		by  string
	}{
		{row{"and edited since", "2026-03-02T08:00Z", changes("05:00:00", turned("07:30:00", "ada"), explain.Change{At: at("08:30:00"), Kind: explain.JobChanged, By: "bob"}), explain.Disabled, []string{"since 2026-03-02T07:30:00Z by ada"}, ""}, off, "ada"},
		{row{"before it was", "2026-03-02T07:00Z", changes("05:00:00", turned("07:30:00", "ada")), explain.Unrecorded, nil, ""}, off, ""},
		{row{"before the trail", "2026-03-02T09:00Z", changes("10:00:00", explain.Change{At: at("08:30:00"), Kind: explain.JobChanged}), explain.Disabled, []string{"the audit log begins at 2026-03-02T10:00:00Z"}, ""}, off, ""},
		{row{"with a trail that is empty", "2026-03-02T09:00Z", changes(""), explain.Disabled, []string{"the audit log has no entry"}, ""}, off, ""},
		{row{"twice, and skipped the first time", "2026-03-02T09:00Z", all(skippedAt("09:00:00"), changes("05:00:00", turned("08:30:00", "ada"), turned("11:00:00", "bob"))), explain.Skipped, []string{"the job was disabled (at 2026-03-02T08:30:00Z by ada)"}, ""}, enabled, "ada"},
		{row{"skipped, before the trail", "2026-03-02T09:00Z", all(skippedAt("09:00:00"), changes("11:00:00", turned("11:30:00", "bob"))), explain.Skipped, []string{"the audit log begins at 2026-03-02T11:00:00Z"}, ""}, enabled, ""},
		{row{"the collection, now", "2026-03-02T12:00Z", all(waiting(baton("12:00:00")), closed, changes("05:00:00", shut("08:00:00", "dora"))), explain.Postponed, []string{"collection default is disabled since 2026-03-02T08:00:00Z by dora"}, ""}, enabled, "dora"},
		{row{"the collection, before the trail", "2026-03-02T12:00Z", all(waiting(baton("12:00:00")), closed, changes("09:00:00")), explain.Postponed, []string{"collection default is disabled, so", "the audit log begins at 2026-03-02T09:00:00Z"}, ""}, enabled, ""},
		{row{"the collection twice, and postponed the first time", "2026-03-02T09:00Z", all(postponed, changes("05:00:00", shut("08:00:00", "dora"), shut("10:00:00", "emil"))), explain.Postponed, []string{"(at 2026-03-02T08:00:00Z by dora)"}, ""}, enabled, "dora"},
	} {
		if a := explained(t, test.job, test.row); a.By != test.by || test.by != "" && a.Since.IsZero() {
			t.Errorf("%s: by %q since %s, want by %q", test.name, a.By, a.Since, test.by)
		}
	}
}

// TestWhoIsTold has how whoever made a change is told of.
func TestWhoIsTold(t *testing.T) {
	now := time.Now()
	for want, e := range map[string]audit.Entry{
		"ada":                                 {By: audit.By{Name: "ada", Via: auth.ViaToken}},
		"ada (unverified name)":               {By: audit.By{Via: auth.ViaNATS}, Claim: "ada"},
		"a client on the scheduler's machine": {By: audit.By{Via: auth.ViaLoopback}},
		"a client of the open API":            {By: audit.By{Via: auth.ViaOpen}},
		"a user of NATS":                      {By: audit.By{Via: auth.ViaNATS}},
		"the scheduler itself":                {By: audit.By{Via: auth.ViaScheduler}},
		"":                                    {},
	} {
		e.Time = now
		if got := explain.ChangeOf(&e, explain.JobDisabled); got != (explain.Change{At: now, Kind: explain.JobDisabled, By: want}) {
			t.Errorf("%+v, want by %q", got, want)
		}
	}
}

// TestRunsBesideTheBaton asks about runs that have batons of their own.
func TestRunsBesideTheBaton(t *testing.T) {
	enabled := job(t, "05:00:00", hourly)
	off := in(scheduler.Disabled, enabled, "08:30:00")
	beside := func(running bool, kind scheduler.Kind, nominal string, changed ...func(*scheduler.Baton)) func(*explain.Question) {
		b := baton(nominal, append(changed, func(b *scheduler.Baton) { b.Kind = kind })...)
		return func(q *explain.Question) { q.Detached = append(q.Detached, explain.Place{Baton: b, Running: running}) }
	}
	const hand, overlap = scheduler.ManualDetached, scheduler.Detached
	for _, test := range []struct {
		row

		job *scheduler.Job
	}{
		{row{"of a disabled job, under way", "2026-03-02T11:59:30Z", beside(true, hand, "11:59:30.5"), explain.Running, []string{"the manual run of 2026-03-02T11:59:30.5Z is with a worker"}, ""}, off},
		{row{"of a disabled job, asked about now", "now", beside(true, hand, "11:59:30"), explain.Running, []string{"the manual run"}, ""}, off},
		{row{"of a disabled job, after an attempt", "2026-03-02T11:59:30Z", beside(false, hand, "11:59:30", begun("12:05:00")), explain.Retrying, []string{"due at 2026-03-02T12:05:00Z"}, ""}, off},
		{row{"of a disabled job, with the record of its attempt", "2026-03-02T11:59:30Z", all(manual("11:59:30"), beside(false, hand, "11:59:30", begun("12:05:00"))), explain.Retrying, []string{"one attempt failed, and the next one is due at 2026-03-02T12:05:00Z"}, ""}, off},
		{row{"of a disabled job, and it waits", "2026-03-02T11:59:30Z", beside(false, hand, "11:59:30", deferred("12:10:00")), explain.Waits, []string{"waits for its target"}, ""}, off},
		{row{"of a disabled job, and another time is meant", "2026-03-02T10:00Z", all(beside(true, hand, "11:59:30"), changes("05:00:00")), explain.Disabled, nil, ""}, off},
		{row{"handed out for too long", "2026-03-02T10:00:05Z", beside(true, hand, "10:00:05"), explain.Overdue, nil, "a scheduler is ready"}, off},
		{row{"overlapping", "2026-03-02T11:00Z", all(waiting(baton("12:30:00")), beside(true, overlap, "11:00:00", begun("11:59:30"))), explain.Running, []string{"the occurrence of 2026-03-02T11:00:00Z is with a worker"}, ""}, enabled},
		{row{"overlapping, and its job was disabled before it began", "2026-03-02T11:00Z", beside(false, overlap, "11:00:00"), explain.Disabled, nil, ""}, off},
		{row{"overlapping, and its job was disabled after it began", "2026-03-02T11:00Z", beside(false, overlap, "11:00:00", begun("12:05:00")), explain.Retrying, nil, ""}, off},
	} {
		explained(t, test.job, test.row)
	}
}

// manual has the record of a failed attempt of a run by hand beside the schedule.
func manual(clock string) func(*explain.Question) {
	r := attempt(clock, 1, scheduler.OutcomeFailed, 0)
	r.Kind = scheduler.ManualDetached
	return records(r)
}
