package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Runner starts manual runs.
type Runner struct {
	shared *shared
	plans  *planner

	when scheduler.Condition // of a requested run
}

// Trigger runs a job now, in addition to its schedule, which does not change. The run does not count toward
// recurrence.count. A disabled job runs once. Trigger returns ErrConflict if the job is running, waits for a retry, or
// is completed or faulted.
func (r Runner) Trigger(ctx context.Context, k scheduler.Key) (occurrence string, err error) {
	return r.trigger(ctx, k, time.Time{}, nil)
}

// RunBy is [Runner.Trigger] with a body: empty, or {"data": {…}}, which overrides the job's data for its templates. It
// returns ErrInvalid if the job does not accept the data, see [scheduler.Definition.CheckRun].
//
// asked is when the request was made, which is the run's nominal time; zero: now. A request that is repeated after an
// unknown result has the same occurrence ID, and so the same idempotency key.
func (r Runner) RunBy(ctx context.Context, k scheduler.Key, body []byte, asked time.Time) (occurrence string, err error) {
	var data json.RawMessage
	if len(bytes.TrimSpace(body)) > 0 {
		v, err := flow.Parse(ctx, body)
		if err != nil {
			return "", err
		}
		if data, err = scheduler.ReadRun(v); err != nil {
			return "", err
		}
	}
	return r.trigger(ctx, k, asked, data)
}

func (r Runner) trigger(ctx context.Context, k scheduler.Key, asked time.Time, data json.RawMessage) (occurrence string, err error) {
	if asked.IsZero() {
		asked = r.shared.Store.Now()
	}
	if err := k.Validate(); err != nil {
		return "", err
	}
	j, err := r.shared.loadSettled(ctx, k)
	switch {
	case err != nil:
		return "", err
	case j.State.Final():
		return "", j.EndedError()
	}
	if err := checkJob(r.when, k, j); err != nil {
		return "", err
	}
	if err := j.Def.CheckRun(data); err != nil {
		return "", err
	}
	return r.start(ctx, j, asked.UTC(), nil, data)
}

// start runs a job now. again is the occurrence that the run repeats, and data its values for templates; both may be
// nil.
func (r Runner) start(
	ctx context.Context, j *scheduler.Job, asked time.Time, again *repetition, data json.RawMessage,
) (occurrence string, err error) {
	k, id := j.Key, scheduler.OccurrenceID(j.Key, asked)
	if c, err := r.shared.Collections.Get(ctx, k.Collection); err == nil {
		if err := c.CheckKept(); err != nil {
			return "", err
		}
	}
	if j.State != scheduler.Enabled {
		return id, r.startDetached(ctx, j, asked, again, data)
	}
	found, from, err := r.plans.locate(ctx, k)
	switch {
	case err != nil && found.Running == nil:
		return "", err
	case found.Waiting == nil:
		return id, j.TriggerBusy(found.Running, r.shared.open(ctx, k.Collection), asked, r.shared.Store.Now())
	case !found.Waiting.BelongsTo(j), found.Waiting.NeedsOpen() && found.Waiting.Schedule != j.ScheduleGen:
		// left by an interrupted delete or edit: the run would resume with the occurrence that it waits for
		if _, err := r.plans.replan(ctx, j, j, step.From{}); err != nil {
			return "", err
		}
		return "", j.TriggerBusy(nil, true, asked, r.shared.Store.Now())
	case again != nil && from.Waiting != again.waiting:
		return "", step.ErrOvertaken
	case from.Firing: // a manual run that is stored now may be lost
		return id, j.TriggerBusy(found.Waiting, r.shared.open(ctx, k.Collection), asked, r.shared.Store.Now())
	}
	b, records, err := j.Trigger(found.Waiting, asked, r.shared.Store.Now().UTC())
	if err != nil || b == nil {
		return id, err
	}
	if err := r.shared.steps.Record(ctx, j, records, true); err != nil {
		return id, err
	}
	b.Data = data
	err = r.fire(ctx, j, scheduler.BatonKey{Key: k}, again.on(b), asked, from.Waiting)
	r.shared.index.Suspect(k)
	if errors.Is(err, scheduler.ErrConflict) { // it has fired meanwhile
		if found, _, err = r.plans.locate(ctx, k); err == nil || found.Running != nil {
			err = j.TriggerBusy(found.Running, r.shared.open(ctx, k.Collection), asked, r.shared.Store.Now())
		}
	}
	return id, err
}

// fire fires a baton in place of the waiting one, if any, and writes an audit log entry.
func (r Runner) fire(
	ctx context.Context, j *scheduler.Job, slot scheduler.BatonKey, b *scheduler.Baton, asked time.Time, waiting uint64,
) error {
	e := &audit.Entry{
		Kind: audit.Job, Op: origin(asking(ctx, "run")).Op, Collection: j.Key.Collection, Job: j.Key.Job, Result: "started",
		UID: j.UID, Occurrence: scheduler.OccurrenceID(j.Key, asked), State: j.State,
	}
	return r.shared.audited(ctx, e, func(*audit.Entry) (err error) {
		ctx, span := tracing.Arm(ctx, j.Key, time.Time{})
		defer func() { span.End(err) }()
		b.Trace = tracing.ByHand(ctx)
		return r.shared.Store.Fire(ctx, slot, b.Encode(), waiting)
	})
}

// startDetached runs a job without a baton once, because it is disabled or has ended.
func (r Runner) startDetached(
	ctx context.Context, j *scheduler.Job, asked time.Time, again *repetition, data json.RawMessage,
) error {
	own, _, _ := r.plans.baton(ctx, j) // an unreadable baton is not the same request
	b := j.TriggerDisabled(own, asked)
	if b == nil {
		return nil
	}
	b.Data = data
	slot := scheduler.BatonKey{Key: j.Key, Detached: scheduler.DetachedName(b.Nominal)}
	if again != nil {
		slot.Detached = scheduler.ResubmittedName(again.Nominal)
	}
	err := r.fire(ctx, j, slot, again.on(b), asked, 0)
	switch {
	case !errors.Is(err, scheduler.ErrConflict):
		return err
	case again != nil:
		return notEnded(j, again.Nominal) // another request was faster
	}
	return nil // the same request was carried out and is still running
}
