package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// Enable resumes a disabled or paused job. The due times that it has missed are recorded as skipped. It returns
// ErrConflict if the job is completed or faulted.
func (e Editor) Enable(ctx context.Context, k scheduler.Key) (*v1.Job, error) {
	return e.SetEnabled(ctx, k, scheduler.Enabled, 0)
}

// Disable stops a job until it is enabled. Started occurrences and manual runs end as usual, however long the target or
// the retries take. It returns ErrConflict if the job is completed or faulted.
func (e Editor) Disable(ctx context.Context, k scheduler.Key) (*v1.Job, error) {
	return e.SetEnabled(ctx, k, scheduler.Disabled, 0)
}

// SetEnabled enables or disables a job. specSequence is the stream sequence of the spec that requested it, or 0. A job that a
// later spec has written does not change, and the view reports this.
func (e Editor) SetEnabled(ctx context.Context, k scheduler.Key, state scheduler.State, specSequence uint64) (*v1.Job, error) {
	return e.setState(asking(ctx, turns[state]), k, specSequence, func(cur *scheduler.Job) (*scheduler.Job, error) {
		now := e.shared.Store.Now().UTC()
		if cur.State == state && (state != scheduler.Enabled || !cur.PausedAt(now)) {
			return nil, e.ensureSpecRecorded(ctx, cur, specSequence)
		}
		return cur.WithState(state, now, specSequence), nil
	})
}

// setState stores what change makes of a job that has not ended; nil means that nothing changes.
func (e Editor) setState(
	ctx context.Context, k scheduler.Key, specSequence uint64, change func(cur *scheduler.Job) (*scheduler.Job, error),
) (*v1.Job, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	for try := range casTries {
		cur, err := e.load(ctx, k, try)
		if err != nil {
			return nil, err
		}
		if specSequence > 0 && cur.SpecSequence > specSequence {
			return e.superseded(ctx, cur)
		}
		if specSequence == 0 || cur.SpecSequence < specSequence {
			if err := e.meets(k, cur); err != nil {
				return nil, err
			}
		}
		cur, at, err := e.shared.steps.Find(ctx, cur)
		if err != nil {
			return nil, err
		}
		if cur.State.Final() {
			return nil, cur.EndedError()
		}
		next, err := change(cur)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return e.unchanged(ctx, cur, at)
		}
		v, err := e.replace(ctx, cur, next, at)
		if !errors.Is(err, step.ErrOvertaken) {
			return v, err
		}
	}
	return nil, contended("job " + k.String())
}

// turns maps states to the operations that set them.
var turns = map[scheduler.State]string{scheduler.Enabled: "enable", scheduler.Disabled: "disable"}

// ensureSpecRecorded makes sure that the audit log contains a spec that was applied and is redelivered.
func (e Editor) ensureSpecRecorded(ctx context.Context, cur *scheduler.Job, specSequence uint64) error {
	if specSequence == 0 || cur.SpecSequence != specSequence {
		return nil
	}
	return e.shared.ensureRecorded(ctx, lastEdit(cur))
}

// Delete removes a job, its batons and its history. A running attempt ends, and nothing follows. Delete returns
// ErrNotFound if the job does not exist; a job without a definition exists if it has a baton.
func (e Editor) Delete(ctx context.Context, k scheduler.Key, specSequence uint64) error {
	if err := k.Validate(); err != nil {
		return err
	}
	for range casTries {
		last, err := e.lastRecord(ctx, k)
		if err != nil {
			return err
		}
		st, err := e.shared.Store.LoadJob(ctx, k)
		st.Key = k
		left := remains{st, last}
		if errors.Is(err, scheduler.ErrNotFound) && specSequence > 0 && st.SpecSequence == specSequence {
			return e.shared.audited(ctx, deletion(k, st), func(*audit.Entry) error { return e.sweep(ctx, left) }) // interrupted
		}
		if errors.Is(err, scheduler.ErrNotFound) {
			orphan, _, failed := e.shared.findOrphan(ctx, k)
			switch {
			case failed != nil:
				return failed
			case orphan != nil && orphan.Cause() == scheduler.Deleted:
				return e.sweep(ctx, left) // a delete was interrupted, perhaps this one
			case orphan != nil:
				err, left.Revision = nil, math.MaxUint64 // the definition was lost: all batons belong to the job
			}
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", k, err)
		}
		if scheduler.StoredSpecSequence(st.Data) > specSequence && specSequence > 0 {
			return fmt.Errorf("job %s: %w: a later spec put it again", k, scheduler.ErrConflict)
		}
		if err := e.when.Check("job "+k.String(), scheduler.StoredETag(st)); err != nil {
			return err
		}
		err = e.remove(ctx, k, st, specSequence)
		if errors.Is(err, scheduler.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", k, err)
		}
		return e.sweep(ctx, left)
	}
	return contended("job " + k.String())
}

