package explain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// The schedules of the rows.
const (
	hourly   = `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Hour"}`
	minutely = `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Minute"}`
	thrice   = `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Hour", "count": 3}`
	until    = `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Hour", "endTime": "2026-03-02T08:30:00Z"}`
	once     = `"startTime": "2026-03-02T09:00:00Z"`
	costly   = `"recurrence": {"rrule": "DTSTART:20260302T060000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=3,8 RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=7,8,9,10,11,12,13,14;BYMINUTE=0,13,26,39,52` +
		` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=7,8,9,10,11,12,13,14 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=7,8,9,10,11,12,13,14"}`
	nightly = `"timeZone": "America/New_York", "dst": {"gap": "skip"}, "recurrence": {"cron": "30 2 * * *"}`
)

// row is a question, and what its answer must have. It is asked at noon, and the job was put at five.
type row struct {
	name string
	at   string
	ask  func(q *explain.Question)
	code explain.Code
	says []string // in the answer or its notes
	hint string
}

func explained(t *testing.T, j *scheduler.Job, r row) explain.Answer {
	t.Helper()
	q := &explain.Question{Key: key, Now: at("12:00:00"), Zone: time.UTC, Job: j, Kept: at("2026-01-01T00:00:00Z")}
	if j != nil {
		q.Zone = j.Plan.Zone()
	}
	var err error
	if q.Moment, err = explain.ParseMoment(r.at, q.Zone, q.Now); err != nil {
		t.Fatal(err)
	}
	if r.ask != nil {
		r.ask(q)
	}
	a := explain.Explain(q)
	text := a.Answer + "\n" + strings.Join(a.Notes, "\n")
	if a.Code != r.code {
		t.Errorf("%s: code %s, want %s: %s", r.name, a.Code, r.code, text)
	}
	for _, want := range r.says {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in %s", r.name, want, text)
		}
	}
	if !strings.Contains(a.Hint, r.hint) {
		t.Errorf("%s: hint %q, want %q", r.name, a.Hint, r.hint)
	}
	if a.Answer == "" || a.Job != "default/job" || a.At.Location() != time.UTC || a.Local == "" {
		t.Errorf("%s: %+v", r.name, a)
	}
	return a
}

func records(all ...*scheduler.Record) func(*explain.Question) {
	return func(q *explain.Question) { q.Records = all }
}

func waiting(b *scheduler.Baton) func(*explain.Question) {
	return func(q *explain.Question) { q.Baton = b }
}

func running(b *scheduler.Baton) func(*explain.Question) {
	return func(q *explain.Question) { q.Baton, q.Running = b, true }
}

func all(asks ...func(*explain.Question)) func(*explain.Question) {
	return func(q *explain.Question) {
		for _, ask := range asks {
			ask(q)
		}
	}
}

// begun makes of a baton one whose first attempt has failed, with a retry that is due at a time.
func begun(due string) func(*scheduler.Baton) {
	return func(b *scheduler.Baton) { b.Try, b.Attempt, b.Due = 1, 1, at(due) }
}

func unmet(until string) func(*scheduler.Baton) {
	return func(b *scheduler.Baton) { b.DeferredUntil, b.Unmet = at(until), true }
}

func deferred(until string) func(*scheduler.Baton) {
	return func(b *scheduler.Baton) { b.DeferredUntil = at(until) }
}

// triggered makes of a record one of a run that events started.
func triggered(r scheduler.Record) *scheduler.Record {
	r.Kind, r.Cause = scheduler.Triggered, &scheduler.Cause{Event: "sales.orders", Sequence: 7, Count: 2, Key: "k1"}
	return &r
}

