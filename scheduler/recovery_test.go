package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// history holds a job's records, newest first.
type history []*scheduler.Record

// visit passes the records on until look has enough.
func (h history) visit(look func(*scheduler.Record) bool) {
	for _, r := range h {
		if !look(r) {
			return
		}
	}
}

// attempt returns the records of an attempt of b, including a faulted record.
func attempt(j *scheduler.Job, b scheduler.Baton, started string, res scheduler.Result) *scheduler.Record {
	rec, _ := scheduler.AttemptRecord(j, b, at(started), res)
	return rec
}

// fault returns the records after the last attempt of a failed occurrence.
func fault(t *testing.T, j *scheduler.Job, b scheduler.Baton, started string, res scheduler.Result) *scheduler.Record {
	t.Helper()
	row := afterRow{ran: j, now: j, baton: b, started: started, res: res}
	records := row.after().Step.Records
	i := slices.IndexFunc(records, func(r scheduler.Record) bool { return r.Outcome == scheduler.OutcomeFaulted })
	if i < 0 {
		t.Fatal("it did not fault")
	}
	return &records[i]
}

// A recoverRow is a redelivered baton.
type recoverRow struct {
	name    string
	ran     *scheduler.Job // the definition its attempt ran under
	now     *scheduler.Job // its job as it is now
	baton   scheduler.Baton
	history history
	want    string // "again" and what is decided, when there is no record of its attempt
}

func (r *recoverRow) recovered(now time.Time) string {
	search := scheduler.NewAttemptSearch(key, r.baton)
	r.history.visit(search.Visit)
	if search.Found == nil {
		return "again; " + said(scheduler.Decide(r.now, true, r.baton, now))
	}
	return said(scheduler.Recover(r.ran, r.now, search, now))
}

func mustRecover(t *testing.T, rows []recoverRow) {
	t.Helper()
	for _, row := range rows {
		mustSay(t, row.name, row.recovered(row.baton.Due.Add(12*time.Second)), row.want)
	}
}

// TestRecover lets a worker die at every step of an occurrence, and another one take over. The store already handles a
// baton that was passed on.
func TestRecover(t *testing.T) {
	j, one := job(t, minutely), job(t, once)
	b, single := baton(j, "09:00:00"), baton(one, "09:00:00")
	before := attempt(j, baton(j, "08:59:00"), "08:59:00", succeeds)
	mustRecover(t, []recoverRow{
		{"taken", j, j, b, history{before}, "again; run 09:00:00"},
		{"ran, not recorded", j, j, b, history{before}, "again; run 09:00:00"},
		{"recorded, not passed on", j, j, b, history{attempt(j, b, "09:00:00", succeeds), before}, "proceed; next 09:01:00"},
		{"recorded, and long: what fell due is skipped", j, j, b, history{attempt(j, b, "09:00:00", lasting(200*time.Second, succeeds)), before}, "proceed; skipped for overlap 3 from 09:01:00 to 09:03:00; next 09:04:00"},
		{"one-shot: ran, not recorded", one, one, single, nil, "again; run 09:00:00"},
		{"one-shot: recorded, end not written", one, one, single, history{attempt(one, single, "09:00:00", succeeds)}, "proceed; no baton, completed"},
		{"one-shot: end written", one, in(scheduler.Completed, one), single, history{attempt(one, single, "09:00:00", succeeds)}, "drop"},
		{"by hand: ran, not recorded", j, j, baton(j, "08:50:07", byHand("09:00:00")), history{before}, "again; run 08:50:07 by hand resume 09:00:00"},
		{"by hand: recorded", j, j, baton(j, "08:50:07", byHand("09:00:00")), history{attempt(j, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds)}, "proceed; next 09:00:00"},
		{"disabled meanwhile", j, in(scheduler.Disabled, j), b, history{attempt(j, b, "09:00:00", succeeds)}, "proceed; no baton, disabled"},
		{"its definition is gone meanwhile", nil, nil, b, history{attempt(j, b, "09:00:00", succeeds)}, "astray"},
		{"deleted meanwhile, and its name used again", namesake(j), namesake(j), b, history{attempt(j, b, "09:00:00", succeeds)}, "orphan"},
	})
	edited := job(t, once)
	edited.ScheduleGen++
	later := attempt(edited, baton(edited, "09:00:05"), "09:00:05", succeeds)
	mustRecover(t, []recoverRow{
		{"passed on, and what follows has ended", j, j, b, history{attempt(j, baton(j, "09:01:00"), "09:01:00", succeeds), attempt(j, b, "09:00:00", succeeds)}, "drop"},
		{"ended, edited, and ended again", one, edited, single, history{later, attempt(one, single, "09:00:00", succeeds)}, "drop"},
	})
	first, again := b.AttemptOf(key), b.AttemptOf(key)
	if first.Key != again.Key || first.Key != "default/job@2026-03-02T09:00:00Z" {
		t.Errorf("what runs again has the key %q, and had %q", again.Key, first.Key)
	}
}

