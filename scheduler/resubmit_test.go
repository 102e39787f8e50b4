package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestParseOccurrence parses the names of occurrences from users.
func TestParseOccurrence(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-02T09:00:00Z":                     "09:00:00",
		"2026-03-02T10:00:00+01:00":                "09:00:00",
		"2026-03-02T09:00:00.25Z":                  "09:00:00.25",
		"default/job@2026-03-02T09:00:00Z":         "09:00:00",
		"default/job@2026-03-02T09:00:00Z#3":       "09:00:00",
		"default/job@2026-03-02T09:00:00Z/error-2": "09:00:00",
		"default/other@2026-03-02T09:00:00Z":       `occurrence: "default/other@2026-03-02T09:00:00Z" is not an occurrence of default/job`,
		"yesterday":                                `occurrence: "yesterday" is neither a time, `,
		"":                                         `occurrence: "" is neither a time, `,
		"default/job@":                             `occurrence: "default/job@" is neither a time, `,
		"default/job@2026-03-02":                   "00:00:00",
		"20260302T090000Z":                         "09:00:00",
	} {
		got, err := scheduler.ParseOccurrence(key, text)
		switch {
		case err != nil && (!errors.Is(err, scheduler.ErrInvalid) || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%q: %v, want %s", text, err, want)
		case err == nil && clock(got) != want:
			t.Errorf("%q: %s, want %s", text, clock(got), want)
		}
	}
}

// TestParseManagedOccurrence parses an id as in resource group paths.
func TestParseManagedOccurrence(t *testing.T) {
	s := must.Get(scheduler.NewScope("s", "g"))(t)
	managed := scheduler.Key{Collection: s.Collection("partners"), Job: "job"}
	for _, k := range []scheduler.Key{managed, managed.Plain()} {
		if got, err := scheduler.ParseOccurrence(managed, k.String()+"@2026-03-02T09:00:00Z"); err != nil || clock(got) != "09:00:00" {
			t.Errorf("%s: %s %v", k, got, err)
		}
	}
	if _, err := scheduler.ParseOccurrence(managed.Plain(), managed.String()+"@2026-03-02T09:00:00Z"); err == nil {
		t.Error("an occurrence of another scope's job is taken")
	}
}

// resubmitting turns a baton into a manual run that repeats an occurrence.
func resubmitting(nominal string) change {
	return func(b *scheduler.Baton) {
		b.Kind, b.Resubmits = scheduler.Manual, &scheduler.Resubmission{Nominal: at(nominal), Previous: at("08:59:00")}
	}
}

