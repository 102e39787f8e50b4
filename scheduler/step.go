package scheduler

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Step is the result of a decision: records, and then the next baton or the job's end. Package step executes it.
type Step struct {
	Records  []Record  // written first, in order
	Next     *Baton    // nil: the job has no baton any more
	At       time.Time // when JetStream fires Next; zero: by [Job.ArmAt]
	State    State     // the job's state after the step
	Progress Progress  // the job's progress at the start of Next, or at its end

	// Merge: the baton belonged to a detached run, and Progress is added to the job's progress.
	Merge bool
}

// after returns the step with records before its own.
func (s Step) after(records []Record) Step {
	if len(records) > 0 {
		s.Records = append(slices.Clip(records), s.Records...)
	}
	return s
}

// WithoutFaulted returns the step without the faulted record, which the history already has.
func (s Step) WithoutFaulted() Step {
	s.Records = slices.DeleteFunc(s.Records, func(r Record) bool { return r.Outcome == OutcomeFaulted })
	return s
}

// counting returns the step with counters of at least p, which the definition holds: the found record does not include
// detached runs.
func (s Step) counting(p *Progress) Step {
	s.Progress.keep(p)
	if s.Next != nil {
		next := *s.Next
		next.keep(p)
		s.Next = &next
	}
	return s
}

// Doubted returns the step of a redelivered baton b, whose previous worker may have died during the attempt: a skipped
// record of b's occurrence states that.
func (s Step) Doubted(k Key, b Baton) Step {
	for i := range s.Records {
		if r := &s.Records[i]; r.Outcome == OutcomeSkipped && r.Message == "" && r.Occurrence == OccurrenceID(k, b.Nominal) {
			r.Message = doubt
		}
	}
	return s
}

// doubt is the message of a skipped occurrence that may have begun.
const doubt = "its target may have been called: the worker that had it before was gone before it could record that"

// step builds the baton of the occurrence at n, or ends the job if none is left. now is the time of the decision.
func (j *Job) step(p Progress, n time.Time, ok bool, now time.Time) Step {
	if j.exhausted(p) {
		return Step{State: Completed, Progress: p}
	}
	if spec.GaveUp(n, ok) {
		return j.giveUp(p, now)
	}
	if !ok {
		return Step{State: Completed, Progress: p, Records: j.skipped(j.lastGap(p), now, p)}
	}
	n, from := j.beyondPause(p, n)
	return Step{State: j.State, Progress: p, Next: &Baton{
		UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: n, Due: j.mayBegin(p, n), Gap: j.gap(p, n),
		PausedFrom: from, Progress: p,
	}}
}

// giveUp ends a job whose next run is too expensive to compute, and records that. The schedule may have further times.
func (j *Job) giveUp(p Progress, now time.Time) Step {
	p.GaveUp = true
	s := skip{from: now, to: now, count: 1, reason: ReasonCostly, message: tooCostly}
	return Step{State: Faulted, Progress: p, Records: j.skipped([]skip{s}, now, p)}
}

// tooCostly is the message of a job that ends because its schedule is too expensive to compute.
const tooCostly = "too costly: it takes too much work to find the next run, so the job is over, though its schedule may not be"

// wait re-arms b. skips are the times passed over so far.
func (j *Job) wait(b Baton, skips []skip, now time.Time) Step {
	return Step{Next: &b, State: j.State, Progress: b.Progress, Records: j.skipped(skips, now, b.Progress)}
}

// end removes the job's baton.
func (j *Job) end(p Progress, skips []skip, now time.Time) Step {
	return Step{State: j.State, Progress: p, Records: j.skipped(skips, now, p)}
}

// exhausted reports whether the job has reached recurrence.count.
func (j *Job) exhausted(p Progress) bool {
	limit := j.Plan.MaxRuns()
	return limit > 0 && p.Runs >= limit
}

// MergeStored adds the counters p of a detached run to j, which has no baton. It returns false if they were already
// added. The job is faulted if its last occurrence failed, and completed if a resubmission of it succeeded.
func (j *Job) MergeStored(detached Baton, p Progress) (*Job, bool) {
	next := *j
	if !next.Progress.Merge(p, detached.Nominal) {
		return nil, false
	}
	next.Progress.Number += detached.Uncounted(p)
	if detached.Schedule == j.ScheduleGen {
		next.Progress.Base = later(next.Progress.Base, p.Base)
	}
	if p.Faults > 0 && j.State == Completed && detached.Number == j.Progress.Number && !detached.Kind.IsManual() {
		next.State = Faulted
	}
	if r := detached.Resubmits; r != nil && r.Nominal.Equal(j.Progress.Seen) && j.State == Faulted && p.Executions > 0 && p.Faults == 0 {
		next.State = Completed
	}
	return &next, true
}
