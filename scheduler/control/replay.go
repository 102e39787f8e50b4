package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// requestAge limits how far the time of a request may be from the present.
const requestAge = time.Hour

// ReplayEvent starts a run of a job with a stored event, if the job's trigger matches the event: see
// [scheduler.Job.Replay]. The body is a [v1.ReplayEventRequest]. With dryRun, nothing starts.
//
// Errors: ErrInvalid with every problem of the body; ErrNotFound without the job or the event; ErrConflict if the job has
// no trigger, or would not run because it is disabled or paused or its collection is disabled.
func (r Runner) ReplayEvent(ctx context.Context, key scheduler.Key, body []byte, dryRun bool) (*v1.ReplayedEvent, error) {
	ctx = asking(ctx, "replay")
	now := r.shared.Store.Now().UTC()
	req, err := readRequest(ctx, body, func(o *document.Object, req *v1.ReplayEventRequest) { readReplay(o, req, now) })
	if err != nil {
		return nil, err
	}
	k := EventKeeper{r.shared}
	j, err := k.listening(ctx, key)
	if err == nil {
		err = r.mayReplay(ctx, j, now)
	}
	if err != nil {
		return nil, err
	}
	e, err := k.storedFor(ctx, j, req.Sequence)
	if err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, r.shared.computing)
	if err != nil {
		return nil, err
	}
	b, m, err := j.Replay(e, cmp.Or(req.At, now))
	release()
	v := &v1.ReplayedEvent{Sequence: e.Sequence, Starts: b != nil, Key: m.Key, Message: m.Why}
	if b == nil || err != nil || dryRun {
		return v, err
	}
	b.Suspect = !req.At.IsZero() // an earlier request may have started the run, which may have ended
	v.Occurrence = scheduler.OccurrenceID(key, b.Nominal)
	return v, r.fireReplay(ctx, j, e, b)
}

// readReplay reads what [readRequest] does not.
func readReplay(o *document.Object, req *v1.ReplayEventRequest, now time.Time) {
	n, _ := o.Int("sequence", 1, math.MaxInt64)
	req.Sequence = uint64(n)
	at, ok := o.Time("at")
	if req.At = at; ok && at.Sub(now).Abs() > requestAge {
		o.Problem("at", "is the time of the request: it must be within %s of now", document.Duration{Exact: requestAge})
	}
}

// mayReplay returns ErrConflict if runs of a job would be skipped.
func (r Runner) mayReplay(ctx context.Context, j *scheduler.Job, now time.Time) error {
	closed := r.shared.closed(ctx, j.Key.Collection)
	switch {
	case j.State != scheduler.Enabled:
		return fmt.Errorf("job %s: %w: it is %s, so no event starts it", j.Key, scheduler.ErrConflict, j.State)
	case j.PausedAt(now):
		return fmt.Errorf("job %s: %w: it is paused; resume it first", j.Key, scheduler.ErrConflict)
	case closed != "":
		return fmt.Errorf("collection %s: %w: it %s", j.Key.Plain().Collection, scheduler.ErrConflict, closed)
	}
	return nil
}

// fireReplay starts the run of a replayed event, unless the same request has started it.
func (r Runner) fireReplay(ctx context.Context, j *scheduler.Job, e *scheduler.Event, b *scheduler.Baton) error {
	slot := scheduler.BatonKey{Key: j.Key, Detached: scheduler.DetachedName(b.Nominal)}
	err := r.fire(ctx, j, slot, b, b.Nominal, 0)
	if !errors.Is(err, scheduler.ErrConflict) {
		return err
	}
	if there, failed := r.plans.occupant(ctx, slot); failed != nil || there != nil && there.Replays(e) {
		return failed
	}
	return err
}