// TestRecoverFailure lets a worker die between the tries of an occurrence, and after the last: the faulted record is
// written once.
func TestRecoverFailure(t *testing.T) {
	two, handled := job(t, twoRetries+once), job(t, errorAction+once)
	first, second, third := baton(two, "09:00:00"), baton(two, "09:00:00", try(2)), baton(two, "09:00:00", try(3))
	one, other, last := attempt(two, first, "09:00:00", fails), attempt(two, second, "09:00:11", fails), attempt(two, third, "09:00:22", fails)
	faulted := fault(t, two, third, "09:00:22", fails)
	main, onError := baton(handled, "09:00:00"), baton(handled, "09:00:00", inErrorAction(1))
	mainFailed, errorEnded := attempt(handled, main, "09:00:00", fails), attempt(handled, onError, "09:00:01", succeeds)
	errorFaulted := fault(t, handled, onError, "09:00:01", succeeds)
	elsewhere := fault(t, two, baton(two, "08:00:00", try(3)), "08:00:22", fails)
	mustRecover(t, []recoverRow{
		{"first try: failure not recorded", two, two, first, nil, "again; run 09:00:00"},
		{"first try: failure recorded", two, two, first, history{one}, "proceed; next 09:00:00 due 09:00:11 try 2"},
		{"retry: failure not recorded", two, two, second, history{one}, "again; run 09:00:00 try 2"},
		{"retry: failure recorded", two, two, second, history{other, one}, "proceed; next 09:00:00 due 09:00:22 try 3"},
		{"last try: failure not recorded", two, two, third, history{other, one}, "again; run 09:00:00 try 3"},
		{"last try: failure recorded, fault not", two, two, third, history{last, other, one}, "proceed; faulted 09:00:00; no baton, faulted"},
		{"last try: fault recorded", two, two, third, history{faulted, last, other, one}, "proceed; no baton, faulted"},
		{"last try: end written", two, in(scheduler.Faulted, two), third, history{faulted, last, other, one}, "drop"},
		{"the fault of another occurrence is another", two, two, third, history{elsewhere, last, other, one}, "proceed; faulted 09:00:00; no baton, faulted"},
		{"first try: passed on, and the others have ended", two, two, first, history{faulted, last, other, one}, "drop"},
		{"disabled before the retry was passed on", two, in(scheduler.Disabled, two), first, history{one}, "proceed; next 09:00:00 due 09:00:11 try 2, disabled"},
		{"its errorAction: failure recorded", handled, handled, main, history{mainFailed}, "proceed; next 09:00:00 due 09:00:01 try 2 of the errorAction"},
		{"its errorAction: ran, not recorded", handled, handled, onError, history{mainFailed}, "again; run 09:00:00 try 2 of the errorAction"},
		{"its errorAction: success recorded, fault not", handled, handled, onError, history{errorEnded, mainFailed}, "proceed; faulted 09:00:00; no baton, faulted"},
		{"its errorAction: fault recorded", handled, handled, onError, history{errorFaulted, errorEnded, mainFailed}, "proceed; no baton, faulted"},
	})
	search := scheduler.NewAttemptSearch(key, second)
	search.Visit(other)
	d := scheduler.Recover(two, two, search, at("09:01:00"))
	mustSay(t, "the baton that is passed on, as it was counted", batonSaid(&d.Baton)+"; "+progressSaid(d.Baton.Progress),
		"09:00:00 try 2; begun 1; runs 1; attempts 1; failed 1; last 09:00:11; seen 09:00:00; ran 09:00:00")
}