// TestWhatTheHistorySays asks about occurrences that are recorded.
func TestWhatTheHistorySays(t *testing.T) {
	const completed, failed, faulted = scheduler.OutcomeCompleted, scheduler.OutcomeFailed, scheduler.OutcomeFaulted
	const skipped, postponed = scheduler.OutcomeSkipped, scheduler.OutcomePostponed
	j := job(t, "05:00:00", hourly)
	good := attempt("09:00:00", 1, completed, 12*time.Millisecond)
	gaveUp := attempt("09:00:00", 2, faulted, 30*time.Second)
	gaveUp.ID = ""
	onError := attempt("09:00:00", 3, completed, 40*time.Second)
	onError.Phase = scheduler.ErrorPhase
	manual := attempt("09:17:03", 1, completed, 0)
	manual.Kind = scheduler.Manual
	jittered := attempt("09:00:00", 1, completed, 20*time.Minute)
	jittered.Due = at("09:20:00")
	waits := attempt("09:00:00", 1, postponed, 0)
	waits.Started, waits.Message = time.Time{}, "the circuit breaker of target:80 is open after failures in a row"
	closed := omitted(postponed, "", "09:00:00", "09:00:00", 1)
	closed.Message = "collection default is disabled"
	foreign := attempt("09:00:00", 1, failed, 0)
	foreign.UID = "fedcba98"
	old := omitted(skipped, scheduler.ReasonCatchUp, "08:00:00", "11:00:00", 4)
	old.Schedule = 7
	for _, r := range []row{
		{"ran", "2026-03-02T09:00Z", records(good), explain.Ran, []string{"one attempt, started at 2026-03-02T09:00:00.012Z, 12ms late", "completed with status 200 of target:80 after 1s"}, ""},
		{"ran, late", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, completed, 5*time.Minute)), explain.Ran, []string{"started 5m0s after it was due"}, ""},
		{"ran, at the second try", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, failed, 0), attempt("09:00:00", 2, completed, 30*time.Second)), explain.Ran, []string{"2 attempts"}, ""},
		{"asked for its jittered time", "2026-03-02T09:20Z", records(jittered), explain.Ran, []string{"2026-03-02T09:20:00Z, delayed by 20m0s (jitter", "and 0s late"}, ""},
		{"asked while it ran", "2026-03-02T09:00:01Z", records(attempt("09:00:00", 1, completed, 300*time.Millisecond)), explain.Ran, nil, ""},
		{"by hand", "2026-03-02T09:17Z", records(manual), explain.Ran, []string{"a manual run"}, ""},
		{"the schedule's comes before one by hand", "2026-03-02T09:00Z", records(good, func() *scheduler.Record { r := *manual; r.Nominal = at("09:00:30"); return &r }()), explain.Ran, []string{"12ms late"}, ""},
		{"failed", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, failed, 0), attempt("09:00:00", 2, failed, 30*time.Second), gaveUp), explain.Failed, []string{"faulted, after 2 attempts", "status 503", "it is away"}, "carillon resubmit default/job default/job@2026-03-02T09:00:00Z"},
		{"failed, with its errorAction", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, failed, 0), onError, gaveUp), explain.Failed, []string{"(its errorAction completed)", "status 503"}, ""},
		{"failed, and is retried", "2026-03-02T09:00Z", all(records(attempt("09:00:00", 1, failed, 0)), waiting(baton("09:00:00", begun("12:30:00")))), explain.Retrying, []string{"the next one is due at 2026-03-02T12:30:00Z"}, ""},
		{"failed, and a retry is under way", "2026-03-02T09:00Z", all(records(attempt("09:00:00", 1, failed, 0)), running(baton("09:00:00", begun("11:59:59")))), explain.Running, []string{"the next one is active"}, ""},
		{"failed, and who knows", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, failed, 0)), explain.Failed, []string{"the outcome is not recorded yet"}, ""},
		{"waits for its target", "2026-03-02T09:00Z", all(records(waits), waiting(baton("09:00:00", deferred("12:01:00")))), explain.Waits, []string{"until 2026-03-02T12:01:00Z", "the circuit breaker of target:80 is open"}, "targets"},
		{"waits for its target, with a worker", "2026-03-02T09:00Z", all(records(waits), running(baton("09:00:00", deferred("11:59:00")))), explain.Waits, []string{"with a worker"}, ""},
		{"ran after it had waited", "2026-03-02T09:00Z", records(waits, attempt("09:00:00", 1, completed, time.Minute)), explain.Ran, nil, ""},
		{"skipped for overlap", "2026-03-02T09:00Z", records(omitted(skipped, scheduler.ReasonOverlap, "09:00:00", "09:00:00", 1)), explain.Skipped, []string{"an earlier occurrence was still active"}, `"overlap": "allow"`},
		{"skipped while an earlier one ran", "2026-03-02T09:00Z", records(attempt("08:00:00", 1, completed, 59*time.Minute+59*time.Second+500*time.Millisecond), omitted(skipped, scheduler.ReasonOverlap, "09:00:00", "09:00:00", 1)), explain.Skipped, nil, ""},
		{"skipped behind one that waited", "2026-03-02T09:00Z", records(omitted(skipped, scheduler.ReasonPostponed, "09:00:00", "09:00:00", 1)), explain.Skipped, []string{"waiting for its target"}, "targets"},
		{"skipped among many", "2026-03-02T09:00Z", records(omitted(skipped, scheduler.ReasonCatchUp, "07:00:00", "11:00:00", 5)), explain.Skipped, []string{"one of 5 from 2026-03-02T07:00:00Z to 2026-03-02T11:00:00Z", "no scheduler ran it in time"}, "catchUp"},
		{"between two that were skipped", "2026-03-02T09:30Z", records(omitted(skipped, scheduler.ReasonCatchUp, "07:00:00", "11:00:00", 5)), explain.NotDue, nil, ""},
		{"skipped under a schedule that is not known", "2026-03-02T09:30Z", records(old), explain.Skipped, []string{"at that time is unknown"}, ""},
		{"skipped while disabled", "2026-03-02T09:00Z", all(records(omitted(skipped, scheduler.ReasonDisabled, "09:00:00", "09:00:00", 1)), func(q *explain.Question) {
			q.Changes = []explain.Change{{At: at("08:30:00"), Kind: explain.JobDisabled, By: "ada"}}
		}), explain.Skipped, []string{"the job was disabled (at 2026-03-02T08:30:00Z by ada)"}, "does not catch up"},
		{"started by events", "2026-03-02T09:00Z", records(triggered(*good)), explain.Ran, []string{"started by 2 events, the last: sales.orders (sequence 7), key k1"}, ""},
		{"not started, as its trigger fails", "2026-03-02T09:00Z", records(triggered(*omitted(skipped, scheduler.ReasonTrigger, "09:00:00", "09:00:00", 1))), explain.Skipped, []string{"its trigger started no run"}, "carillon try"},
		{"given up", "2026-03-02T09:00Z", records(omitted(skipped, scheduler.ReasonCostly, "09:00:00", "09:00:00", 1)), explain.Skipped, []string{"too expensive to compute"}, "simplify"},
		{"postponed with its collection", "2026-03-02T09:00Z", records(closed), explain.Postponed, []string{"collection default is disabled"}, "carillon collection enable default"},
		{"of an earlier job of the name", "2026-03-02T09:30Z", records(foreign), explain.NotDue, nil, ""},
	} {
		a := explained(t, j, r)
		if a.Code == explain.Ran && (len(a.Records) == 0 || a.Occurrence == "" || a.Attempts == 0) {
			t.Errorf("%s: %+v", r.name, a)
		}
	}
}

