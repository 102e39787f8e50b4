package scheduler_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// mustSay compares the short text of a decision with that of a row.
func mustSay(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "; "), strings.Split(got, "; ")); diff != "" {
		t.Errorf("%s:\n got %s\nwant %s\n(-want +got)\n%s", what, got, want, diff)
	}
}

var verdicts = map[scheduler.Verdict]string{
	scheduler.Run: "run", scheduler.Detach: "detach", scheduler.Ask: "ask", scheduler.Skip: "skip", scheduler.Wait: "wait",
	scheduler.Restart: "restart", scheduler.Proceed: "proceed", scheduler.Drop: "drop", scheduler.Astray: "astray", scheduler.Orphan: "orphan",
}

// said returns a short text of a decision: the verdict and the baton that runs, the records before it, and the step.
func said(d scheduler.Decision) string {
	words := verdicts[d.Verdict]
	if d.Verdict == scheduler.Run || d.Verdict == scheduler.Detach || d.Verdict == scheduler.Ask {
		words += " " + batonSaid(&d.Baton)
	}
	if d.Later {
		words += " (later)"
	}
	parts := append([]string{words}, recordsSaid(d.Records)...)
	switch d.Verdict {
	case scheduler.Run, scheduler.Ask, scheduler.Restart, scheduler.Drop, scheduler.Astray, scheduler.Orphan: // Step is empty
	case scheduler.Detach, scheduler.Skip, scheduler.Wait, scheduler.Proceed:
		parts = append(parts, stepSaid(d.Step))
	}
	return strings.Join(parts, "; ")
}

// stepSaid returns a short text of a step: its records, and the next baton or the end of the job.
func stepSaid(s scheduler.Step) string {
	parts := recordsSaid(s.Records)
	switch {
	case s.Merge:
		parts = append(parts, "merge")
	case s.Next == nil:
		parts = append(parts, "no baton, "+string(s.State))
	default:
		words := "next " + batonSaid(s.Next)
		if !s.At.IsZero() {
			words += ", fired at " + clock(s.At)
		}
		if s.State != scheduler.Enabled {
			words += ", " + string(s.State)
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ")
}

func batonSaid(b *scheduler.Baton) string {
	words := []string{clock(b.Nominal)}
	add := func(said bool, s ...string) {
		if said {
			words = append(words, s...)
		}
	}
	add(b.Kind == scheduler.Manual, "by hand")
	add(b.Kind == scheduler.Detached, "detached")
	add(b.Kind == scheduler.ManualDetached, "by hand, detached")
	add(!b.Due.Equal(b.Nominal), "due", clock(b.Due))
	add(b.Begun(), "try", strconv.Itoa(b.Try+1))
	add(b.Phase == scheduler.ErrorPhase, "of the errorAction")
	add(b.PostponementRecorded, "postponed")
	add(b.Deferred() && !b.Unmet, "deferred until", clock(b.DeferredUntil))
	add(b.Unmet, "unmet until", clock(b.DeferredUntil))
	add(b.Queued, "queued")
	add(!b.PausedFrom.IsZero(), "paused from", clock(b.PausedFrom))
	add(!b.Gap.IsZero(), "gap", clock(b.Gap))
	add(!b.Resume.IsZero(), "resume", clock(b.Resume))
	return strings.Join(words, " ")
}

func recordsSaid(records []scheduler.Record) []string {
	var all []string
	for i := range records {
		r := &records[i]
		words := string(r.Outcome)
		if r.Reason != "" {
			words += " for " + string(r.Reason)
		}
		switch {
		case r.Outcome == scheduler.OutcomeFaulted:
			words += " " + clock(r.Nominal)
		case r.From.Equal(r.To):
			words += fmt.Sprintf(" %d at %s", r.Count, clock(r.From))
		default:
			words += fmt.Sprintf(" %d from %s to %s", r.Count, clock(r.From), clock(r.To))
		}
		all = append(all, words)
	}
	return all
}

// progressSaid returns a short text of a job's progress.
func progressSaid(p scheduler.Progress) string {
	var parts []string
	for _, n := range []struct {
		name  string
		count int
	}{{"begun", p.Number}, {"runs", p.Runs}, {"attempts", p.Executions}, {"failed", p.Failures}, {"faults", p.Faults}} {
		if n.count != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", n.name, n.count))
		}
	}
	for _, x := range []struct {
		name string
		time time.Time
	}{{"last", p.Last}, {"seen", p.Seen}, {"base", p.Base}, {"ran", p.Ran}, {"prior", p.Prior}} {
		if !x.time.IsZero() {
			parts = append(parts, x.name+" "+clock(x.time))
		}
	}
	return strings.Join(parts, "; ")
}

// clock returns a time on the day of the rows, or another one with its date.
func clock(t time.Time) string {
	if t.Format(time.DateOnly) == "2026-03-02" {
		return t.Format("15:04:05.999")
	}
	return t.Format(time.RFC3339)
}