// TestResubmission resubmits the occurrence of nine o'clock, according to the history.
func TestResubmission(t *testing.T) {
	j := job(t, minutely)
	skipped := func(nominal, now string) *scheduler.Record {
		return last(t, scheduler.Decide(in(scheduler.Disabled, j), true, baton(j, nominal), at(now)).Step.Records)
	}
	ran := baton(j, "09:00:00", func(b *scheduler.Baton) { b.Ran = at("08:58:00") })
	done, failed := attempt(j, ran, "09:00:00", succeeds), attempt(j, ran, "09:00:00", fails)
	none := job(t, noRetry+minutely)
	faulted := fault(t, none, ran, "09:00:00", fails)
	other := attempt(j, baton(j, "09:01:00"), "09:01:00", succeeds)
	postponed := last(t, scheduler.Decide(j, false, baton(j, "08:58:00"), at("09:03:10")).Step.Records)
	again, failedAgain := attempt(j, baton(j, "09:30:00", resubmitting("09:00:00")), "09:30:00", succeeds), attempt(j, baton(j, "09:30:00", resubmitting("09:00:00")), "09:30:00", fails)
	handled := *done
	handled.Phase = scheduler.ErrorPhase
	foreign, gap := *failed, *skipped("09:00:00", "09:00:00")
	foreign.UID = "fedcba98"
	gap.Reason, gap.Occurrence = scheduler.ReasonDST, ""
	const (
		notFound  = "occurrence default/job@2026-03-02T09:00:00Z: not found in the history of its job"
		succeeded = "occurrence default/job@2026-03-02T09:00:00Z: conflict: it succeeded; force runs it again"
		repeated  = "occurrence default/job@2026-03-02T09:00:00Z: conflict: it was resubmitted as default/job@2026-03-02T09:30:00Z, which succeeded; force runs it again"
	)
	for _, row := range []struct {
		name    string
		history history // newest first
		force   bool
		want    string
	}{
		{"it faulted", history{other, faulted, failed}, false, "09:00:00 after 08:58:00"},
		{"it failed, and was cut off", history{other, failed}, false, "09:00:00 after 08:58:00"},
		{"its errorAction was the last", history{&handled, failed}, false, "09:00:00 after 08:58:00"},
		{"it was skipped", history{skipped("09:00:00", "09:00:00")}, false, "09:00:00"},
		{"it was postponed among others", history{postponed}, false, "09:00:00"},
		{"it succeeded", history{other, done}, false, succeeded},
		{"it succeeded, after it failed", history{done, failed}, false, succeeded},
		{"it succeeded, and is forced", history{other, done}, true, "09:00:00 after 08:58:00"},
		{"there is none", history{other}, false, notFound},
		{"there is none, and it is forced", nil, true, notFound},
		{"it was an earlier job's", history{&foreign}, false, notFound},
		{"a clock jumped over it", history{&gap}, false, notFound},
		{"another was skipped", history{skipped("09:05:00", "09:05:00")}, false, notFound},
		{"it was repeated in vain", history{failedAgain, faulted, failed}, false, "09:00:00 after 08:58:00"},
		{"it was repeated with success", history{again, failedAgain, faulted, failed}, false, repeated},
		{"it was repeated with success, and is forced", history{again, faulted, failed}, true, "09:00:00 after 08:58:00"},
	} {
		search := scheduler.NewOccurrenceSearch(j, at("09:00:00"))
		row.history.visit(search.Visit)
		r, err := search.Resubmission(row.force)
		var got string
		switch {
		case err != nil:
			got = err.Error()
		case r.Previous.IsZero():
			got = clock(r.Nominal)
		default:
			got = clock(r.Nominal) + " after " + clock(r.Previous)
		}
		if got != row.want || err != nil && !errors.Is(err, scheduler.ErrNotFound) && !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	search := scheduler.NewOccurrenceSearch(j, at("09:30:00"))
	search.Visit(failedAgain)
	if r, err := search.Resubmission(false); err != nil || !r.Nominal.Equal(at("09:00:00")) {
		t.Errorf("a resubmission is resubmitted as %+v, %v", r, err)
	}
	for nominal, want := range map[string]bool{"08:58:00": true, "09:00:00": true, "09:03:00": true, "09:00:30": false, "09:04:00": false} {
		search := scheduler.NewOccurrenceSearch(j, at(nominal))
		search.Visit(postponed)
		if (search.Found != nil) != want {
			t.Errorf("%s among 08:58 to 09:03: %t", nominal, !want)
		}
	}
}

// TestResubmittedAttempt checks that a resubmission has distinct ids and a distinct key, and passes the times of the
// repeated occurrence to its action. All its records name that occurrence.
func TestResubmittedAttempt(t *testing.T) {
	j := job(t, errorAction+minutely)
	b := baton(j, "09:30:00.25", resubmitting("09:00:00"), func(b *scheduler.Baton) { b.Ran = at("09:29:00") })
	const id = "default/job@2026-03-02T09:30:00.25Z"
	a := b.AttemptOf(key)
	if a.Occurrence != id || a.Key != id || a.ID != id+"#1" || !a.Nominal.Equal(at("09:00:00")) || !a.Previous.Equal(at("08:59:00")) || !a.Due.Equal(at("09:30:00.25")) {
		t.Errorf("the attempt is %+v", a)
	}
	s := &story{t: t, job: j, now: at("09:30:00.25"), baton: b}
	s.attempt(fails, true)
	if a := s.baton.AttemptOf(key); a.Key != id+"/error" || !a.Nominal.Equal(at("09:00:00")) {
		t.Errorf("the errorAction's attempt is %+v", a)
	}
	s.attempt(succeeds, true)
	for _, r := range append(s.history, s.faulted) {
		if diff := cmp.Diff(b.Resubmits, r.Resubmits); diff != "" || r.Occurrence != id {
			t.Errorf("the record of %s repeats (-want +got)\n%s", r.Occurrence, diff)
		}
	}
	if !b.Repeats(at("09:00:00")) || !b.Repeats(at("09:30:00.25")) || b.Repeats(at("09:01:00")) {
		t.Error("the baton does not know what it repeats")
	}
}
