package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// EndingOf is the ending that a step without a next baton is.
func EndingOf(j *scheduler.Job, s scheduler.Step, from From) scheduler.Ending {
	return scheduler.Ending{Key: j.Key, UID: j.UID, Schedule: from.Schedule, State: s.State, Progress: s.Progress}
}

// end takes a waiting baton away and writes what the job has come to.
func (e *Executor) end(ctx context.Context, j *scheduler.Job, s scheduler.Step, from From) error {
	if from.Waiting != 0 {
		if err := e.cfg.Store.Cancel(ctx, from.Slot); err != nil {
			return err
		}
	}
	ending := EndingOf(j, s, from)
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
