package scheduler

import (
	"time"
	"unicode/utf8"
)

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
	if next, ok := ran.again(b, res, ended); ok && canceled == nil {
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

// again returns the baton of the next attempt of the same occurrence: a retry, or the first attempt of the next
// errorAction.
func (j *Job) again(b Baton, res Result, ended time.Time) (*Baton, bool) {
	next := b
	next.Try++
	next.Suspect = false
	next.DeferredUntil, next.DeferredSince, next.DeferralRecorded = time.Time{}, time.Time{}, false
	action := &j.Def.Action
	if res.Failed {
		if due, ok := action.In(b.Position()).Retry.Next(b.Attempt, b.attemptID(j.Key), res, ended); ok {
			next.Attempt++
			next.Due = due
			return &next, true
		}
	}
	position, ok := action.After(b.Position(), res.Failed)
	if !ok {
		return nil, false
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
