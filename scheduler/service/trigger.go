package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Runner runs jobs by hand.
type Runner struct {
	house *house
	plans *planner
}

// Trigger runs a job now, besides its schedule, which goes on as planned; the
// run does not use up recurrence.count. ErrConflict when the job is running,
// waiting for a retry, completed or faulted. A disabled job runs once.
func (r Runner) Trigger(ctx context.Context, k scheduler.Key) (occurrence string, err error) {
	return r.TriggerAt(ctx, k, time.Now())
}

// TriggerAt is [Runner.Trigger] for a request that was made at the instant
// asked: the run's nominal time. A request that is repeated, because nobody
// knows whether it was carried out, has the same occurrence id again, and so
// the same idempotency key.
func (r Runner) TriggerAt(ctx context.Context, k scheduler.Key, asked time.Time) (occurrence string, err error) {
	if err := k.Validate(); err != nil {
		return "", err
	}
	j, err := r.house.load(ctx, k)
	switch {
	case err != nil:
		return "", err
	case j.State.Final():
		return "", finalError(j)
	}
	asked = asked.UTC()
	id := scheduler.OccurrenceID(k, asked)
	if j.State == scheduler.Disabled {
		return id, r.triggerDisabled(ctx, j, asked)
	}
	st, err := r.house.Store.Waiting(ctx, scheduler.Slot{Key: k})
	if errors.Is(err, scheduler.ErrNotFound) {
		return id, r.busy(ctx, j, asked)
	}
	if err != nil {
		return "", err
	}
	waiting, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		return "", err
	}
	if !waiting.BelongsTo(j) { // left by a delete that was cut short
		if err := r.plans.replan(ctx, j, scheduler.Enabled); err != nil {
			return "", err
		}
		return "", fmt.Errorf("job %s: %w: it is just being planned; try again", k, scheduler.ErrConflict)
	}
	b, err := j.Trigger(&waiting, asked)
	if err != nil {
		return "", err
	}
	if b == nil {
		return id, nil
	}
	err = r.house.Store.Fire(ctx, scheduler.Slot{Key: k}, b.Encode(), st.Revision)
	if errors.Is(err, scheduler.ErrConflict) {
		return id, r.busy(ctx, j, asked)
	}
	return id, err
}

// triggerDisabled runs a disabled job once, detached.
func (r Runner) triggerDisabled(ctx context.Context, j *scheduler.Job, asked time.Time) error {
	var own *scheduler.Baton
	if b, _, err := r.plans.baton(ctx, j); err == nil {
		own = &b
	}
	b := j.TriggerDisabled(own, asked)
	if b == nil {
		return nil
	}
	slot := scheduler.Slot{Key: j.Key, Detached: scheduler.DetachedName(b.Nominal)}
	err := r.house.Store.Fire(ctx, slot, b.Encode(), 0)
	if errors.Is(err, scheduler.ErrConflict) {
		return nil // the same request has been carried out, and still runs
	}
	return err
}

// busy explains why a job without a waiting baton cannot be run now: nil when
// what runs is what was asked for.
func (r Runner) busy(ctx context.Context, j *scheduler.Job, asked time.Time) error {
	st, err := r.house.Store.Running(ctx, scheduler.Slot{Key: j.Key})
	if errors.Is(err, scheduler.ErrNotFound) {
		return j.TriggerBusy(nil, asked)
	}
	if err != nil {
		return err
	}
	running, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		running = scheduler.Baton{} // not the same request, whatever it is
	}
	return j.TriggerBusy(&running, asked)
}
