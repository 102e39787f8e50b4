package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// Recover decides how to continue with a baton whose attempt is already recorded, as search found: the baton was
// redelivered, or its worker does not know the outcome. j is the current job, and ran the definition of the revision of
// [AttemptSearch.Baton]; both are nil if they do not exist.
//
// The previous worker may have stopped at these points, in order:
//
//	before the record   no record exists; the attempt runs under the same key
//	after the record    Recover decides
//	after passing on    the store rejects the move
//	after the job's end the definition contains the end
func Recover(ran, j *Job, search *AttemptSearch, now time.Time) Decision {
	record, b := search.Found, search.Baton()
	if search.wentOn { // passed on, but not acknowledged
		return Decision{Verdict: Drop, Baton: b}
	}
	if search.besideIt() {
		return RecoverDetached(j, b, record.Started, now)
	}
	d := After(ran, j, b, record.result(), record.Ended)
	d.Baton = b
	if search.Faulted {
		d.Step = d.Step.WithoutFaulted()
	}
	return d
}

// RecoverDetached decides how to continue with b, a job's own baton, whose occurrence has been running detached since
// started, or has ended: only the baton advances.
func RecoverDetached(j *Job, b Baton, started, now time.Time) Decision {
	switch b.EligibilityOf(j, true) {
	case Gone:
		return Decision{Verdict: Astray}
	case Foreign:
		return Decision{Verdict: Orphan}
	case Eligible, JobEnded, Dropped, Closed:
	}
	return Decision{Verdict: Proceed, Baton: b, Step: j.settled(&b, j.advanceDetached(b, started, now), now)}
}

// SkipsDisabled reports whether r records that b's occurrence was skipped because its job is disabled.
func (r *Record) SkipsDisabled(b Baton) bool {
	return r.UID == b.UID && r.Reason == ReasonDisabled && !b.Nominal.Before(r.From) && !b.Nominal.After(r.To)
}

// Skips reports whether r records that b's occurrence was skipped.
func (r *Record) Skips(b *Baton) bool {
	return r.UID == b.UID && r.Outcome == OutcomeSkipped && r.Kind == b.Kind && r.Nominal.Equal(b.Nominal)
}

// HistoryDepth is the maximum number of records that a search for an attempt reads.
const HistoryDepth = 64

// busyDepth replaces HistoryDepth while the records are newer than the attempt's due time: many detached runs may have
// ended since.
const busyDepth = 64 * HistoryDepth

// AttemptSearch searches a history, newest first, for the record of a baton's attempt.
type AttemptSearch struct {
	Found   *Record // nil: none
	Faulted bool    // a faulted record of the occurrence exists, too

	baton      Baton
	id         string
	occurrence string
	seen       int
	wentOn     bool    // a later attempt of the same slot is recorded
	instead    *Record // attempt of a later time of the schedule; nil: none
}

// SearchedOutcomes are the outcomes that an [AttemptSearch] must see.
var SearchedOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted}

// NewAttemptSearch returns a search for the record of b's attempt.
func NewAttemptSearch(k Key, b Baton) *AttemptSearch {
	occurrence, id := b.ids(k)
	return &AttemptSearch{baton: b, id: id, occurrence: occurrence}
}

// Baton returns the baton to continue from: the baton of the recorded attempt, or, if the attempt ran detached, the
// job's own baton that was searched for.
func (s *AttemptSearch) Baton() Baton {
	if s.besideIt() {
		return s.baton
	}
	b := s.Found.baton()
	b.Events = s.baton.Events // no record has them
	return b
}

// Instead returns the baton of a recorded attempt at a later due time. A baton that misses its due time may run a later one: the
// attempt belongs to it if no other baton has followed.
func (s *AttemptSearch) Instead() (Baton, bool) {
	if s.instead == nil {
		return Baton{}, false
	}
	return s.instead.baton(), true
}

// besideIt reports whether the attempt ran detached from the job's own baton that was searched for.
func (s *AttemptSearch) besideIt() bool {
	return s.Found.Kind.IsDetached() && !s.baton.Kind.IsDetached()
}

