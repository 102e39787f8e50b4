package scheduler

import "time"

// Course says how it stands with a job that is stored as enabled.
type Course uint8

// How it stands with a job that is stored as enabled.
const (
	// UnderWay: it has its baton, which waits or is with a worker.
	UnderWay Course = iota

	// AtEnd: the record that ended it is its end. What is stored of the job does not
	// say so yet; its final form is written when there is leisure.
	AtEnd

	// BatonLost: it has no baton, and its history says that it goes on, or nothing.
	BatonLost
)

// Course tells how it stands with j, which is stored as enabled, and, at its end,
// what it has come to. f is what was found of its own baton, asked for before the
// history that search has looked through, and after j was read: a baton goes away
// after the record that says why, and never before. search may be nil when there
// is a baton.
func (j *Job) Course(f Found, search *PlaceSearch) (Course, Ending) {
	if b := f.Waiting; b != nil && b.BelongsTo(j) {
		return UnderWay, Ending{}
	}
	b := f.Running
	if b != nil && !b.BelongsTo(j) {
		b = nil
	}
	if b != nil && (search == nil || search.Found == nil || search.Found.ID != b.AttemptOf(j.Key).ID) {
		return UnderWay, Ending{} // its attempt has not been recorded
	}
	if x, over := search.ending(); over {
		return AtEnd, x
	}
	if b != nil {
		return UnderWay, Ending{}
	}
	return BatonLost, Ending{}
}

// ending returns how the job ended, if that is what was found and nothing is left
// to be recorded of it.
func (s *PlaceSearch) ending() (x Ending, over bool) {
	j, last := s.job, s.Found
	if s.gaveUp != nil {
		last = s.gaveUp
	}
	if last == nil {
		return x, false
	}
	next := s.Next(last.Ended)
	if next.Next != nil || len(next.Records) > 0 || !next.State.Final() {
		return x, false
	}
	return j.Ending(next, last.Ended), true
}

// Ending is the ending of j that a step without a next baton is. ended is when.
func (j *Job) Ending(s Step, ended time.Time) Ending {
	return Ending{Key: j.Key, UID: j.UID, Schedule: j.ScheduleGen, State: s.State, Progress: s.Progress, Ended: ended}
}

// Told reports whether the history tells x, an ending of j, once it has the record
// of an attempt, nil for none, and those that came after: then nothing needs to be
// written before the baton goes. One that follows from no record of its own, as
// that of a job whose last occurrence runs detached, is not told.
func (j *Job) Told(x Ending, attempt *Record, after []Record) bool {
	search := NewPlaceSearch(j)
	more := true
	for i := len(after) - 1; i >= 0 && more; i-- {
		more = search.Look(&after[i])
	}
	if more && attempt != nil {
		search.Look(attempt)
	}
	told, over := search.ending()
	return over && told.Schedule == x.Schedule && told.State == x.State && told.Progress.equal(&x.Progress)
}
