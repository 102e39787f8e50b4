package scheduler

import (
	"time"
	"unicode/utf8"
)

// After says what follows an attempt of b, as begun and counted, that ended
// with res and is recorded. ran is the definition it ran under: its retry
// policies serve the occurrence to its end. j is the job as it is now, nil when
// there is none: it plans what is next.
func After(ran, j *Job, b Baton, res Result, ended time.Time) Decision {
	switch {
	case j == nil:
		return Decision{Verdict: Astray}
	case !b.BelongsTo(j) || ran.UID != j.UID: // deleted, and its name used again
		return Decision{Verdict: Orphan}
	case j.State.Final() && !b.Kind.IsDetached():
		return Decision{Verdict: Drop} // its end is written
	}
	return Decision{Verdict: Proceed, Step: j.settled(&b, j.after(ran, b, res, ended), ended)}
}

// settled returns the step s after the occurrence of b as the kind of b and the
// state of j want it.
func (j *Job) settled(b *Baton, s Step, ended time.Time) Step {
	switch {
	case b.Kind.IsDetached():
		s.Merge = s.Next == nil
	case j.State == Disabled && s.Next != nil && s.Next.NeedsOpen() && s.Next.Unrecorded().Before(ended):
		s = j.stop(*s.Next, ended).after(s.Records) // its instants fell due while the occurrence ran
	case j.State == Disabled && (s.Next == nil || s.Next.NeedsOpen()):
		s.Next, s.State = nil, Disabled
	}
	return s
}

// after plans the step that follows an attempt of an existing job. The step includes a
// record if the occurrence failed after all retries or was canceled.
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

// occurred plans what follows the occurrence of b, which has ended under the
// definition ran. faulted: it failed after all retries.
func (j *Job) occurred(ran *Job, b Baton, faulted bool, ended time.Time) Step {
	p := b.Progress
	if faulted {
		p.Faults++
	}
	if b.Kind.IsDetached() { // the schedule does not follow from it
		return Step{State: j.State, Progress: p}
	}
	s := j.leave(ran, p, b, j.following(p, b, ended))
	if s.Next == nil && s.State == Completed && faulted && b.Kind == Planned {
		s.State = Faulted
	}
	return s
}

// again returns the baton of the next attempt of the same occurrence: a retry of
// this action, or the first try of the next errorAction.
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

// failure is what becomes known of the action of b, whose last attempt ended with
// res.
func (b *Baton) failure(res Result, ended time.Time) *Failure {
	return &Failure{
		Status: res.Status, Attempts: b.Attempt + 1, Message: cutText(res.Message, maxFailureMessage),
		Summary: cutText(res.Summary, maxFailureMessage),
		Due:     b.Due, Started: ended.Add(-res.Duration), Ended: ended,
	}
}

// maxFailureMessage is the length in bytes at which an errorAction's knowledge
// of what failed is cut: it rides in the baton.
const maxFailureMessage = 2048

// cutText cuts text at a length in bytes, between two characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