// Visit processes the next record and reports whether to continue.
func (s *AttemptSearch) Visit(r *Record) bool {
	s.seen++
	switch {
	case r.UID != s.baton.UID:
	case r.Outcome == OutcomeFaulted:
		s.Faulted = s.Faulted || r.Occurrence == s.occurrence
	case r.ID == s.id:
		s.Found = r
	case s.sameSlot(r) && s.precedes(r):
		return false
	case s.sameSlot(r):
		s.wentOn = true
		if b := &s.baton; !b.Begun() && b.Kind == Planned && r.Kind == Planned && r.Schedule == b.Schedule && r.Nominal.After(b.Nominal) {
			s.instead = r
		}
	}
	return s.Found == nil && (s.seen < HistoryDepth || s.seen < busyDepth && r.Stored.After(s.baton.Due))
}

// precedes reports whether r, an attempt of the same slot, ended before the wanted attempt was due, as all older
// records did. An attempt counts one more than its baton, but an edit may reset the counts to an older definition's.
func (s *AttemptSearch) precedes(r *Record) bool {
	return r.Stored.Before(s.baton.Due) && r.Progress.Executions+r.Progress.Errors <= s.baton.Executions+s.baton.Errors
}

// sameSlot reports whether a baton of the same slot ran the attempt of r. A slot runs its attempts one after the other.
func (s *AttemptSearch) sameSlot(r *Record) bool {
	if s.baton.Kind.IsDetached() {
		return r.Kind == s.baton.Kind && r.Occurrence == s.occurrence
	}
	return !r.Kind.IsDetached()
}

// Rederive plans the baton of an enabled job that has none, from the record that contains its schedule position; last
// is nil if no record does. The misfire policy handles missed times when the baton arrives. The step's records include
// a faulted record of the occurrence, even if the history has it.
func (j *Job) Rederive(last *Record, now time.Time) Step {
	switch {
	case last == nil && j.Progress.Seen.IsZero():
		return j.Begin(j.Progress, now)
	case last == nil:
		return j.onwards(j.Progress, j.Progress.Seen, now)
	case last.Outcome == OutcomePostponed && !last.IsAttempt() && j.OneShot(): // its collection was disabled
		s := j.Begin(j.Progress, now)
		if s.Next != nil {
			s.Next.PostponementRecorded = true
		}
		return s
	case last.Kind.IsDetached(): // overlap allow: the schedule continues after it
		p := j.Progress
		p.Number, p.Runs, p.Seen, p.Base = last.Progress.Number, last.Progress.Runs, last.Nominal, last.Progress.Base
		return j.onwards(p, last.Nominal, now)
	case last.Outcome == OutcomePostponed && last.IsAttempt(): // deferred because of its target or its condition
		b := last.baton()
		b.DeferredUntil, b.DeferredSince, b.DeferralRecorded = last.Ended, last.Ended, true
		b.Unmet = last.Reason == ReasonOnlyIf
		return Step{Next: &b, State: j.State, Progress: b.Progress}
	case !last.IsAttempt() && last.Schedule != j.ScheduleGen: // recorded before the schedule changed
		return j.Begin(last.Progress, now)
	case !last.IsAttempt(): // skipped, or postponed with its collection
		return j.onwards(last.Progress, last.To, now)
	}
	return j.after(j, last.baton(), last.result(), last.Ended)
}

// onwards continues the schedule after a time.
func (j *Job) onwards(p Progress, after, now time.Time) Step {
	n, ok := j.plan(p).Next(after)
	return j.step(p, n, ok, now)
}

// PositionSearch searches a history, newest first, for the record that contains the schedule position of a job's own
// baton: an attempt, or skipped times.
type PositionSearch struct {
	Found *Record // nil: none

	job       *Job
	seen      int
	triggered int            // records of triggered runs, which seen omits up to busyDepth
	faulted   []string       // occurrences with a faulted record
	gaps      map[int64]bool // clock changes, by their Unix seconds
	gaveUp    *Record        // the next run was too expensive to compute; the schedule did not run after this record
}

// PlaceOutcomes are the outcomes that a [PositionSearch] must see.
var PlaceOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomeSkipped, OutcomePostponed}

// NewPositionSearch returns a search for the schedule position of j.
func NewPositionSearch(j *Job) *PositionSearch { return &PositionSearch{job: j} }

