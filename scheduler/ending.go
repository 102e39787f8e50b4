package scheduler

import "time"

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