// TestWhatTheBatonSays asks about an occurrence that is not recorded yet.
func TestWhatTheBatonSays(t *testing.T) {
	j := job(t, "05:00:00", hourly)
	passing := baton("11:45:00", func(b *scheduler.Baton) { b.PostponementRecorded, b.Seen = true, at("08:00:00") })
	for _, r := range []row{
		{"running", "2026-03-02T12:00Z", running(baton("12:00:00")), explain.Running, []string{"active"}, ""},
		{"handed out for longer than it may take", "2026-03-02T10:00Z", running(baton("10:00:00")), explain.Overdue, []string{"due since 2026-03-02T10:00:00Z"}, "a scheduler is ready"},
		{"running, asked about now", "now", all(running(baton("11:00:00", begun("12:09:30"))), func(q *explain.Question) {
			q.Now = at("12:10:00")
			q.At = q.Now
		}), explain.Running, []string{"the occurrence of 2026-03-02T11:00:00Z"}, ""},
		{"held by a worker, and not due yet", "2026-03-02T13:00Z", running(baton("13:00:00")), explain.Planned, nil, ""},
		{"planned", "2026-03-02T13:00Z", waiting(baton("13:00:00")), explain.Planned, []string{"2026-03-02T13:00:00Z"}, ""},
		{"planned, with jitter", "2026-03-02T13:00Z", waiting(baton("13:00:00", func(b *scheduler.Baton) { b.Due = at("13:07:00") })), explain.Planned, []string{"planned for 2026-03-02T13:07:00Z", "jitter"}, ""},
		{"overdue", "2026-03-02T11:00Z", waiting(baton("11:00:00")), explain.Overdue, []string{"has not started"}, "a scheduler is ready"},
		{"behind one that is overdue", "2026-03-02T11:00Z", waiting(baton("10:00:00")), explain.Overdue, []string{"the occurrence of 2026-03-02T10:00:00Z"}, ""},
		{"behind one that runs", "2026-03-02T11:00Z", running(baton("10:00:00", begun("11:59:30"))), explain.Skipped, []string{"still active", "10:00:00Z"}, "overlap"},
		{"behind one that was handed out for too long", "2026-03-02T11:00Z", running(baton("10:00:00")), explain.Overdue, []string{"10:00:00Z"}, ""},
		{"behind one that is retried", "2026-03-02T11:00Z", waiting(baton("10:00:00", begun("12:10:00"))), explain.Skipped, nil, "overlap"},
		{"behind one that waits for its target", "2026-03-02T11:00Z", waiting(baton("10:00:00", deferred("12:10:00"))), explain.Skipped, []string{"waiting for its target"}, ""},
		{"behind one that waits for its condition", "2026-03-02T11:00Z", waiting(baton("10:00:00", unmet("12:10:00"))), explain.Waits, []string{"waits for its condition until 2026-03-02T12:10:00Z"}, "onlyIf"},
		{"its condition does not hold", "2026-03-02T11:00Z", waiting(baton("11:00:00", unmet("12:10:00"))), explain.Waits, []string{"waits for its condition until 2026-03-02T12:10:00Z"}, "onlyIf"},
		{"its collection is disabled", "2026-03-02T12:00Z", all(waiting(baton("12:00:00")), closed), explain.Postponed, nil, "carillon collection enable default"},
		{"its collection will be disabled, as it is now", "2026-03-02T15:00Z", all(waiting(baton("13:00:00")), closed), explain.Postponed, nil, ""},
		{"passed over, and not recorded yet", "2026-03-02T10:00Z", all(waiting(passing), closed), explain.Postponed, nil, ""},
		{"lost", "2026-03-02T11:00Z", nil, explain.Unrecorded, []string{"neither the history nor"}, "carillon doctor"},
		{"forgotten", "2026-03-02T09:00Z", waiting(baton("13:00:00")), explain.Unrecorded, nil, ""},
	} {
		explained(t, j, r)
	}
}