// Faulted reports whether a faulted record exists for the occurrence that was found.
func (s *PositionSearch) Faulted() bool {
	return s.Found != nil && slices.Contains(s.faulted, s.Found.Occurrence)
}

// Visit processes the next record and reports whether to continue. Detached runs end in any order, so the one with the
// latest nominal time counts. An overtaken edit may append records of an earlier schedule later: records of the current
// schedule win.
func (s *PositionSearch) Visit(r *Record) bool {
	if r.Kind == Triggered && s.triggered < busyDepth { // events may start very many runs
		s.triggered++
	} else {
		s.seen++
	}
	j := s.job
	switch {
	case r.UID != j.Incarnation():
	case r.Schedule < j.BegunGen: // from before the job's last restart
	case r.Reason.namesNone():
		s.note(r)
	case r.Outcome == OutcomeFaulted:
		s.faulted = append(s.faulted, r.Occurrence)
	case r.Kind == ManualDetached, r.Kind == Triggered, r.Kind == Detached && r.Schedule != j.ScheduleGen:
	case r.Kind == Detached:
		if s.Found == nil || s.earlier() || r.Nominal.After(s.Found.Nominal) {
			s.Found = r
		}
	case s.Found == nil, s.earlier() && r.Schedule == j.ScheduleGen:
		s.Found = r
	}
	more := s.Found == nil || s.Found.Kind.IsDetached() || s.earlier() && r.Stored.After(j.Anchor)
	return more && s.seen < HistoryDepth
}

// earlier reports whether the found record belongs to an earlier schedule.
func (s *PositionSearch) earlier() bool {
	return s.Found != nil && s.Found.Schedule < s.job.ScheduleGen
}

// note processes a record of times that are not occurrences.
func (s *PositionSearch) note(r *Record) {
	switch {
	case r.Reason == ReasonDST:
		if s.gaps == nil {
			s.gaps = map[int64]bool{}
		}
		s.gaps[r.Nominal.Unix()] = true
	case (s.Found == nil || s.earlier()) && s.gaveUp == nil && r.Schedule == s.job.ScheduleGen:
		s.gaveUp = r
	}
}

// VisitLast processes only the last record of each of the [PlaceOutcomes], instead of the whole history, and reports
// whether that was sufficient. Otherwise a full search must follow: an older record of one of these outcomes may be
// decisive.
func (s *PositionSearch) VisitLast(records []*Record) bool {
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(b.Sequence, a.Sequence) })
	for i, r := range records {
		if s.Visit(r) {
			continue
		}
		// The records hidden by a faulted record of this occurrence belong to another occurrence.
		return !slices.ContainsFunc(records[:i], func(passed *Record) bool {
			return passed.Outcome != OutcomeFaulted || passed.Occurrence != s.Found.Occurrence
		})
	}
	return len(records) == 0
}

// Next returns the step after the record that was found, for an enabled job. Its records omit those in the history.
func (s *PositionSearch) Next(now time.Time) Step {
	if s.gaveUp != nil {
		return Step{State: Faulted, Progress: s.gaveUp.Progress}
	}
	if s.Faulted() && !s.Found.Kind.IsDetached() { // the occurrence has ended, even if an edit allows more retries
		b := s.Found.baton()
		return s.unwritten(s.job.occurred(s.job, b, true, s.Found.Ended))
	}
	return s.unwritten(s.job.Rederive(s.Found, now)).counting(&s.job.Progress)
}

// Restart is [Job.Restart] with the found record: a schedule that has already begun continues from there.
func (s *PositionSearch) Restart(old *Job, open bool, b Baton, now time.Time) Decision {
	if last := s.Found; last != nil && last.IsAttempt() && last.Schedule == s.job.ScheduleGen {
		return Decision{Verdict: Proceed, Step: s.Next(now)}
	}
	return s.job.Restart(old, open, b, now)
}

// unwritten removes the recorded DST gaps from the step.
func (s *PositionSearch) unwritten(next Step) Step {
	next.Records = slices.DeleteFunc(next.Records, func(r Record) bool { return r.Reason == ReasonDST && s.gaps[r.Nominal.Unix()] })
	return next
}
