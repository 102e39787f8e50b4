package jobs

import (
	"cmp"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// stripMost limits the runs of a strip.
const stripMost = 12

// mixed marks runs if the records only show how many of them faulted.
const mixed scheduler.Outcome = "mixed"

// bars are the bars of a strip, in the order of its text. They differ in height, not only in color.
var bars = []struct {
	state scheduler.Outcome
	class string
	high  int
}{
	{scheduler.OutcomeCompleted, "bar-completed", 8},
	{scheduler.OutcomeFailed, "bar-failed", 12},
	{scheduler.OutcomeFaulted, "bar-failed", 16},
	{mixed, "bar-other", 5},
	{scheduler.OutcomeSkipped, "bar-other", 3},
	{scheduler.OutcomePostponed, "bar-other", 3},
}

// stripOf returns the chart of the last runs of a job from its last record of each outcome; nil if it has not run.
func stripOf(v *v1.Job, last []*scheduler.Record) *frame.Spark {
	states := statesOf(v, last)
	if len(states) == 0 {
		return nil
	}
	s := &frame.Spark{Text: words.Count("job.timeline.summary", len(states)), Paths: map[string]string{}}
	const width, wide = 60, 60 / stripMost
	for _, bar := range bars {
		n := 0
		for i, state := range states {
			if state == bar.state {
				s.Bar(bar.class, width-(i+1)*wide, wide-1, bar.high)
				n++
			}
		}
		if n > 0 {
			s.Text += " " + words.Text("job.timeline.some", n, words.Text("job.outcome."+string(bar.state)))
		}
	}
	return s
}

// statesOf returns the outcomes of the last runs of a job, newest first. Each record counts the
// runs and the faulted runs up to it, which shows the outcomes of the runs between two records if all or none of them
// faulted. The records of detached runs have no counts; the job has.
func statesOf(v *v1.Job, last []*scheduler.Record) (states []scheduler.Outcome) {
	add := func(n int, state scheduler.Outcome) {
		states = append(states, slices.Repeat([]scheduler.Outcome{state}, max(0, min(n, stripMost-len(states))))...)
	}
	fill := func(n, faults int) {
		switch {
		case faults <= 0:
			add(n, scheduler.OutcomeCompleted)
		case faults >= n:
			add(n, scheduler.OutcomeFaulted)
		default:
			add(n, mixed)
		}
	}
	last = slices.DeleteFunc(last, func(r *scheduler.Record) bool { return r.Damaged || !r.IsOf(v.Job.Incarnation()) })
	slices.SortFunc(last, func(a, b *scheduler.Record) int { return cmp.Compare(b.Sequence, a.Sequence) })
	runs, faults := v.Status.Occurrences, v.Status.Faults
	counted := len(last) > 0 && !slices.ContainsFunc(last, func(r *scheduler.Record) bool { return r.Kind.IsDetached() })
	if counted {
		runs, faults = last[0].Progress.Number, last[0].Progress.Faults
	}
	ended := false // a later run has
	for _, r := range last {
		state, p := r.Outcome, &r.Progress
		if r.Phase == scheduler.ErrorPhase && state == scheduler.OutcomeCompleted {
			state = scheduler.OutcomeFailed // of a run that continues
		}
		if ended && (state == scheduler.OutcomeFailed || !counted) {
			continue
		}
		if counted && p.Number <= runs {
			fill(runs-p.Number, faults-p.Faults)
			runs, faults = p.Number, p.Faults
		}
		add(1, state)
		if state == scheduler.OutcomeFaulted {
			faults--
		}
		if state != scheduler.OutcomeSkipped && state != scheduler.OutcomePostponed {
			ended = true
			runs--
		}
	}
	fill(runs, faults)
	return states
}
