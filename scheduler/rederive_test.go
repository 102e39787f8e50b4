package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// last returns the only record of a decision.
func last(t *testing.T, records []scheduler.Record) *scheduler.Record {
	t.Helper()
	if len(records) != 1 {
		t.Fatalf("%d records, want one: %v", len(records), recordsSaid(records))
	}
	return &records[0]
}

// deferral is the record of an attempt that a target rule defers.
func deferral(t *testing.T, j *scheduler.Job, b scheduler.Baton, now string) *scheduler.Record {
	t.Helper()
	return last(t, j.Defer(b, scheduler.Deferral{At: at(now).Add(time.Minute), Message: "too many"}, at(now)).Records)
}

// TestPlaceSearch searches for the schedule position of a job's own baton.
func TestPlaceSearch(t *testing.T) {
	j := job(t, minutely)
	other := edited(t, j, "08:10:00", once)
	own := func(nominal string) *scheduler.Record { return attempt(j, baton(j, nominal), nominal, succeeds) }
	beside := func(nominal string) *scheduler.Record {
		return attempt(j, baton(j, nominal, of(scheduler.Detached)), nominal, succeeds)
	}
	byHand := attempt(j, baton(j, "09:09:07", of(scheduler.ManualDetached)), "09:09:07", succeeds)
	stranger, old, slow, gap := own("09:08:00"), own("07:59:00"), own("07:59:00"), own("09:08:00")
	stranger.UID, old.UID = "fedcba98", ""
	gap.Outcome, gap.Reason = scheduler.OutcomeSkipped, scheduler.ReasonDST
	skipped := last(t, scheduler.Decide(j, false, baton(j, "09:05:00"), at("09:05:00")).Step.Records)
	postponed := deferral(t, j, baton(j, "09:05:00"), "09:05:00")
	overtaken, ran := own("08:11:00"), attempt(other, baton(other, "08:11:30"), "08:11:30", succeeds)
	overtaken.Stored = at("08:12:00")
	beyond := slices.Repeat(history{byHand}, scheduler.HistoryDepth)
	for _, row := range []struct {
		name    string
		job     *scheduler.Job
		history history
		want    *scheduler.Record
	}{
		{"no history", j, nil, nil},
		{"the last attempt", j, history{own("09:05:00"), own("09:04:00")}, own("09:05:00")},
		{"the last skip", j, history{skipped, own("09:04:00")}, skipped},
		{"the last deferral", j, history{postponed, own("09:04:00")}, postponed},
		{"not a gap: the baton went on waiting", j, history{gap, own("09:05:00")}, own("09:05:00")},
		{"not an earlier job's", j, history{stranger, own("09:05:00")}, own("09:05:00")},
		{"not from before the job was put, when it does not say of which job it is", j, history{old}, nil},
		{"its own from before it was put, by the clock of a worker that is slow", j, history{slow}, slow},
		{"not a run by hand of the disabled job", j, history{byHand, own("09:05:00")}, own("09:05:00")},
		{"not a detached run of a schedule before", other, history{beside("09:06:00"), own("09:05:00")}, own("09:05:00")},
		{"the latest of the detached runs, whatever ended last", j, history{beside("09:06:00"), beside("09:08:00"), beside("09:07:00")}, beside("09:08:00")},
		{"a detached run before the job's own record", j, history{beside("09:06:00"), own("09:05:00")}, beside("09:06:00")},
		{"not a detached run that began before", j, history{own("09:05:00"), beside("09:06:00")}, own("09:05:00")},
		{"what ran by the present schedule, before an edit that was overtaken", other, history{overtaken, ran}, ran},
		{"the last of the schedule before, which has just been replaced", other, history{overtaken, own("08:09:00")}, overtaken},
		{"the last one that is looked at", j, append(slices.Clone(beyond[1:]), own("09:05:00")), own("09:05:00")},
		{"one that lies too deep", j, append(slices.Clone(beyond), own("09:05:00")), nil},
	} {
		search := scheduler.NewPositionSearch(row.job)
		row.history.visit(search.Visit)
		got, want := "nothing", "nothing"
		if search.Found != nil {
			got = string(search.Found.Outcome) + " " + clock(search.Found.Nominal)
		}
		if row.want != nil {
			want = string(row.want.Outcome) + " " + clock(row.want.Nominal)
		}
		mustSay(t, row.name, got, want)
	}
}

// TestPlaceSearchFaulted checks that the search finds the faulted record of the occurrence.
func TestPlaceSearchFaulted(t *testing.T) {
	j := job(t, noRetry+minutely)
	own, before := baton(j, "09:01:00"), baton(j, "09:00:00")
	failed, earlierFault := attempt(j, own, "09:01:00", fails), fault(t, j, before, "09:00:00", fails)
	for name, row := range map[string]struct {
		history history
		want    bool
	}{
		"nothing is recorded":           {nil, false},
		"the fault is not":              {history{failed, earlierFault}, false},
		"the fault is":                  {history{fault(t, j, own, "09:01:00", fails), failed}, true},
		"that of another occurrence is": {history{earlierFault, failed}, false},
	} {
		search := scheduler.NewPositionSearch(j)
		row.history.visit(search.Visit)
		if search.Faulted() != row.want {
			t.Errorf("%s: %t", name, search.Faulted())
		}
	}
}

