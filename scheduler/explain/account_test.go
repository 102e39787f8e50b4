package explain_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// tried is a baton whose first attempt has failed.
func tried(b *scheduler.Baton) { b.Try = 1 }

// sentence is an account in one line: its rows, and what is unknown.
func sentence(a *explain.Account) string {
	var words []string
	for _, r := range a.Rows {
		text := r.At.Format("15:04")
		if !r.To.IsZero() {
			text += "-" + r.To.Format("15:04") + "×" + strconv.Itoa(r.Count)
		}
		text += " " + string(r.Outcome)
		if r.Reason != "" {
			text += "/" + string(r.Reason)
		}
		if r.Manual {
			text += " by hand"
		}
		words = append(words, text)
	}
	for _, gap := range a.Unknown {
		words = append(words, gap.Reason+" until "+gap.To.Format("15:04"))
	}
	return strings.Join(words, ", ")
}

// TestAccount accounts for periods of a job that runs every hour from 06:00 on, unless it says otherwise.
func TestAccount(t *testing.T) {
	every := job(t, "05:00:00", hourly)
	half := edited(t, every, "08:30:00", `"startTime": "2026-03-02T06:30:00Z", "recurrence": {"frequency": "Hour"}`)
	off, on := in(scheduler.Disabled, every, "07:30:00"), in(scheduler.Enabled, in(scheduler.Disabled, every, "07:30:00"), "09:30:00")
	over := *every
	over.State, over.Progress.Seen = scheduler.Completed, at("07:00:00")
	jittered := job(t, "05:00:00", hourly+`, "jitter": "PT50M"`)
	once := job(t, "05:00:00", `"startTime": "2026-03-02T07:00:00Z"`)
	ran := func(times ...string) (all []*scheduler.Record) {
		for _, at := range times {
			all = append(all, attempt(at, 1, scheduler.OutcomeCompleted, 0))
		}
		return all
	}
	failed := func(at string) *scheduler.Record { return attempt(at, 1, scheduler.OutcomeFailed, 0) }
	faulted := func(at string) *scheduler.Record {
		r := attempt(at, 1, scheduler.OutcomeFaulted, 0)
		r.ID = ""
		return r
	}
	skip := func(reason scheduler.Reason, from, to string, n int) *scheduler.Record {
		return omitted(scheduler.OutcomeSkipped, reason, from, to, n)
	}
	byHand := failed("07:20:00")
	byHand.Kind = scheduler.Manual
	earlier := ran("07:00:00")[0]
	earlier.UID = "another1"
	deferred := failed("07:00:00")
	deferred.Outcome, deferred.Started = scheduler.OutcomePostponed, time.Time{}
	renewed := skip(scheduler.ReasonCatchUp, "06:30:00", "08:30:00", 3)
	renewed.Schedule = 2
	all := func(records ...[]*scheduler.Record) (list []*scheduler.Record) {
		for _, r := range records {
			list = append(list, r...)
		}
		return list
	}
	counted := job(t, "05:00:00", `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Hour", "count": 2}`)
	second := attempt("07:00:00", 1, scheduler.OutcomeFailed, 0)
	second.Progress.Runs = 2
	paused := once.Paused(at("12:00:00"), at("06:00:00"))
	these := func(records ...*scheduler.Record) []*scheduler.Record { return records }
	for _, row := range []struct {
		name     string
		versions []*scheduler.Job
		baton    *scheduler.Baton
		records  []*scheduler.Record
		known    string
		want     string
	}{
		{"all ran", []*scheduler.Job{every}, baton("10:00:00"), ran("06:00:00", "07:00:00", "08:00:00", "09:00:00"), "", "06:00 completed, 07:00 completed, 08:00 completed, 09:00 completed"},
		{"one has no record", []*scheduler.Job{every}, baton("10:00:00"), ran("06:00:00", "08:00:00", "09:00:00"), "", "06:00 completed, 07:00 missing, 08:00 completed, 09:00 completed"},
		{"without a baton", []*scheduler.Job{every}, nil, ran("06:00:00"), "", "06:00 completed, 07:00-09:00×3 missing"},
		{"the baton has come to the others", []*scheduler.Job{every}, baton("08:00:00", tried), all(ran("06:00:00", "07:00:00"), these(failed("08:00:00"))), "", "06:00 completed, 07:00 completed, 08:00 pending, 09:00 pending"},
		{"some were skipped", []*scheduler.Job{every}, baton("10:00:00"), all(ran("06:00:00"), these(skip(scheduler.ReasonOverlap, "07:00:00", "09:00:00", 3))), "", "06:00 completed, 07:00-09:00×3 skipped/overlap"},
		{"it faulted", []*scheduler.Job{every}, baton("10:00:00"), all(ran("07:00:00", "08:00:00", "09:00:00"), these(failed("06:00:00"), faulted("06:00:00"))), "", "06:00 faulted, 07:00 completed, 08:00 completed, 09:00 completed"},
		{"an attempt without an end", []*scheduler.Job{every}, baton("10:00:00"), all(ran("06:00:00", "08:00:00", "09:00:00"), these(deferred)), "", "06:00 completed, 07:00 unended, 08:00 completed, 09:00 completed"},
		{"a manual run without an end", []*scheduler.Job{every}, baton("10:00:00"), all(ran("06:00:00", "07:00:00", "08:00:00", "09:00:00"), these(byHand)), "", "06:00 completed, 07:00 completed, 07:20 unended by hand, 08:00 completed, 09:00 completed"},
		{"records of an earlier job of the name", []*scheduler.Job{every}, baton("10:00:00"), all(ran("06:00:00", "08:00:00", "09:00:00"), these(earlier)), "", "06:00 completed, 07:00 missing, 08:00 completed, 09:00 completed"},
		{"disabled", []*scheduler.Job{off, every}, nil, ran("06:00:00", "07:00:00"), "", "06:00 completed, 07:00 completed"},
		{"disabled, and one before has no record", []*scheduler.Job{off, every}, nil, ran("06:00:00"), "", "06:00 completed, 07:00 missing"},
		{"enabled again", []*scheduler.Job{on, off, every}, baton("10:00:00"), all(ran("06:00:00", "07:00:00"), these(skip(scheduler.ReasonDisabled, "08:00:00", "09:00:00", 2))), "", "06:00 completed, 07:00 completed, 08:00-09:00×2 skipped/disabled"},
		{"paused, and not recorded yet", []*scheduler.Job{every}, baton("12:00:00", func(b *scheduler.Baton) { b.PausedFrom = at("08:00:00") }), ran("06:00:00", "07:00:00"), "", "06:00 completed, 07:00 completed, 08:00-09:00×2 pending"},
		{"postponed, and not recorded since", []*scheduler.Job{every}, baton("10:00:00", func(b *scheduler.Baton) { b.PostponementRecorded, b.Seen = true, at("07:00:00") }), all(ran("06:00:00"), these(omitted(scheduler.OutcomePostponed, "", "07:00:00", "07:00:00", 1))), "", "06:00 completed, 07:00 postponed, 08:00-09:00×2 pending"},
		{"its count is used up, and the last run is retried", []*scheduler.Job{counted}, baton("07:00:00", tried), all(ran("06:00:00"), these(second)), "", "06:00 completed, 07:00 pending"},
		{"edited", []*scheduler.Job{half, every}, baton("09:30:00"), all(ran("06:00:00", "07:00:00", "08:00:00"), these(renewed)), "", "06:00 completed, 07:00 completed, 08:00 completed, 08:30 skipped/catchUp, 09:30 pending"},
		{"what the new schedule skips has no record of the old one's", []*scheduler.Job{half, every}, baton("09:30:00"), all(ran("06:00:00", "07:00:00"), these(renewed)), "", "06:00 completed, 07:00 completed, 08:00 missing, 08:30 skipped/catchUp, 09:30 pending"},
		{"edited, and the definition before is not kept", []*scheduler.Job{half}, baton("09:30:00"), these(renewed), "08:30:00", "08:30 skipped/catchUp, 09:30 pending, edited until 08:30"},
		{"at its end", []*scheduler.Job{&over}, nil, ran("06:00:00", "07:00:00"), "", "06:00 completed, 07:00 completed"},
		{"the jitter is still to come", []*scheduler.Job{jittered}, nil, ran("06:00:00", "07:00:00", "08:00:00"), "", "06:00 completed, 07:00 completed, 08:00 completed, 09:00 pending"},
		{"a one-shot was disabled in its pause", []*scheduler.Job{in(scheduler.Disabled, paused, "09:00:00"), paused, once}, nil, nil, "", ""},
		{"a one-shot waits for its collection", []*scheduler.Job{once}, baton("07:00:00", func(b *scheduler.Baton) { b.PostponementRecorded = true }), these(omitted(scheduler.OutcomePostponed, "", "07:00:00", "07:00:00", 1)), "", "07:00 pending"},
	} {
		p := &explain.Period{
			Key: key, From: at("05:30:00"), To: at("09:35:00"), Now: at("09:35:00"), Versions: row.versions,
			Places: []explain.Place{{Baton: row.baton}},
		}
		if row.name == "the jitter is still to come" {
			p.To, p.Now = at("09:00:00.1"), at("09:00:00.1")
		}
		if row.known != "" {
			p.Known = at(row.known)
		}
		gaps := p.Begin()
		for _, r := range row.records {
			p.Take(r)
		}
		if got := sentence(p.Account(gaps)); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestAccountIsBounded accounts, answer by answer, for more instants than one has.
func TestAccountIsBounded(t *testing.T) {
	j := job(t, "05:00:00", `"startTime": "2026-03-02T06:00:00Z", "recurrence": {"frequency": "Second"}`)
	from, to, answers, due := at("06:00:00"), at("08:00:00"), 0, 0
	for !from.IsZero() {
		p := &explain.Period{Key: key, From: from, To: to, Now: to, Versions: []*scheduler.Job{j}}
		a := p.Account(p.Begin())
		answers++
		due += a.Due
		if from = a.Next; a.Due > 5000 || a.Lacking != a.Due {
			t.Fatalf("%+v", a.Counts)
		}
	}
	if answers != 2 || due != 7200 {
		t.Errorf("%d answers with %d instants", answers, due)
	}
}

// TestAccountOfClockChange accounts for the night in which the clock jumps over 02:30.
func TestAccountOfClockChange(t *testing.T) {
	j := job(t, "00:00:00", `"timeZone": "Europe/Berlin", "dst": {"gap": "skip"}, "recurrence": {"cron": "30 2 * * *"}`)
	p := &explain.Period{Key: key, From: at("00:00:00"), To: at("00:00:00").AddDate(0, 0, 30), Now: at("00:00:00").AddDate(0, 0, 30), Versions: []*scheduler.Job{j}}
	gaps := p.Begin()
	p.Take(omitted(scheduler.OutcomeSkipped, scheduler.ReasonDST, "01:00:00", "01:00:00", 1))
	if a := p.Account(gaps); a.Due != 29 || a.Lacking != 29 {
		t.Errorf("%d due, %d lacking; want 29: of 30 nights, one has no 02:30", a.Due, a.Lacking)
	}
}
