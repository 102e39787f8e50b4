package job

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// step is a period of a run on its timeline, or a moment of it.
type step struct {
	Name     string
	State    string // name of its mark; "": none
	Why      string // the reason for a delay, or the result of an attempt
	At, Took time.Duration
	X, Width int // its bar, in thousandths of the timeline
}

// shortWait is the minimum wait for a slot that the timeline shows.
const shortWait = 10 * time.Millisecond

// Steps returns the timeline of the run, from the due time to the last record; none if it has no attempt. It shows what
// the records have: a wait for a slot includes the wait for a worker.
func (o *run) Steps() (all []step) {
	if len(o.Attempts) == 0 {
		return nil
	}
	begin := o.Nominal
	if o.Missing > 0 {
		begin = o.Attempts[0].Record.Due
	}
	at, last := begin, o.Attempts[len(o.Attempts)-1].Record
	add := func(name, state, why string, until time.Time) {
		took := max(0, until.Sub(at))
		all = append(all, step{Name: name, State: state, Why: why, At: at.Sub(begin), Took: took})
		at = at.Add(took)
	}
	wait := func(name, state, why string, until time.Time) {
		if until.After(at) {
			add(words.Text("job.step."+name), state, why, until)
		}
	}
	add(words.Text("job.step.due"), "", o.because(), at)
	held, next := "", words.Text("job.step.delayed.why")
	for _, a := range o.Attempts {
		r := a.Record
		if held == "" {
			name := "retry"
			if r.Try <= 1 {
				name = "delayed"
			}
			wait(name, "", next, r.Due)
		}
		switch {
		case held != "" && a.Deferred:
			wait("held", "postponed", held, r.Ended)
		case held != "":
			wait("held", "postponed", held, r.Started)
		case !a.Deferred && r.Started.Sub(at) >= shortWait:
			wait("waited", "postponed", words.Text("job.step.waited.why"), r.Started)
		}
		if held = ""; a.Deferred {
			held = r.Message
			continue
		}
		name := words.Text("job.attempt", r.Try)
		if a.ErrorAction {
			name = words.Text("job.action.error")
		}
		if r.Started.After(at) { // the clocks of workers differ
			at = r.Started
		}
		add(name, string(r.Outcome), strings.TrimPrefix(fmt.Sprintf("%d %s", r.Status, a.Said.Text), "0 "), r.Ended)
		if next = words.Text("job.step.retry.why"); r.RetryAfter > 0 {
			next = words.Text("job.step.retry.asked")
		}
	}
	if held != "" {
		add(words.Text("job.step.held"), "postponed", held, last.Ended)
	}
	wait("recorded", "", "", last.Stored)
	whole := max(1, at.Sub(begin))
	for i := range all {
		all[i].X = int(995 * all[i].At / whole)
		all[i].Width = max(5, int(995*all[i].Took/whole))
	}
	return all
}

// because returns the reason of the run.
func (o *run) because() string {
	switch {
	case o.Cause != nil:
		return o.Cause.Describe()
	case o.Manual:
		return words.Text("common.manual")
	}
	return words.Text("job.filter.planned")
}
