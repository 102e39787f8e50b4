package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// EndingOf is the ending that a step without a next baton is.
func (e *Executor) EndingOf(j *scheduler.Job, s scheduler.Step, from From) scheduler.Ending {
	x := j.Ending(s, e.cfg.Store.Now())
	x.Schedule = from.Schedule
	return x
}

// end takes a waiting baton away and writes what the job has come to.
func (e *Executor) end(ctx context.Context, j *scheduler.Job, s scheduler.Step, from From) error {
	if from.Waiting != 0 {
		if err := e.cfg.Store.Cancel(ctx, from.Slot, from.Waiting); err != nil {
			return err
		}
	}
	ending := e.EndingOf(j, s, from)
	return e.cfg.Persist(ctx, j.Key, func(ctx context.Context) error { return e.End(ctx, ending, j) })
}

// conflictPause is the time between two tries to write an end.
const conflictPause = 5 * time.Millisecond

// End writes how a job ended, by compare-and-set. j is the definition as it was
// last seen, nil to read it. [ErrOvertaken] when an edit has armed the job, or
// left that to the worker that had its baton.
func (e *Executor) End(ctx context.Context, x scheduler.Ending, j *scheduler.Job) (err error) {
	if j == nil {
		if j, err = e.cfg.Load(ctx, x.Key); err != nil {
			return err
		}
	}
	err = e.endOnce(ctx, x, j)
	for errors.Is(err, scheduler.ErrConflict) && intake.Pause(ctx, conflictPause) {
		if j, err = e.cfg.Load(ctx, x.Key); err == nil {
			err = e.endOnce(ctx, x, j)
		}
	}
	return err
}

func (e *Executor) endOnce(ctx context.Context, x scheduler.Ending, j *scheduler.Job) error {
	next, verdict := j.End(x)
	switch verdict {
	case scheduler.EndingWritten:
		return nil
	case scheduler.EndingOvertook:
		return ErrOvertaken
	case scheduler.WriteEnding:
	}
	return e.save(ctx, next)
}

// save writes a job over its revision.
func (e *Executor) save(ctx context.Context, j *scheduler.Job) error {
	data, err := j.Encode(e.cfg.Secrets)
	if err != nil {
		return err
	}
	_, err = e.cfg.Store.SaveJob(ctx, j.Key, data, j.Revision, j.State.Final())
	return err
}

// EndAll writes the final forms of jobs whose ends the history tells, all of them
// under way at once. What an edit has overtaken is counted; what is damaged, or
// cannot be written now, is left to the next audit, and the first error of that
// returned.
func (e *Executor) EndAll(ctx context.Context, endings []scheduler.Ending) (overtaken int, failed error) {
	for tries := 0; len(endings) > 0; tries++ {
		again, n, err := e.endAllOnce(ctx, endings)
		overtaken += n
		if err != nil && failed == nil {
			failed = err
		}
		if endings = again; tries == endTries {
			break
		}
	}
	return overtaken, failed
}

// EndBatch is how many final forms are written together.
const EndBatch = 64

// Rest lets others work after a batch of final forms that took so long: three times
// as long, so that writing them takes a quarter of the time at most. False when ctx
// is done before.
func Rest(ctx context.Context, took time.Duration) bool {
	return intake.Pause(ctx, max(restShare*took, restLeast))
}

const (
	restShare = 3
	restLeast = 5 * time.Millisecond
)

// endTries is how often a final form is written again that another write has come
// before: what is changed all the while is left to the audit.
const endTries = 3

// endAllOnce returns the endings that other writes have come before.
func (e *Executor) endAllOnce(ctx context.Context, endings []scheduler.Ending) (again []scheduler.Ending, overtaken int, failed error) {
	of := make(map[scheduler.Key]*scheduler.Ending, len(endings))
	keys := make([]scheduler.Key, len(endings))
	for i := range endings {
		of[endings[i].Key], keys[i] = &endings[i], endings[i].Key
	}
	var jobs []scheduler.JobEnd
	err := e.cfg.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		x := of[st.Key]
		data, verdict, err := x.Over(st.Data)
		switch {
		case err != nil: // damaged: nobody can tell what it has come to
		case verdict == scheduler.EndingOvertook:
			overtaken++
		case verdict == scheduler.WriteEnding:
			jobs = append(jobs, scheduler.JobEnd{Key: st.Key, Data: data, Replaces: st.Revision, Ended: x.Ended})
		}
	})
	if err != nil {
		return nil, overtaken, err
	}
	for i, err := range e.cfg.Store.EndJobs(ctx, jobs) {
		switch {
		case errors.Is(err, scheduler.ErrConflict):
			again = append(again, *of[jobs[i].Key])
		case err != nil && failed == nil:
			failed = err
		}
	}
	return again, overtaken, failed
}
