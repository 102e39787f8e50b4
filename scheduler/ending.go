package scheduler

import (
	"fmt"
	"time"
)

// Ending is how the baton of a job ended: what is to be written into its
// definition.
type Ending struct {
	Key      Key
	UID      string // of the job it was decided for
	Schedule int    // the schedule generation, likewise
	State    State
	Progress Progress
	Ended    time.Time // when: a job at its end is kept for so long from then on
}

// EndingVerdict says whether an ending still counts.
type EndingVerdict uint8

// The verdicts on an ending.
const (
	WriteEnding    EndingVerdict = iota // write the job that comes with it
	EndingWritten                       // it is written already, or of another job of the name
	EndingOvertook                      // an edit overtook it: that has armed the job, or left it to the worker that had its baton
)

// End returns j as x leaves it. An edit that gave the job a new schedule
// meanwhile wins, and so does one that enabled it.
func (j *Job) End(x Ending) (*Job, EndingVerdict) {
	switch {
	case j.UID != x.UID, j.State.Final():
		return nil, EndingWritten
	case x.State.Final() && j.ScheduleGen != x.Schedule, !x.State.Final() && j.State == Enabled:
		return nil, EndingOvertook
	}
	next := *j
	next.Progress = x.Progress
	if j.ScheduleGen != x.Schedule {
		next.Progress = x.Progress.afresh() // what ran of the schedule before counts no more
	}
	next.Progress.keep(&j.Progress)
	if x.State.Final() && j.State == Enabled {
		next.State = x.State
	}
	return &next, WriteEnding
}

// Over returns a stored job as x leaves it, without reading or sealing its
// properties again. The error is of a job that cannot be read.
func (x *Ending) Over(data []byte) ([]byte, EndingVerdict, error) {
	if err := checkForm(data); err != nil {
		return nil, EndingWritten, err
	}
	m, err := decodeMeta(data)
	if err != nil {
		return nil, EndingWritten, err
	}
	next, verdict := (&Job{UID: m.UID, ScheduleGen: m.ScheduleGen, State: m.State, Progress: m.Progress}).End(*x)
	if verdict != WriteEnding {
		return nil, verdict, nil
	}
	m.State, m.Progress = next.State, next.Progress
	_, properties, err := SplitStored(data)
	if err != nil {
		return nil, verdict, err
	}
	over, err := appendMeta(append(make([]byte, 0, len(data)+usualSize/2), formMark...), &m)
	if err != nil {
		return nil, verdict, err
	}
	return signed(append(append(append(over, propertiesMember...), properties...), '}')), verdict, nil
}

// Over says what a job at its end has come to, and what may be done; "" for a job
// that may run yet.
func (j *Job) Over() string {
	switch {
	case !j.State.Final():
		return ""
	case j.Progress.GaveUp:
		return "it takes too much work to find its next run, so it is over; put it with a simpler schedule"
	case !j.Progress.Any():
		return "it never ran, and its schedule has no time left; put it with another schedule"
	case j.State == Faulted:
		return "its last run failed, and it is over; " + runAgain
	}
	return "it ran already and is over; " + runAgain
}

// runAgain is how a job at its end is run once more.
const runAgain = "to run it again, put it with a change, such as another startTime"

// OverError refuses what only a job can do that is not at its end.
func (j *Job) OverError() error {
	return fmt.Errorf("job %s: %w: it is %s: %s", j.Key, ErrConflict, j.State, j.Over())
}

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