// TestRederive plans the baton of a job that lost it, from the record with its schedule position.
func TestRederive(t *testing.T) {
	j, one, three := job(t, twoRetries+minutely), job(t, twoRetries+once), job(t, thrice+`, "overlap": "allow"`)
	had := in(scheduler.Enabled, j)
	had.Progress = scheduler.Progress{Number: 2, Runs: 2, Seen: at("09:01:00")}
	closed := func(j *scheduler.Job, b scheduler.Baton, now string) *scheduler.Record {
		return last(t, scheduler.Decide(j, false, b, at(now)).Step.Records)
	}
	missed := last(t, scheduler.Decide(job(t, minutely+catchUp("skip", "")), true, baton(j, "09:00:00"), at("09:02:31")).Step.Records)
	hand := baton(j, "08:50:07", byHand("09:00:00"))
	unheld := deferral(t, j, baton(j, "09:00:00"), "09:00:05")
	unheld.Reason = scheduler.ReasonOnlyIf
	beside, lastBeside := baton(three, "09:00:00"), baton(three, "09:02:00", ran(2))
	for _, row := range []struct {
		name string
		job  *scheduler.Job
		last *scheduler.Record
		want string
	}{
		{"nothing is known", j, nil, "next 09:00:00"},
		{"nothing but what the definition says", had, nil, "next 09:02:00"},
		{"nothing is known of a one-shot", one, nil, "next 09:00:00"},
		{"an attempt succeeded", j, attempt(j, baton(j, "09:00:00"), "09:00:00", succeeds), "next 09:01:00"},
		{"an attempt failed", j, attempt(j, baton(j, "09:00:00"), "09:00:00", fails), "next 09:00:00 due 09:00:11 try 2"},
		{"the last retry failed", j, attempt(j, baton(j, "09:00:00", try(3)), "09:00:22", fails), "faulted 09:00:00; next 09:01:00"},
		{"a one-shot succeeded", one, attempt(one, baton(one, "09:00:00"), "09:00:00", succeeds), "no baton, completed"},
		{"a one-shot faulted", one, attempt(one, baton(one, "09:00:00", try(3)), "09:00:22", fails), "faulted 09:00:00; no baton, faulted"},
		{"a run by hand succeeded", j, attempt(j, hand, "08:50:07", succeeds), "next 09:00:00"},
		{"a run by hand failed", j, attempt(j, hand, "08:50:07", fails), "next 08:50:07 by hand due 08:50:18 try 2 resume 09:00:00"},
		{"instants were skipped", j, missed, "next 09:03:00"},
		{"the collection was closed", j, closed(j, baton(j, "09:00:00"), "09:02:10"), "next 09:03:00"},
		{"the collection of a one-shot was closed", one, closed(one, baton(one, "09:00:00"), "09:00:00"), "next 09:00:00 postponed"},
		{"an attempt was deferred", j, deferral(t, j, baton(j, "09:00:00"), "09:00:05"), "next 09:00:00 deferred until 09:00:05"},
		{"its condition did not hold", j, unheld, "next 09:00:00 unmet until 09:00:05"},
		{"a retry was deferred", j, deferral(t, j, baton(j, "09:00:00", begun), "09:00:15"), "next 09:00:00 due 09:00:10 try 2 deferred until 09:00:15"},
		{"a one-shot was deferred", one, deferral(t, one, baton(one, "09:00:00"), "09:00:05"), "next 09:00:00 deferred until 09:00:05"},
		{"a run by hand was deferred", j, deferral(t, j, hand, "08:50:08"), "next 08:50:07 by hand deferred until 08:50:08 resume 09:00:00"},
		{"a detached run ended", three, attempt(three, beside.Detached(), "09:00:00", succeeds), "next 09:01:00"},
		{"a detached run was deferred", three, deferral(t, three, baton(three, "09:00:00").Detached(), "09:00:05"), "next 09:01:00"},
		{"the last detached run of a count ended", three, attempt(three, lastBeside.Detached(), "09:02:00", succeeds), "no baton, completed"},
		{"the last detached run of a count was deferred", three, deferral(t, three, baton(three, "09:02:00", ran(2)).Detached(), "09:02:05"), "no baton, completed"},
	} {
		s := row.job.Rederive(row.last, at("12:00:00"))
		mustSay(t, row.name, stepSaid(s), row.want)
	}
}

// TestRederiveCounts checks that the progress comes from the record, or from the definition and the record.
func TestRederiveCounts(t *testing.T) {
	j := job(t, minutely+`, "overlap": "allow"`)
	j.Progress = scheduler.Progress{Executions: 9, Failures: 1}
	for name, test := range map[string]struct {
		last *scheduler.Record
		want string
	}{
		"an attempt":     {attempt(j, baton(j, "09:00:00", ran(4)), "09:00:00", succeeds), "begun 5; runs 5; attempts 1; last 09:00:00; seen 09:00:00; ran 09:00:00"},
		"a skip":         {last(t, scheduler.Decide(j, false, baton(j, "09:00:00", ran(4)), at("09:00:00")).Step.Records), "begun 4; runs 4; seen 09:00:00"},
		"a deferral":     {deferral(t, j, baton(j, "09:00:00", ran(4)), "09:00:05"), "begun 4; runs 4"},
		"a detached run": {attempt(j, baton(j, "09:00:00", ran(4)).Detached(), "09:00:00", succeeds), "begun 5; runs 5; attempts 9; failed 1; seen 09:00:00"},
		"one deferred":   {deferral(t, j, baton(j, "09:00:00", ran(4)).Detached(), "09:00:05"), "begun 5; runs 5; attempts 9; failed 1; seen 09:00:00"},
		"nothing":        {nil, "attempts 9; failed 1"},
	} {
		mustSay(t, name, progressSaid(j.Rederive(test.last, at("12:00:00")).Progress), test.want)
	}
	s := j.Rederive(deferral(t, j, baton(j, "09:00:00"), "09:00:05"), at("12:00:00"))
	if b := s.Next; !b.DeferralRecorded || !b.DeferredSince.Equal(at("09:00:05")) {
		t.Errorf("a deferral is not known from its record: %+v", b)
	}
}