// TestRecoverOverlap lets a worker die between the messages of a detached occurrence and of the job's own baton.
func TestRecoverOverlap(t *testing.T) {
	j, three := job(t, twoRetries+minutely+`, "overlap": "allow"`), job(t, thrice+`, "overlap": "allow"`)
	own, last := baton(j, "09:00:00"), baton(three, "09:02:00", ran(2))
	beside, lastBeside := own.Detached(), last.Detached()
	ended, failed := attempt(j, beside, "09:00:00", succeeds), attempt(j, beside, "09:00:00", fails)
	mustRecover(t, []recoverRow{
		{"not passed on: it is detached again, under the same name", j, j, own, nil, "again; detach 09:00:00; next 09:01:00"},
		{"the detached run is recorded, and the job's baton not passed on", j, j, own, history{ended}, "proceed; next 09:01:00"},
		{"whether that failed or not", j, j, own, history{failed}, "proceed; next 09:01:00"},
		{"it was the last of a count", three, three, last, history{attempt(three, lastBeside, "09:02:00", succeeds)}, "proceed; no baton, completed"},
		{"the job is disabled, and has no instant that is due", j, in(scheduler.Disabled, j), own, history{ended}, "proceed; no baton, disabled"},
		{"the job has no definition", nil, nil, own, history{ended}, "astray"},
		{"another job has the name", namesake(j), namesake(j), own, history{ended}, "orphan"},
		{"detached: ran, not recorded", j, j, beside, nil, "again; run 09:00:00 detached"},
		{"detached: recorded, not counted in", j, j, beside, history{ended}, "proceed; merge"},
		{"detached: failure recorded", j, j, beside, history{failed}, "proceed; next 09:00:00 detached due 09:00:11 try 2"},
		{"detached: recorded, the schedule is over", three, in(scheduler.Completed, three), lastBeside, history{attempt(three, lastBeside, "09:02:00", succeeds)}, "proceed; merge"},
	})
	search := scheduler.NewAttemptSearch(key, own)
	search.Visit(ended)
	d := scheduler.Recover(j, j, search, at("09:00:12"))
	mustSay(t, "the job's own baton goes on alone", batonSaid(&d.Baton)+"; "+progressSaid(d.Step.Next.Progress), "09:00:00; begun 1; runs 1; seen 09:00:00; ran 09:00:00")
	if diff := cmp.Diff(own, d.Baton); diff != "" {
		t.Error("the baton that came (-want +got)\n" + diff)
	}
}

