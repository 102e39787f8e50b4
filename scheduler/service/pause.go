package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// Pause keeps a job from starting occurrences until an instant, after which it goes on by itself; its state stays what it
// is. What falls due meanwhile is recorded as skipped, and a run by hand is possible. until is as [why.ParseFuture] reads
// it, on the job's clock. [Editor.Enable] ends a pause early, and another Pause gives it another end.
//
// ErrInvalid when until is no time to come; ErrConflict when the job is completed or faulted.
func (e Editor) Pause(ctx context.Context, k scheduler.Key, until string) (*view.Job, error) {
	return e.PauseAt(ctx, k, until, e.shared.Store.Now())
}

// PauseAt is [Editor.Pause] as it was asked for at an instant: "2h" is from then on, and "9:00" the next time that the clock
// shows that, also when it takes a while until it is carried out, as for many jobs.
func (e Editor) PauseAt(ctx context.Context, k scheduler.Key, until string, asked time.Time) (*view.Job, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	ctx = asking(ctx, "pause")
	for try := range casTries {
		cur, err := e.load(ctx, k, try)
		if err != nil {
			return nil, err
		}
		if err := e.meets(k, cur); err != nil {
			return nil, err
		}
		end, err := why.ParseFuture(until, cur.Plan.Zone(), asked.UTC())
		if err != nil {
			return nil, scheduler.Invalid("until", err.Error())
		}
		if !end.After(e.shared.Store.Now()) {
			return nil, scheduler.Invalid("until", fmt.Sprintf("%q was %s, which has passed meanwhile", until, end.Format(time.RFC3339)))
		}
		cur, at, err := e.shared.steps.Find(ctx, cur)
		if err != nil {
			return nil, err
		}
		if cur.State.Final() {
			return nil, cur.OverError()
		}
		if cur.PausedUntil.Equal(end) {
			return e.unchanged(ctx, cur)
		}
		v, err := e.replace(ctx, cur, cur.Paused(end, e.shared.Store.Now().UTC()), at)
		if !errors.Is(err, step.ErrOvertaken) {
			return v, err
		}
	}
	return nil, contended("job " + k.String())
}

// PauseBy is [Editor.PauseAt] for the body of a request, {"until": …}.
func (e Editor) PauseBy(ctx context.Context, k scheduler.Key, body []byte, asked time.Time) (*view.Job, error) {
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	reader, until := document.NewReader(), ""
	o := reader.Object(v, "")
	if o.Require("until") {
		until, _ = o.String("until")
	}
	o.Done()
	if err := reader.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	return e.PauseAt(ctx, k, until, asked)
}