func closed(q *explain.Question) { q.Closed = true }

// TestWhatTheScheduleSays asks about times at which nothing is due, or the job could not run.
func TestWhatTheScheduleSays(t *testing.T) {
	j := job(t, "05:00:00", hourly)
	other := edited(t, j, "10:30:00", minutely)
	over := in(scheduler.Completed, job(t, "05:00:00", thrice), "08:00:01")
	over.Progress = scheduler.Progress{Number: 3, Runs: 3, Executions: 3, Last: at("08:00:00")}
	tests := []struct {
		row

		job *scheduler.Job
	}{
		{row{"not due", "2026-03-02T09:30Z", nil, explain.NotDue, []string{"the next occurrence is at 2026-03-02T10:00:00Z, the previous one was at 2026-03-02T09:00:00Z", "every hour"}, ""}, j},
		{row{"not due yet", "2026-03-02T05:30Z", nil, explain.NotDue, []string{"begins later, at 2026-03-02T06:00:00Z"}, ""}, j},
		{row{"not created yet", "2026-03-02T04:00Z", nil, explain.NotCreated, []string{"created at 2026-03-02T05:00:00Z"}, ""}, j},
		{row{"in the future", "2026-03-02T15:00Z", waiting(baton("13:00:00")), explain.Planned, []string{"2026-03-02T15:00:00Z"}, ""}, j},
		{row{"in the future, not due", "2026-03-02T15:30Z", waiting(baton("13:00:00")), explain.NotDue, nil, ""}, j},
		{row{"beyond its count", "2026-03-02T15:00Z", waiting(baton("13:00:00", func(b *scheduler.Baton) { b.Runs = 1 })), explain.Ended, []string{"of its count of 3, 2 runs are left"}, "count"}, job(t, "05:00:00", thrice)},
		{row{"within its count", "2026-03-02T14:00Z", waiting(baton("13:00:00", func(b *scheduler.Baton) { b.Runs = 1 })), explain.Planned, nil, ""}, job(t, "05:00:00", thrice)},
		{row{"over", "2026-03-02T09:00Z", nil, explain.Ended, []string{"it has ended after its last run", "2026-03-02T08:00:00Z"}, ""}, over},
		{row{"after its endTime", "2026-03-02T09:00Z", nil, explain.Ended, []string{"its last occurrence was at 2026-03-02T08:00:00Z"}, "endTime"}, job(t, "05:00:00", until)},
		{row{"too hard to find", "2026-03-02T10:00Z", nil, explain.Unknown, []string{"too expensive to compute"}, "fewer rules"}, job(t, "05:00:00", costly)},
		{row{"after its only run", "2026-03-02T10:00Z", nil, explain.Ended, []string{"it runs once, at 2026-03-02T09:00:00Z"}, "startTime"}, job(t, "05:00:00", once)},
		{row{"disabled, by its definition", "2026-03-02T09:00Z", func(q *explain.Question) { q.Changes = explain.ChangesIn(q.Job) }, explain.Disabled, []string{"at the latest since its last change at 2026-03-02T08:30:00Z"}, "carillon enable default/job"}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"disabled, by whom", "2026-03-02T09:00Z", func(q *explain.Question) {
			q.Changes = []explain.Change{{At: at("08:30:00"), Kind: explain.JobDisabled, By: "ada"}}
		}, explain.Disabled, []string{"since 2026-03-02T08:30:00Z by ada"}, ""}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"disabled for the future", "2026-03-02T15:00Z", nil, explain.Disabled, nil, ""}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"disabled, and not due either", "2026-03-02T09:30Z", nil, explain.Disabled, nil, ""}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"disabled, and not due now", "now", func(q *explain.Question) { q.Now = at("12:30:00"); q.At = q.Now }, explain.Disabled, nil, "carillon enable"}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"not due before it was disabled", "2026-03-02T08:15Z", nil, explain.NotDue, []string{"the next occurrence is at 2026-03-02T09:00:00Z"}, ""}, in(scheduler.Disabled, j, "08:30:00")},
		{row{"over, and asked about now", "now", nil, explain.Ended, []string{"it has ended after its last run"}, ""}, over},
		{row{"paused, and not due", "2026-03-02T12:30Z", waiting(baton("15:00:00")), explain.Paused, []string{"until 2026-03-02T15:00:00Z"}, "carillon enable"}, j.Paused(at("15:00:00"), at("11:30:00"))},
		{row{"paused, and not due since", "2026-03-02T11:45Z", changes("05:00:00", explain.Change{At: at("11:30:00"), Kind: explain.JobPaused, By: "ada"}), explain.Paused, []string{"by ada"}, ""}, j.Paused(at("15:00:00"), at("11:30:00"))},
		{row{"not due before the pause", "2026-03-02T11:15Z", changes("05:00:00", explain.Change{At: at("11:30:00"), Kind: explain.JobPaused, By: "ada"}), explain.NotDue, nil, ""}, j.Paused(at("15:00:00"), at("11:30:00"))},
		{row{"not due after the pause", "2026-03-02T15:30Z", waiting(baton("15:00:00")), explain.NotDue, []string{"the next occurrence is at 2026-03-02T16:00:00Z"}, ""}, j.Paused(at("15:00:00"), at("11:30:00"))},
		{row{"its collection is disabled, and it is not due", "2026-03-02T12:30Z", all(waiting(baton("13:00:00")), closed), explain.Postponed, nil, "carillon collection enable"}, j},
		{row{"its collection is disabled, behind one that is retried", "2026-03-02T11:00Z", all(waiting(baton("10:00:00", begun("12:10:00"))), closed, changes("05:00:00", explain.Change{At: at("10:30:00"), Kind: explain.CollectionDisabled, By: "dora"})), explain.Postponed, []string{"by dora"}, "carillon collection enable"}, j},
		{row{"behind one that is retried, before its collection was disabled", "2026-03-02T11:00Z", all(waiting(baton("10:00:00", begun("12:10:00"))), closed, changes("05:00:00", explain.Change{At: at("11:30:00"), Kind: explain.CollectionDisabled, By: "dora"})), explain.Skipped, nil, "overlap"}, j},
		{row{"edited since", "2026-03-02T09:00Z", nil, explain.Edited, []string{"changed at 2026-03-02T10:30:00Z"}, ""}, other},
		{row{"edited since, and its schedule is known", "2026-03-02T09:30Z", func(q *explain.Question) { q.JobThen = j }, explain.NotDue, []string{"the job's schedule of that time: every hour"}, ""}, other},
		{row{"edited since, and was due", "2026-03-02T09:00Z", func(q *explain.Question) { q.JobThen = j }, explain.Unrecorded, nil, ""}, other},
		{row{"after the edit", "2026-03-02T11:30Z", waiting(baton("11:30:00")), explain.Overdue, nil, ""}, other},
		{row{"before the retained history", "2026-03-02T09:00Z", func(q *explain.Question) { q.Kept = at("10:00:00") }, explain.Unknown, []string{"kept since 2026-03-02T10:00:00Z", "it was due"}, "--history-per-job"}, j},
		{row{"before the retained history, not due", "2026-03-02T09:30Z", func(q *explain.Question) { q.Kept = at("10:00:00") }, explain.NotDue, nil, ""}, j},
		{row{"before the retained history, edited since", "2026-03-02T09:00Z", func(q *explain.Question) { q.Kept = at("10:00:00") }, explain.Unknown, nil, ""}, other},
		{row{"deleted", "2026-03-02T09:00Z", func(q *explain.Question) { q.Deleted = true }, explain.Deleted, nil, "create the job again"}, nil},
		{row{"deleted, by whom", "2026-03-02T09:00Z", func(q *explain.Question) { q.Changes = []explain.Change{{at("08:00:00"), explain.JobDeleted, "ada"}} }, explain.Deleted, []string{"at 2026-03-02T08:00:00Z by ada"}, ""}, nil},
		{row{"deleted, with an attempt under way", "2026-03-02T09:00Z", records(attempt("09:00:00", 1, scheduler.OutcomeCompleted, 0)), explain.Ran, nil, ""}, nil},
		{row{"never heard of", "2026-03-02T09:00Z", nil, explain.NoJob, nil, ""}, nil},
		{row{"damaged", "2026-03-02T09:00Z", func(q *explain.Question) { q.Damaged = "its action is missing" }, explain.Damaged, []string{"its action is missing"}, "apply it again"}, nil},
	}
	for _, test := range tests {
		explained(t, test.job, test.row)
	}
}