// TestAttemptSearch searches for the first retry of the occurrence at nine.
func TestAttemptSearch(t *testing.T) {
	j := job(t, twoRetries+minutely)
	b := baton(j, "09:00:00", try(2))
	found := attempt(j, b, "09:00:11", fails)
	marked := func(r *scheduler.Record, uid string) *scheduler.Record {
		other := *r
		other.UID = uid
		return &other
	}
	faulted := fault(t, j, baton(j, "09:00:00", try(3)), "09:00:22", fails)
	late := attempt(j, baton(j, "08:59:00").Detached(), "08:59:00", succeeds)
	late.Stored = b.Due.Add(time.Second)
	others := slices.Repeat(history{attempt(j, baton(j, "08:59:00"), "08:59:00", succeeds)}, scheduler.HistoryDepth)
	for _, row := range []struct {
		name    string
		b       scheduler.Baton
		history history
		want    string
	}{
		{"no history", b, nil, ""},
		{"it is the last record", b, history{found}, "found"},
		{"records of other attempts are before it", b, append(slices.Clone(others[:5]), found), "found"},
		{"only the try before is recorded", b, history{attempt(j, baton(j, "09:00:00"), "09:00:00", fails)}, ""},
		{"only the try after is recorded", b, history{attempt(j, baton(j, "09:00:00", try(3)), "09:00:22", fails)}, ""},
		{"an earlier job of the name had such an attempt", b, history{marked(found, "fedcba98")}, ""},
		{"it faulted, too", b, history{faulted, found}, "found, faulted"},
		{"an earlier job of the name faulted", b, history{marked(faulted, "fedcba98"), found}, "found"},
		{"it is the last one that is looked at", b, append(slices.Clone(others[:scheduler.HistoryDepth-1]), found), "found"},
		{"it lies too deep", b, append(slices.Clone(others), found), ""},
		{"all before it ended after it was due", b, append(slices.Repeat(history{late}, 3*scheduler.HistoryDepth), found), "found"},
		{"it lies too deep in a busy history", b, append(slices.Repeat(history{late}, 64*scheduler.HistoryDepth), found), ""},
	} {
		search := scheduler.NewAttemptSearch(key, row.b)
		looks := 0
		for _, r := range row.history {
			looks++
			if !search.Visit(r) {
				break
			}
		}
		var words []string
		if search.Found != nil {
			words = append(words, "found")
		}
		if search.Faulted {
			words = append(words, "faulted")
		}
		mustSay(t, row.name, strings.Join(words, ", "), row.want)
		limit := scheduler.HistoryDepth
		if len(row.history) > 0 && !row.history[0].Stored.IsZero() {
			limit *= 64
		}
		if looks > limit {
			t.Errorf("%s: %d records looked at", row.name, looks)
		}
	}
}

// TestAttemptSearchStopsAtAnEarlierAttempt checks that the search stops at an attempt that ended before the wanted
// attempt. Otherwise, after a stall, each of many batons would read 64 records.
func TestAttemptSearchStopsAtAnEarlierAttempt(t *testing.T) {
	j := job(t, twoRetries+minutely)
	counted := func(executions, failed int) func(*scheduler.Baton) {
		return func(b *scheduler.Baton) { b.Executions, b.Errors = executions, failed }
	}
	b := baton(j, "09:00:00", try(2), counted(7, 1))
	before := attempt(j, baton(j, "09:00:00", counted(6, 1)), "09:00:00", fails)
	before.Stored = b.Due.Add(-time.Second)
	after := attempt(j, baton(j, "09:00:00", try(3), counted(8, 1)), "09:00:22", fails)
	after.Stored = b.Due.Add(-time.Second)
	behind := *before
	behind.Stored = b.Due.Add(time.Second)
	for _, row := range []struct {
		name string
		r    *scheduler.Record
		goOn bool
	}{
		{"the try before", before, false},
		{"the try after", after, true},
		{"a try after whose counts are behind", &behind, true},
		{"a fault", fault(t, j, baton(j, "08:59:00", try(3), counted(2, 0)), "08:59:00", fails), true},
		{"a detached run", attempt(j, baton(j, "08:59:00", counted(2, 0)).Detached(), "08:59:00", fails), true},
	} {
		if search := scheduler.NewAttemptSearch(key, b); search.Visit(row.r) != row.goOn || search.Found != nil {
			t.Errorf("%s: found %v, want the search to go on: %v", row.name, search.Found, row.goOn)
		}
	}
}