// remove deletes a definition at its revision and writes an audit log entry.
func (e Editor) remove(ctx context.Context, k scheduler.Key, st scheduler.Stored, specSequence uint64) error {
	if edit, ok := scheduler.StoredEdit(st.Data); ok {
		if err := e.shared.ensureRecorded(ctx, &storedEdit{edit, k, st.Revision}); err != nil {
			return err
		}
	}
	heard, err := registry.Prepare(ctx, e.shared.Store.Listeners(), k, scheduler.StoredLinks(st.Data).Hears(k), scheduler.Heard{})
	if err != nil {
		return err
	}
	entry := deletion(k, st)
	entry.SpecSequence = specSequence
	err = e.shared.audited(ctx, entry, func(*audit.Entry) error {
		return e.shared.Store.RemoveJob(ctx, k, st.Revision, specSequence)
	})
	if err == nil {
		e.shared.completeHeard(ctx, k, heard)
	}
	return err
}

// deletion returns the audit log entry of a job's deletion.
func deletion(k scheduler.Key, st scheduler.Stored) *audit.Entry {
	edit, _ := scheduler.StoredEdit(st.Data)
	return &audit.Entry{
		Kind: audit.Job, Op: "delete", Collection: k.Collection, Job: k.Job, Result: "deleted", OldRevision: st.Revision, UID: edit.UID,
	}
}

// remains identify the batons and records of a deleted job. A later job with the same name may exist.
type remains struct {
	scheduler.Stored // the definition or its delete marker

	last uint64 // sequence of its last record before the deletion
}

// lastRecord returns the sequence of the last record of a name, or 0.
func (e Editor) lastRecord(ctx context.Context, k scheduler.Key) (last uint64, err error) {
	err = e.shared.Store.LastRecords(ctx, []scheduler.Key{k}, scheduler.Outcomes, func(r *scheduler.Record) {
		last = max(last, r.Sequence)
	})
	if err != nil {
		err = fmt.Errorf("job %s: %w", k, err)
	}
	return last, err
}

// sweep removes the remains of a deleted job.
func (e Editor) sweep(ctx context.Context, left remains) error {
	of := scheduler.Left(scheduler.StoredIncarnation(left.Data), left.Revision)
	if err := e.shared.Store.Clear(ctx, left.Key, of); err != nil {
		return fmt.Errorf("job %s: deleted, but its baton is still there and will be dropped when due: %w", left.Key, err)
	}
	return e.shared.Store.Forget(ctx, left.Key, left.last)
}

// Pause prevents a job from starting occurrences until an instant, after which it resumes automatically. Its state does
// not change. Due times in the pause are recorded as skipped; manual runs are possible. [explain.ParseFuture] parses until,
// in the job's time zone. [Editor.Enable] ends a pause early, and another Pause changes its end.
//
// Pause returns ErrInvalid if until is not in the future, and ErrConflict if the job is completed or faulted.
func (e Editor) Pause(ctx context.Context, k scheduler.Key, until string) (*v1.Job, error) {
	return e.PauseAt(ctx, k, until, e.shared.Store.Now())
}

// PauseAt is [Editor.Pause] for a request that was made at the instant asked, to which until is relative: "2h" starts
// then, and "9:00" is the next 9:00 after it, even if the request is executed later, as for many jobs.
func (e Editor) PauseAt(ctx context.Context, k scheduler.Key, until string, asked time.Time) (*v1.Job, error) {
	return e.setState(asking(ctx, "pause"), k, 0, func(cur *scheduler.Job) (*scheduler.Job, error) {
		end, err := explain.ParseFuture(until, cur.Plan.Zone(), asked.UTC())
		if err != nil {
			return nil, scheduler.Invalid("until", err.Error())
		}
		now := e.shared.Store.Now().UTC()
		if !end.After(now) {
			return nil, scheduler.Invalid("until", fmt.Sprintf("%q was %s, which has passed meanwhile", until, end.Format(time.RFC3339)))
		}
		if cur.PausedUntil.Equal(end) {
			return nil, nil
		}
		return cur.Paused(end, now), nil
	})
}

// PauseBy is [Editor.PauseAt] for the body of a request, {"until": …}.
func (e Editor) PauseBy(ctx context.Context, k scheduler.Key, body []byte, asked time.Time) (*v1.Job, error) {
	req, err := readRequest[v1.PauseRequest](ctx, body, nil)
	if err != nil {
		return nil, err
	}
	return e.PauseAt(ctx, k, req.Until, asked)
}