// TestNearest has the occurrences around a time that is not due, in the zone of the job.
func TestNearest(t *testing.T) {
	j := job(t, "2026-03-01T00:00:00Z", `"timeZone": "Europe/Berlin", "recurrence": {"cron": "0 9 * * 1-5"}`)
	a := explained(t, j, row{"on a Sunday", "2026-03-08T09:00", func(q *explain.Question) { q.Now = at("2026-03-20T00:00:00Z") }, explain.NotDue, []string{"2026-03-09 09:00:00 CET (2026-03-09T08:00:00Z)"}, ""})
	if a.Local != "2026-03-08T09:00:00+01:00" || a.TimeZone != "Europe/Berlin" || a.At != at("2026-03-08T08:00:00Z") {
		t.Errorf("%+v", a)
	}
	if a.Before.Local != "2026-03-06T09:00:00+01:00" || !a.After.UTC.Equal(at("2026-03-09T08:00:00Z")) {
		t.Errorf("%+v %+v", a.Before, a.After)
	}
}

// TestClockJumps asks about a time that no clock showed: it is told, whether or not the record of it is there.
func TestClockJumps(t *testing.T) {
	j := job(t, "2026-03-01T00:00:00Z", nightly)
	const change = "2026-03-08T07:00:00Z"
	later := func(q *explain.Question) { q.Now = at("2026-03-20T00:00:00Z") }
	gone := omitted(scheduler.OutcomeSkipped, scheduler.ReasonDST, change, change, 1)
	for _, r := range []row{
		{"recorded", "2026-03-08T02:30", all(later, records(gone)), explain.Skipped, []string{"the clock skipped its time", "never showed 2026-03-08 02:30:00"}, `"gap": "next"`},
		{"not recorded", "2026-03-08T02:30", later, explain.Skipped, []string{"the clock skipped its time"}, `"gap": "next"`},
		{"the day before", "2026-03-08T01:00", later, explain.NotDue, []string{"02:30"}, ""},
	} {
		if a := explained(t, j, r); r.code == explain.Skipped && a.Reason != scheduler.ReasonDST {
			t.Errorf("%s: %+v", r.name, a)
		}
	}
	hourly := job(t, "2026-03-01T00:00:00Z", `"timeZone": "America/New_York", "recurrence": {"frequency": "Hour"}`)
	moved := all(later, records(attempt(change, 1, scheduler.OutcomeCompleted, 0)))
	explained(t, hourly, row{"what runs at the change", "2026-03-08T02:30", moved, explain.Ran, []string{"never showed"}, ""})
}

