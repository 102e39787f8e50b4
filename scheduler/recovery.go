package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// Recover says what becomes of a baton whose attempt is recorded already, as
// search found: it was delivered again, or to a worker that cannot tell. j is its
// job as it is now, and ran the definition of the revision of
// [AttemptSearch.Baton]; both are nil when there is none.
//
// The places where the worker before may have stopped, in order: before the
// action or before the record (there is none, and the attempt is run, under the
// same key), after the record (here), after passing on (the store says so), and
// after writing the job's end (the definition says so).
func Recover(ran, j *Job, search *AttemptSearch, now time.Time) Decision {
	record, b := search.Found, search.Baton()
	if search.wentOn { // passing on came to pass, and the acknowledgement not
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

// RecoverDetached decides about b, the own baton of a job, whose occurrence runs detached since started, or has ended: the baton
// continues alone.
func RecoverDetached(j *Job, b Baton, started, now time.Time) Decision {
	switch b.StandingOf(j, true) {
	case Gone:
		return Decision{Verdict: Astray}
	case Foreign:
		return Decision{Verdict: Orphan}
	case GoesOn, Over, Dropped, Closed:
	}
	return Decision{Verdict: Proceed, Baton: b, Step: j.settled(&b, j.beside(b, started, now), now)}
}

// SkipsDisabled reports whether r says that the occurrence of b was skipped because its job is disabled.
func (r *Record) SkipsDisabled(b Baton) bool {
	return r.UID == b.UID && r.Reason == ReasonDisabled && !b.Nominal.Before(r.From) && !b.Nominal.After(r.To)
}

// HistoryDepth limits how many records a search for an attempt reads.
const HistoryDepth = 64

// busyDepth is the limit as long as the records were stored after the attempt was due: many detached runs may have ended since.
const busyDepth = 64 * HistoryDepth

// AttemptSearch looks through a history, newest first, for the record of a
// baton's attempt.
type AttemptSearch struct {
	Found   *Record // nil: there is none
	Faulted bool    // it is recorded, too, that the occurrence faulted

	baton      Baton
	id         string
	occurrence string
	seen       int
	wentOn     bool // an attempt of the same slot is recorded after the one that was found
}

// SearchedOutcomes are the outcomes that an [AttemptSearch] has to see.
var SearchedOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted}

// NewAttemptSearch returns a search for the record of the attempt of b.
func NewAttemptSearch(k Key, b Baton) *AttemptSearch {
	return &AttemptSearch{baton: b, id: b.attemptID(k), occurrence: OccurrenceID(k, b.Nominal)}
}

// Baton returns the baton that the record which was found goes on from: the one
// of its attempt, or, when that ran detached, the job's own that was looked for.
func (s *AttemptSearch) Baton() Baton {
	if s.besideIt() {
		return s.baton
	}
	return s.Found.baton()
}

// besideIt reports whether the attempt ran detached, beside the baton that was
// looked for.
func (s *AttemptSearch) besideIt() bool {
	return s.Found.Kind.IsDetached() && !s.baton.Kind.IsDetached()
}

// Look takes the next record, and reports whether to go on.
func (s *AttemptSearch) Look(r *Record) bool {
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
	}
	return s.Found == nil && (s.seen < HistoryDepth || s.seen < busyDepth && r.Stored.After(s.baton.Due))
}

// precedes reports whether r, an attempt of the same slot, ended before the wanted attempt was due. Attempts with older records
// did, too. An attempt counts one more than its baton, but an edit may restart the counts from an older definition.
func (s *AttemptSearch) precedes(r *Record) bool {
	return r.Stored.Before(s.baton.Due) && r.Progress.Executions+r.Progress.Errors <= s.baton.Executions+s.baton.Errors
}

// sameSlot reports whether a baton of the message's slot ran the attempt of r. A slot runs its attempts one after the other.
func (s *AttemptSearch) sameSlot(r *Record) bool {
	if s.baton.Kind.IsDetached() {
		return r.Kind == s.baton.Kind && r.Occurrence == s.occurrence
	}
	return !r.Kind.IsDetached()
}

// Rederive plans the baton of an enabled job that has none, from the record that
// says where it was; nil when the history does not say. What fell due meanwhile
// is left to the catch-up policy when the baton arrives. That the occurrence
// faulted is among the step's records, also when the history has it.
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
	case last.Kind.IsDetached(): // overlap allow: the schedule goes on after it
		p := j.Progress
		p.Number, p.Runs, p.Seen, p.Base = last.Progress.Number, last.Progress.Runs, last.Nominal, last.Progress.Base
		return j.onwards(p, last.Nominal, now)
	case last.Outcome == OutcomePostponed && last.IsAttempt(): // deferred because of its target
		b := last.baton()
		b.DeferredUntil, b.DeferredSince, b.DeferralRecorded = last.Ended, last.Ended, true
		return Step{Next: &b, State: j.State, Progress: b.Progress}
	case !last.IsAttempt() && last.Schedule != j.ScheduleGen: // the schedule before was left after it
		return j.Begin(last.Progress, now)
	case !last.IsAttempt(): // skipped, or postponed with its collection
		return j.onwards(last.Progress, last.To, now)
	}
	return j.after(j, last.baton(), last.result(), last.Ended)
}

