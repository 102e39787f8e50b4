package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// arm publishes a job's baton where none is (waiting 0), or in place of the
// waiting one with that sequence.
func (s *Service) arm(ctx context.Context, j *Job, b *Baton, waiting uint64) error {
	slot := Slot{Key: j.Key}
	at := j.armAt(b.wake(), time.Now())
	if at.IsZero() {
		return s.store.Fire(ctx, slot, b.Encode(), waiting)
	}
	return s.store.Arm(ctx, slot, b.Encode(), at, waiting)
}

// replaceStray arms a new job's first baton in place of a waiting one of an
// earlier job of the same name, whose delete was cut short.
func (s *Service) replaceStray(ctx context.Context, j *Job, b *Baton) error {
	st, err := s.store.Waiting(ctx, Slot{Key: j.Key})
	if errors.Is(err, ErrNotFound) {
		return nil // running: the worker finds another job, and drops it
	}
	if err != nil {
		return err
	}
	if old, err := DecodeBaton(st.Data); err == nil && old.Revision >= j.Revision {
		return nil
	}
	if err := s.arm(ctx, j, b, st.Revision); !errors.Is(err, ErrConflict) {
		return err
	}
	return nil
}

// replan makes an enabled job's baton follow its definition. A baton that is
// running or waits for a retry is left alone: that occurrence ends under the
// definition it started with, and the worker plans from the current one. was
// is the state before the edit.
func (s *Service) replan(ctx context.Context, j *Job, was State) error {
	looks := 0
	for range casTries {
		err := s.replanOnce(ctx, j, was)
		if errors.Is(err, errRunning) {
			// A worker plans from the current definition, but it may have read
			// the one before a moment ago. Look again whether it did.
			looks++
			if looks > runningLooks {
				return nil
			}
			pause(ctx, runningPause)
			continue
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("job %s: %w: its baton kept moving; try again", j.Key, ErrConflict)
}

// errRunning says that the baton is with a worker.
var errRunning = errors.New("running")

// How often, and after what time, a running baton is looked at again.
const (
	runningLooks = 3
	runningPause = 100 * time.Millisecond
)

func (s *Service) replanOnce(ctx context.Context, j *Job, was State) error {
	slot := Slot{Key: j.Key}
	st, err := s.store.Waiting(ctx, slot)
	if errors.Is(err, ErrNotFound) {
		st, err := s.store.Running(ctx, slot)
		if err == nil {
			if b, err := DecodeBaton(st.Data); err == nil && b.Revision == j.Revision {
				return nil
			}
			return errRunning
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		if was == Disabled {
			return s.carryOut(ctx, j, j.Rejoin(j.Progress, time.Now().UTC()), 0)
		}
		return s.rederive(ctx, j) // its baton was lost, or an edit was cut short
	}
	if err != nil {
		return err
	}
	b, err := DecodeBaton(st.Data)
	if err != nil {
		return err
	}
	switch {
	case !b.serves(j): // left by a delete that was cut short
		return s.carryOut(ctx, j, j.Begin(j.Progress), st.Revision)
	case b.Manual && was == Disabled && b.Schedule == j.ScheduleGen:
		return s.resume(ctx, j, &b, st.Revision)
	case b.Begun(), b.Revision == j.Revision, b.Manual && !b.Held.IsZero(): // a run by hand is not planned anew
		return nil
	case b.Schedule != j.ScheduleGen:
		return s.carryOut(ctx, j, j.Begin(b.Progress), st.Revision)
	}
	b.UID, b.Revision, b.Due = j.mark(), j.Revision, j.due(b.Progress, b.Nominal)
	return s.arm(ctx, j, &b, st.Revision)
}

// resume lets the schedule of a job that was disabled go on after the run by
// hand b, which waits still.
func (s *Service) resume(ctx context.Context, j *Job, b *Baton, waiting uint64) error {
	step := j.Rejoin(b.Progress, time.Now().UTC())
	if step.Next != nil && step.Next.Nominal.Equal(b.Resume) {
		return nil
	}
	if err := s.appendSkips(ctx, j, &step); err != nil {
		return err
	}
	b.Progress = step.Progress // when nothing is left, its Seen says so
	if step.Next != nil {
		b.Resume = step.Next.Nominal
	}
	return s.arm(ctx, j, b, waiting)
}

func (s *Service) appendSkips(ctx context.Context, j *Job, step *Step) error {
	skips, err := untold(ctx, s.store, j.Key, j.mark(), step.skips)
	if err != nil {
		return err
	}
	for _, sk := range skips {
		rec := sk.record(j.Key, j.mark(), time.Now().UTC(), step.Progress)
		if err := s.store.Append(ctx, &rec); err != nil {
			return err
		}
	}
	return nil
}

// carryOut arms the step's baton, or ends the job when it has none.
func (s *Service) carryOut(ctx context.Context, j *Job, step Step, waiting uint64) error {
	if err := s.appendSkips(ctx, j, &step); err != nil {
		return err
	}
	if err := s.passTold(ctx, j, step.Next); err != nil {
		return err
	}
	if step.Next != nil {
		return s.arm(ctx, j, step.Next, waiting)
	}
	if waiting != 0 {
		if err := s.store.Cancel(ctx, Slot{Key: j.Key}); err != nil {
			return err
		}
	}
	end := *j
	end.State, end.Progress = step.State, step.Progress
	return s.save(ctx, &end, j.Revision)
}

// progress returns how far a job has got: from its baton, or, when it has
// none, from its definition.
func (s *Service) progress(ctx context.Context, j *Job) (Progress, error) {
	b, _, err := s.baton(ctx, j)
	if errors.Is(err, ErrNotFound) {
		return j.Progress, nil
	}
	return b.Progress, err
}

// baton returns a job's baton, and whether it is running.
func (s *Service) baton(ctx context.Context, j *Job) (b Baton, running bool, err error) {
	slot := Slot{Key: j.Key}
	st, err := s.store.Waiting(ctx, slot)
	if errors.Is(err, ErrNotFound) {
		running = true
		st, err = s.store.Running(ctx, slot)
		if errors.Is(err, ErrNotFound) { // it may have been passed on between the two looks
			running = false
			st, err = s.store.Waiting(ctx, slot)
		}
	}
	if err != nil {
		return b, false, err
	}
	b, err = DecodeBaton(st.Data)
	if err == nil && !b.serves(j) {
		err = ErrNotFound
	}
	return b, running, err
}

// cancelPlanned removes the waiting baton of a job that was disabled. One of a
// run by hand stays: that is not the schedule's, and goes on to its end.
func (s *Service) cancelPlanned(ctx context.Context, j *Job) error {
	slot := Slot{Key: j.Key}
	st, err := s.store.Waiting(ctx, slot)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if b, err := DecodeBaton(st.Data); err == nil && b.Manual && b.serves(j) {
		return nil
	}
	return s.store.Cancel(ctx, slot)
}
