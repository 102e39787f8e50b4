package scheduler

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Step is what follows for a job: what is recorded, and then its next baton or
// its end. Package step carries it out.
type Step struct {
	Records  []Record  // written first, in order
	Next     *Baton    // nil: the job has no baton any more
	At       time.Time // when JetStream is to fire Next; zero: as [Job.ArmAt] says
	State    State     // the job's state from now on
	Progress Progress  // what the job has done when Next begins, or in the end

	// Merge: the baton was a detached run's, and Progress is what it adds to
	// that of its job.
	Merge bool
}

// after returns the step with records before its own.
func (s Step) after(records []Record) Step {
	if len(records) > 0 {
		s.Records = append(slices.Clip(records), s.Records...)
	}
	return s
}

// WithoutFaulted returns the step without the record that the occurrence
// faulted, which the history has already.
func (s Step) WithoutFaulted() Step {
	s.Records = slices.DeleteFunc(s.Records, func(r Record) bool { return r.Outcome == OutcomeFaulted })
	return s
}

// counting returns the step with no less counted than p, which the definition says: of
// what ran beside the schedule, the record that was found knows nothing.
func (s Step) counting(p *Progress) Step {
	s.Progress.keep(p)
	if s.Next != nil {
		next := *s.Next
		next.keep(p)
		s.Next = &next
	}
	return s
}

// Doubted returns the step of a baton b that a worker had before, which may have
// died amid the attempt: where b's occurrence is skipped, the record says so.
func (s Step) Doubted(k Key, b Baton) Step {
	for i := range s.Records {
		if r := &s.Records[i]; r.Outcome == OutcomeSkipped && r.Message == "" && r.Occurrence == OccurrenceID(k, b.Nominal) {
			r.Message = doubt
		}
	}
	return s
}

// doubt is said of an occurrence that was skipped, though nobody knows whether it had begun.
const doubt = "its target may have been called: the worker that had it before was gone before it could record that"

// step builds the baton of the occurrence at n, or ends the job when there is
// none left. now is the time of the decision.
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

// giveUp ends a job whose next run is too hard to find: it is not known whether
// there is one. The history says so.
func (j *Job) giveUp(p Progress, now time.Time) Step {
	p.GaveUp = true
	s := skip{from: now, to: now, count: 1, reason: ReasonCostly, message: tooCostly}
	return Step{State: Faulted, Progress: p, Records: j.skipped([]skip{s}, now, p)}
}

// tooCostly is said of a schedule that a job cannot follow any longer.
const tooCostly = "too costly: it takes too much work to find the next run, so the job is over, though its schedule may not be"

// wait lets b go on waiting. The records are of what was omitted so far.
func (j *Job) wait(b Baton, skips []skip, now time.Time) Step {
	return Step{Next: &b, State: j.State, Progress: b.Progress, Records: j.skipped(skips, now, b.Progress)}
}

// end takes the job's baton away.
func (j *Job) end(p Progress, skips []skip, now time.Time) Step {
	return Step{State: j.State, Progress: p, Records: j.skipped(skips, now, p)}
}

// exhausted reports whether recurrence.count is used up.
func (j *Job) exhausted(p Progress) bool {
	limit := j.Plan.MaxRuns()
	return limit > 0 && p.Runs >= limit
}

// MergeStored adds to j, which has no baton, the counters p of a detached run.
// False means that they had been added before. The job faulted when it was its
// last occurrence that did, and is completed when that was repeated with success.
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