// onwards goes on with the schedule after an instant.
func (j *Job) onwards(p Progress, after, now time.Time) Step {
	n, ok := j.plan(p).Next(after)
	return j.step(p, n, ok, now)
}

// PlaceSearch looks through a history, newest first, for the record that says
// where a job's own baton was: of an attempt, or of instants that were skipped.
type PlaceSearch struct {
	Found *Record // nil: the history does not say

	job     *Job
	seen    int
	faulted []string       // occurrences
	gaps    map[int64]bool // changes of the clock, by their Unix seconds
	gaveUp  *Record        // that its next run takes too much work to find; after this, nothing of the schedule ran
}

// PlaceOutcomes are the outcomes that a [PlaceSearch] has to see.
var PlaceOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomeSkipped, OutcomePostponed}

// NewPlaceSearch returns a search for where the baton of j was.
func NewPlaceSearch(j *Job) *PlaceSearch { return &PlaceSearch{job: j} }

// Faulted reports whether it is recorded, too, that the occurrence which was found
// faulted.
func (s *PlaceSearch) Faulted() bool {
	return s.Found != nil && slices.Contains(s.faulted, s.Found.Occurrence)
}

// Look takes the next record, and reports whether to go on. Detached runs end
// in any order: of these, the latest instant counts. An overtaken edit may append
// records of an earlier schedule later: records of the present schedule win.
func (s *PlaceSearch) Look(r *Record) bool {
	s.seen++
	j := s.job
	switch {
	case r.UID != j.Incarnation():
	case r.Schedule < j.BegunGen: // of before its end, since which it has begun again
	case r.Reason.namesNone():
		s.note(r)
	case r.Outcome == OutcomeFaulted:
		s.faulted = append(s.faulted, r.Occurrence)
	case r.Kind == ManualDetached, r.Kind == Detached && r.Schedule != j.ScheduleGen:
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
func (s *PlaceSearch) earlier() bool { return s.Found != nil && s.Found.Schedule < s.job.ScheduleGen }

// note takes a record of what is no occurrence.
func (s *PlaceSearch) note(r *Record) {
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

// LookAtLast takes the last record of each of the [PlaceOutcomes] that the job has
// any of, instead of the whole history, and reports whether that was enough. When
// it was not, a search of its own has to look: an older record of an outcome may
// lie before the one that counts.
func (s *PlaceSearch) LookAtLast(records []*Record) bool {
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(b.Sequence, a.Sequence) })
	for i, r := range records {
		if s.Look(r) {
			continue
		}
		// What lies hidden behind one that says that the occurrence faulted says so of another.
		return !slices.ContainsFunc(records[:i], func(passed *Record) bool {
			return passed.Outcome != OutcomeFaulted || passed.Occurrence != s.Found.Occurrence
		})
	}
	return len(records) == 0
}

// Next returns what follows for the job, which is enabled, from what was found. What
// the history has already is not among the step's records.
func (s *PlaceSearch) Next(now time.Time) Step {
	if s.gaveUp != nil {
		return Step{State: Faulted, Progress: s.gaveUp.Progress}
	}
	if s.Faulted() && !s.Found.Kind.IsDetached() { // it is over, whatever an edit says since of retries
		b := s.Found.baton()
		return s.unwritten(s.job.occurred(s.job, b, true, s.Found.Ended))
	}
	return s.unwritten(s.job.Rederive(s.Found, now)).counting(&s.job.Progress)
}

// Restart is [Job.Restart] for the found record: a schedule that has begun already
// continues from there.
func (s *PlaceSearch) Restart(old *Job, open bool, b Baton, now time.Time) Decision {
	if last := s.Found; last != nil && last.IsAttempt() && last.Schedule == s.job.ScheduleGen {
		return Decision{Verdict: Proceed, Step: s.Next(now)}
	}
	return s.job.Restart(old, open, b, now)
}

// unwritten returns the step without the changes of the clock that are recorded.
func (s *PlaceSearch) unwritten(next Step) Step {
	next.Records = slices.DeleteFunc(next.Records, func(r Record) bool { return r.Reason == ReasonDST && s.gaps[r.Nominal.Unix()] })
	return next
}