// TestChangesIn has what a definition tells of its last edit.
func TestChangesIn(t *testing.T) {
	j := job(t, "05:00:00", hourly)
	off := in(scheduler.Disabled, j, "08:30:00")
	off.Origin = scheduler.Origin{Op: "disable", Name: "ada"}
	born := job(t, "05:00:00", hourly)
	born.State, born.Origin = scheduler.Disabled, scheduler.Origin{Op: "put", Name: "carl"}
	put := edited(t, j, "09:30:00", minutely)
	put.Origin = scheduler.Origin{Op: "put", Name: "bob"}
	for name, test := range map[string]struct {
		job  *scheduler.Job
		want []explain.Change
	}{
		"new":          {j, nil},
		"disabled":     {off, []explain.Change{{At: at("08:30:00"), Kind: explain.JobDisabled, By: "ada"}}},
		"put disabled": {born, []explain.Change{{At: at("05:00:00"), Kind: explain.JobDisabled, By: "carl"}}},
		"put":          {put, []explain.Change{{At: at("09:30:00"), Kind: explain.JobChanged, By: "bob"}}},
	} {
		if got := explain.ChangesIn(test.job); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestNoNext asks for the occurrences around a time of a job that does not run at the next one.
func TestNoNext(t *testing.T) {
	j := job(t, "05:00:00", hourly)
	for _, test := range []struct {
		row

		job   *scheduler.Job
		after string // "": none
	}{
		{row{"disabled", "now", nil, explain.Disabled, nil, ""}, in(scheduler.Disabled, j, "08:30:00"), ""},
		{row{"its collection is", "now", closed, explain.Postponed, nil, ""}, j, ""},
		{row{"paused", "now", nil, explain.Paused, nil, ""}, j.Paused(at("15:00:00"), at("11:30:00")), "15:00:00"},
		{row{"disabled, and asked about before", "2026-03-02T08:15Z", nil, explain.NotDue, nil, ""}, in(scheduler.Disabled, j, "08:30:00"), "09:00:00"},
	} {
		a := explained(t, test.job, test.row)
		if a.After == nil != (test.after == "") || a.After != nil && !a.After.UTC.Equal(at(test.after)) {
			t.Errorf("%s: next %+v, want %s", test.name, a.After, test.after)
		}
	}
}

// TestLatest asks questions without a time.
func TestLatest(t *testing.T) {
	j := job(t, "05:00:00", hourly)
	faulted := attempt("09:00:00", 2, scheduler.OutcomeFaulted, 30*time.Second)
	faulted.ID = ""
	skipped := omitted(scheduler.OutcomeSkipped, scheduler.ReasonOverlap, "07:00:00", "08:00:00", 2)
	for name, test := range map[string]struct {
		job  *scheduler.Job
		ask  func(*explain.Question)
		last *scheduler.Record
		want string
	}{
		"nothing was left out":                  {j, waiting(baton("13:00:00")), nil, "13:00:00"},
		"skipped":                               {j, waiting(baton("13:00:00")), skipped, "08:00:00"},
		"failed after all retries":              {j, waiting(baton("13:00:00")), faulted, "09:00:00"},
		"retried":                               {j, waiting(baton("12:00:00", begun("12:45:00"))), skipped, "12:00:00"},
		"runs, and one is skipped meanwhile":    {j, running(baton("10:00:00")), skipped, "12:00:00"},
		"waits for its target":                  {j, waiting(baton("12:00:00", deferred("12:45:00"))), nil, "12:00:00"},
		"disabled":                              {in(scheduler.Disabled, j, "08:30:00"), func(*explain.Question) {}, skipped, "12:30:00"},
		"paused":                                {j.Paused(at("15:00:00"), at("11:30:00")), waiting(baton("15:00:00")), skipped, "12:30:00"},
		"its collection is disabled":            {j, all(waiting(baton("13:00:00")), closed), skipped, "12:30:00"},
		"its baton is lost":                     {j, func(*explain.Question) {}, nil, "13:00:00"},
		"there is no job":                       {nil, func(*explain.Question) {}, nil, "12:30:00"},
		"with jitter, whose instant has passed": {j, waiting(baton("12:00:00", func(b *scheduler.Baton) { b.Due = at("12:40:00") })), nil, "12:00:00"},
	} {
		q := &explain.Question{Key: key, Now: at("12:30:00"), Zone: time.UTC, Job: test.job}
		test.ask(q)
		if got := q.Latest(test.last); !got.At.Equal(at(test.want)) {
			t.Errorf("%s: %s, want %s", name, got.At, test.want)
		}
	}
	q := &explain.Question{Job: j}
	waits := attempt("09:00:00", 1, scheduler.OutcomePostponed, 0)
	foreign := *skipped
	foreign.UID = "fedcba98"
	for r, want := range map[*scheduler.Record]bool{faulted: true, skipped: true, waits: false, &foreign: false} {
		if q.Missed(r) != want {
			t.Errorf("missed %+v: %t", r, !want)
		}
	}
}
