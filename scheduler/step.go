package scheduler

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
		if r := &s.Records[i]; r.Outcome == OutcomeSkipped && r.Occurrence == OccurrenceID(k, b.Nominal) {
			r.Message = strings.TrimPrefix(r.Message+"; "+doubt, "; ")
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
const tooCostly = "too costly: it takes too much work to find the next run, so the job has ended, though its schedule may continue"

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
	if !next.Progress.Merge(p, &detached) {
		return nil, false
	}
	next.Progress.Number += detached.Uncounted(p)
	if detached.Schedule == j.ScheduleGen {
		next.Progress.Base = Later(next.Progress.Base, p.Base)
	}
	if p.Faults > 0 && j.State == Completed && detached.Number == j.Progress.Number && detached.Kind == Detached {
		next.State = Faulted
	}
	if r := detached.Resubmits; r != nil && r.Nominal.Equal(j.Progress.Seen) && j.State == Faulted && p.Executions > 0 && p.Faults == 0 {
		next.State = Completed
	}
	return &next, true
}

// After decides how to continue after a recorded attempt of b with result res. b is the baton as begun and counted. ran
// is the definition of the attempt: its retry policies apply until the occurrence ends. j is the current job, nil if it
// has none: it plans the next occurrence.
func After(ran, j *Job, b Baton, res Result, ended time.Time) Decision {
	switch {
	case j == nil:
		return Decision{Verdict: Astray}
	case !b.BelongsTo(j) || ran.UID != j.UID: // deleted, and its name reused
		return Decision{Verdict: Orphan}
	case j.State.Final() && !b.Kind.IsDetached():
		return Decision{Verdict: Drop} // the end is already written
	}
	return Decision{Verdict: Proceed, Step: j.settled(&b, j.after(ran, b, res, ended), ended)}
}

// settled adapts the step s after the occurrence of b to the kind of b and the state of j.
func (j *Job) settled(b *Baton, s Step, ended time.Time) Step {
	switch {
	case b.Kind.IsDetached():
		s.Merge = s.Next == nil
	case j.State == Disabled && s.Next != nil && s.Next.NeedsOpen() && s.Next.Unrecorded().Before(ended):
		s = j.stop(*s.Next, ended).after(s.Records) // they fell due while the occurrence ran
	case j.State == Disabled && (s.Next == nil || s.Next.NeedsOpen()):
		s.Next, s.State = nil, Disabled
	}
	return s
}

// after plans the step after an attempt of an existing job. The step includes a record if the occurrence failed after
// all retries or was canceled.
func (j *Job) after(ran *Job, b Baton, res Result, ended time.Time) Step {
	canceled := j.Canceling(&b)
	if next, ok := ran.nextAttempt(b, res, ended); ok && canceled == nil {
		return Step{Next: next, State: j.State, Progress: next.Progress}
	}
	if b.Phase == MainPhase && !res.Failed {
		return j.occurred(ran, b, false, ended)
	}
	s := j.occurred(ran, b, true, ended)
	faulted := faultedRecord(ran, &b, res, ended, s.Progress)
	if canceled != nil {
		ran.cancels(&faulted, &b, canceled)
	}
	return s.after([]Record{faulted})
}

// occurred plans the step after the end of b's occurrence under the definition ran. faulted: it failed after all
// retries.
func (j *Job) occurred(ran *Job, b Baton, faulted bool, ended time.Time) Step {
	p := b.Progress
	if faulted {
		p.Faults++
	}
	if b.Kind.IsDetached() { // does not affect the schedule
		return Step{State: j.State, Progress: p}
	}
	s := j.leave(ran, p, b, j.following(p, b, ended))
	if s.Next == nil && s.State == Completed && faulted && b.Kind == Planned {
		s.State = Faulted
	}
	return s
}

// nextAttempt returns the baton of the next attempt of the same occurrence: a retry, or the first attempt of the next
// errorAction.
func (j *Job) nextAttempt(b Baton, res Result, ended time.Time) (*Baton, bool) {
	action, due, retries := &j.Def.Action, ended, false
	if res.Failed {
		_, id := b.ids(j.Key)
		due, retries = action.In(b.Position()).Retry.Next(b.Attempt, id, res, ended)
	}
	position, follows := action.After(b.Position(), res.Failed)
	if !retries && !follows {
		return nil, false // before next is allocated
	}
	next := b
	next.Try++
	next.Suspect = false
	next.DeferredUntil, next.DeferredSince, next.DeferralRecorded, next.Unmet = time.Time{}, time.Time{}, false, false
	next.Due = due
	if retries {
		next.Attempt++
		return &next, true
	}
	next.Phase, next.ErrorAction, next.Attempt, next.Due = position.Phase, position.ErrorAction, 0, ended
	if b.Phase == MainPhase {
		next.Failed = b.failure(res, ended)
	}
	return &next, true
}

// failure describes the failed main action of b, whose last attempt ended with res.
func (b *Baton) failure(res Result, ended time.Time) *Failure {
	return &Failure{
		Status: res.Status, Attempts: b.Attempt + 1, Message: CutText(res.Message, maxFailureMessage),
		Summary: CutText(res.Summary, maxFailureMessage),
		Due:     b.Due, Started: ended.Add(-res.Duration), Ended: ended,
	}
}

// maxFailureMessage is the maximum length in bytes of a text in [Failure], which the baton carries.
const maxFailureMessage = 2048

// CutText cuts text to at most so many bytes, on a character boundary.
func CutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
