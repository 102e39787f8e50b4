package step

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// CompletionOf returns the completion of a step without a next baton.
func (e *Executor) CompletionOf(j *scheduler.Job, s scheduler.Step, from From) scheduler.Completion {
	x := j.Completion(s, e.cfg.Store.Now())
	x.Schedule = from.Schedule
	return x
}

// end removes a waiting baton and writes the job's end. The progress of a disabled job is written first: a detached run
// that then finds no baton adds its counters to those in the definition.
func (e *Executor) end(ctx context.Context, j *scheduler.Job, s scheduler.Step, from From) error {
	ending := e.CompletionOf(j, s, from)
	write := func() error {
		return e.cfg.Persist(ctx, j.Key, func(ctx context.Context) error { return e.End(ctx, ending, j) })
	}
	remove := func() error {
		if from.Waiting == 0 {
			return nil
		}
		return e.cfg.Store.Cancel(ctx, from.BatonKey, from.Waiting)
	}
	first, second := remove, write
	if !s.State.Final() {
		first, second = write, remove
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// conflictPause is the time between two tries to write an end.
const conflictPause = 5 * time.Millisecond

// End writes the end of a job by compare-and-set. j is its last known definition, nil to read it. The error is
// [ErrOvertaken] if an edit has armed the job, or left that to the worker with its baton.
func (e *Executor) End(ctx context.Context, x scheduler.Completion, j *scheduler.Job) (err error) {
	if j == nil {
		if j, err = e.cfg.Load(ctx, x.Key); err != nil {
			return err
		}
	}
	err = e.endOnce(ctx, x, j)
	for errors.Is(err, scheduler.ErrConflict) && flow.Pause(ctx, conflictPause) {
		if j, err = e.cfg.Load(ctx, x.Key); err == nil {
			err = e.endOnce(ctx, x, j)
		}
	}
	return err
}

func (e *Executor) endOnce(ctx context.Context, x scheduler.Completion, j *scheduler.Job) error {
	next, verdict := j.End(x)
	switch verdict {
	case scheduler.CompletionWritten:
		return nil
	case scheduler.CompletionOvertook:
		return ErrOvertaken
	case scheduler.WriteCompletion:
	}
	return e.Save(ctx, next)
}

// Save replaces the stored revision of a job.
func (e *Executor) Save(ctx context.Context, j *scheduler.Job) error {
	data, err := j.Encode(e.cfg.Secrets)
	if err != nil {
		return err
	}
	_, err = e.cfg.Store.SaveJob(ctx, j.Key, data, j.Revision, j.State.Final())
	return err
}

// EndAll writes the ends that the history of jobs contains, concurrently. It counts the ends that an edit has
// overtaken. Damaged jobs and failed writes are left to the next consistency check; EndAll returns the first error.
func (e *Executor) EndAll(ctx context.Context, endings []scheduler.Completion) (overtaken int, failed error) {
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

// EndBatch is the number of ends that are written together.
const EndBatch = 64

// Rest pauses after a batch of ends for three times the time that it took, so that writing ends takes at most a quarter
// of the time. It returns false if ctx is done first.
func Rest(ctx context.Context, took time.Duration) bool {
	return flow.Pause(ctx, max(restShare*took, restLeast))
}

const (
	restShare = 3
	restLeast = 5 * time.Millisecond
)

// endTries limits the rewrites of an end after concurrent writes. After that, it is left to the consistency check.
const endTries = 3

// endAllOnce returns the endings that lost against a concurrent write.
func (e *Executor) endAllOnce(
	ctx context.Context, endings []scheduler.Completion,
) (again []scheduler.Completion, overtaken int, failed error) {
	of := make(map[scheduler.Key]*scheduler.Completion, len(endings))
	keys := make([]scheduler.Key, len(endings))
	for i := range endings {
		of[endings[i].Key], keys[i] = &endings[i], endings[i].Key
	}
	var jobs []scheduler.JobEnd
	err := e.cfg.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		x := of[st.Key]
		data, verdict, err := x.ApplyTo(st.Data)
		switch {
		case err != nil: // damaged: its end cannot be decided
		case verdict == scheduler.CompletionOvertook:
			overtaken++
		case verdict == scheduler.WriteCompletion:
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
