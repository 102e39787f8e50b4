package scheduler

import (
	"cmp"
	"slices"
	"time"
)

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
