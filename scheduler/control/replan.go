package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// planner makes batons follow their jobs' definitions.
type planner struct{ shared *shared }

// armFirst arms a new job's first baton. If the job already has one, there are three cases: a consistency check has
// armed it; it belongs to an earlier job with the same name, whose delete was interrupted, and is replaced; or it
// belongs to this job, whose definition was lost, and is returned. rev is the revision of the job's delete marker, 0 if
// there was none.
func (p *planner) armFirst(ctx context.Context, j *scheduler.Job, rev uint64, first scheduler.Step) (orphan *scheduler.Baton, err error) {
	from := step.From{BatonKey: scheduler.BatonKey{Key: j.Key}}
	if j.FiresAtOnce(first.Next.Wake(), p.shared.Store.Now()) { // a direct fire does not conflict with a waiting baton
		if orphan, err = p.orphanOf(ctx, j, rev); orphan != nil || err != nil {
			return orphan, err
		}
	}
	err = p.shared.steps.Move(ctx, j, first, from)
	if !errors.Is(err, scheduler.ErrConflict) {
		return nil, err
	}
	st, err := p.shared.Store.Waiting(ctx, from.BatonKey)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // running: the worker finds another job and drops it
	}
	if err != nil {
		return nil, err
	}
	if old, err := scheduler.DecodeBaton(st.Data); err == nil {
		switch {
		case old.UID == j.Incarnation():
			return nil, nil //nolint:nilnil // no orphaned baton
		case (&scheduler.OrphanBaton{Baton: &old, Marker: rev}).Cause() != scheduler.Deleted:
			return &old, nil
		}
	}
	from.Waiting = st.Revision
	err = p.shared.steps.Move(ctx, j, first, from)
	if errors.Is(err, scheduler.ErrConflict) {
		err = nil // it has moved, and its worker finds another job
	}
	return nil, err
}

// orphanOf returns the waiting baton of a new job if the job's definition was lost, otherwise nil. rev is as for
// armFirst.
func (p *planner) orphanOf(ctx context.Context, j *scheduler.Job, rev uint64) (*scheduler.Baton, error) {
	_, b, err := p.shared.steps.Waiting(ctx, scheduler.BatonKey{Key: j.Key})
	orphan := scheduler.OrphanBaton{Baton: b, Marker: rev}
	if b == nil || b.UID == j.Incarnation() || orphan.Cause() == scheduler.Deleted {
		return nil, err // a consistency check handles unreadable batons
	}
	return b, nil
}

// The number and interval of the checks of a baton that a worker has. The worker plans from the current definition, but
// may have read the previous one a moment ago.
const (
	runningLooks = 3
	runningPause = 100 * time.Millisecond
)

// armingTime is how long after its creation a job may have no baton yet.
const armingTime = 500 * time.Millisecond

// replan makes an enabled job's baton follow its definition, and returns it if it waits: nil if a worker has it, the job
// has ended, or another edit has changed it. was is the job before the edit; at is where the baton waited then, zero if
// unknown.
func (p *planner) replan(ctx context.Context, j, was *scheduler.Job, at step.From) (*scheduler.Baton, error) {
	looks := 0
	for range casTries {
		b, again, err := p.replanOnce(ctx, j, was.State, at)
		at = step.From{}
		if again {
			looks++
			if looks > runningLooks || extendsPause(was, j) {
				return nil, nil //nolint:nilnil // a worker has it
			}
			flow.Pause(ctx, runningPause)
			continue
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			return b, err
		}
	}
	return nil, keptMoving(j.Key)
}

// keptMoving is the error after casTries.
func keptMoving(k scheduler.Key) error {
	return fmt.Errorf("job %s: %w: its baton kept moving; try again", k, scheduler.ErrConflict)
}

// extendsPause reports whether an edit keeps the schedule of a job and extends its pause. A worker that has not seen
// the edit may arm a due time in the pause, which is skipped later.
func extendsPause(was, j *scheduler.Job) bool {
	return was.State == scheduler.Enabled && was.ScheduleGen == j.ScheduleGen && j.PausedUntil.After(was.PausedUntil)
}

// leave records the due times of the definition j that have no record yet, before an edit replaces j with next. If the
// baton is lost, leave derives it first, so that its worker decides about these times. It returns the job's progress.
// seen is where the baton waits, zero if unknown or if leave has moved it.
func (p *planner) leave(ctx context.Context, j, next *scheduler.Job, seen *step.From) (at scheduler.Progress, err error) {
	at = j.Progress
	if err := p.leaveDisabled(ctx, j, next); err != nil {
		return at, err
	}
	anew := next.ScheduleGen != j.ScheduleGen
	if next.State != scheduler.Disabled && !anew && next.PausedUntil.Equal(j.PausedUntil) {
		return at, nil
	}
	for look := range casTries {
		found, from, err := p.seen(ctx, j.Key, *seen)
		if err != nil {
			return at, err
		}
		b, now := cmp.Or(found.Waiting, found.Running), p.shared.Store.Now().UTC()
		if b == nil && look == 0 && j.State == scheduler.Enabled {
			if err := p.rederiveEdited(ctx, j); err != nil && !errors.Is(err, scheduler.ErrConflict) {
				return at, err
			}
			continue
		}
		if b == nil || !b.BelongsTo(j) {
			return at, nil
		}
		if at = b.Progress; b.Schedule != j.ScheduleGen { // an occurrence of an earlier schedule has not ended
			if anew && j.State == scheduler.Enabled {
				err = p.shared.steps.Record(ctx, j, j.Unbegun(at, now), true)
			}
			return at, err
		}
		s, some := j.Settle(*b, now)
		if found.Waiting == nil || !some {
			return at, nil
		}
		from.Schedule, at, *seen = j.ScheduleGen, s.Progress, step.From{}
		if err := p.shared.steps.CarryOut(ctx, j, s, from); !errors.Is(err, scheduler.ErrConflict) {
			return at, err
		}
	}
	return at, nil // workers process it, and record its due times
}

// leaveDisabled records the due times that passed while j was disabled, before next enables it. If this process stops
// before it arms the job, the catch-up policy does not apply to them.
func (p *planner) leaveDisabled(ctx context.Context, j, next *scheduler.Job) error {
	if j.State != scheduler.Disabled || next.State != scheduler.Enabled || next.ScheduleGen != j.ScheduleGen {
		return nil
	}
	s := next.ResumeSchedule(j.Progress, p.shared.Store.Now().UTC())
	if s.Next == nil || len(s.Records) == 0 {
		return nil
	}
	found, _, err := p.locate(ctx, j.Key)
	if err != nil || found.Waiting != nil || found.Running != nil { // the schedule resumes after the active occurrence
		return err
	}
	return p.shared.steps.Record(ctx, next, s.Records, true)
}

// replanOnce finds the baton and decides; again requests another round. To replace the baton, its position before the
// edit is sufficient: the step fails with ErrConflict if the baton has moved.
func (p *planner) replanOnce(
	ctx context.Context, j *scheduler.Job, was scheduler.State, at step.From,
) (b *scheduler.Baton, again bool, err error) {
	found, from, err := p.seen(ctx, j.Key, at)
	if err != nil && found.Running == nil {
		return nil, false, err
	}
	from.Schedule, from.Doubtful = j.ScheduleGen, from.Waiting == 0
	what, s := j.Replan(was, found, p.shared.Store.Now().UTC())
	if at.Waiting != 0 && what != scheduler.ReplaceIt && found.Waiting.Revision != j.Revision {
		return p.replanOnce(ctx, j, was, step.From{})
	}
	switch what {
	case scheduler.LookAgain:
		return nil, true, nil
	case scheduler.ReplaceIt:
		if found.Waiting == nil || found.Waiting.Revision > j.Revision {
			now, err := p.latest(ctx, j)
			switch {
			case now == nil || err != nil:
				return nil, false, err
			case now.Revision != j.Revision:
				_, again, err = p.replanOnce(ctx, now, was, step.From{})
				return nil, again, err
			}
		}
		if s, err = p.rejoined(ctx, j, was, s); err != nil {
			return nil, false, err
		}
		return s.Next, false, p.shared.steps.CarryOut(ctx, j, s, from)
	case scheduler.DeriveAgain:
		return nil, false, p.rederiveEdited(ctx, j)
	case scheduler.LeaveAlone:
	}
	if found.Waiting != nil {
		b = found.Own(j)
	}
	return b, false, nil
}

// latest returns the stored version of j. It returns nil if an edit has changed the schedule or the state since j, or
// deleted the job: that edit then arms the baton, and j may plan due times that have already run.
func (p *planner) latest(ctx context.Context, j *scheduler.Job) (*scheduler.Job, error) {
	now, err := p.shared.load(ctx, j.Key)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return nil, nil //nolint:nilnil // it has been deleted since
	case err != nil:
		return nil, err
	case now.Incarnation() != j.Incarnation() || now.ScheduleGen != j.ScheduleGen || now.State != j.State:
		return nil, nil //nolint:nilnil // the stored job is not a version of j
	}
	return now, nil
}

// seen is locate, unless the baton's position is known.
func (p *planner) seen(ctx context.Context, k scheduler.Key, at step.From) (scheduler.Found, step.From, error) {
	if at.Waiting != 0 {
		return scheduler.Found{Waiting: at.Baton}, at, nil
	}
	return p.locate(ctx, k)
}

// locate finds a job's own baton and the starting point of a step that moves it. It removes an unreadable waiting baton,
// and the job is planned as if it were lost. It returns an unreadable running baton with the error: that baton follows no
// definition, and its worker handles it.
func (p *planner) locate(ctx context.Context, k scheduler.Key) (scheduler.Found, step.From, error) {
	return p.find(ctx, k, func(slot scheduler.BatonKey, waiting uint64, why error) error {
		p.shared.Logger.Error("damaged baton removed; the job is rescheduled", "job", k.String(), "err", why)
		err := p.shared.Store.Cancel(ctx, slot, waiting)
		return scheduler.Ignore(err, scheduler.ErrConflict) // it has fired, and its worker removes it
	})
}

// peek is locate for reads and dry runs: it writes nothing.
func (p *planner) peek(ctx context.Context, k scheduler.Key) (scheduler.Found, step.From, error) {
	return p.find(ctx, k, func(scheduler.BatonKey, uint64, error) error { return nil })
}

// find calls damaged for an unreadable waiting baton, and omits it.
func (p *planner) find(
	ctx context.Context, k scheduler.Key, damaged func(slot scheduler.BatonKey, waiting uint64, why error) error,
) (f scheduler.Found, from step.From, err error) {
	slot := scheduler.BatonKey{Key: k}
	from.BatonKey = slot
	var waiting, running scheduler.Stored
	err = p.shared.Store.FindBatons(ctx, []scheduler.Key{k}, func(st scheduler.Stored, withWorker bool) {
		if withWorker {
			running = st
		} else {
			waiting = st
		}
	})
	switch {
	case err != nil:
		return f, from, err
	case waiting.Revision == 0 && running.Revision == 0:
		return f, from, nil
	case waiting.Revision == 0:
		b, err := scheduler.DecodeBaton(running.Data)
		from.Running = running.Revision
		return scheduler.Found{Running: &b}, from, err
	}
	b, err := scheduler.DecodeBaton(waiting.Data)
	if err == nil {
		err = b.Check(slot)
	}
	if err != nil {
		return f, from, damaged(slot, waiting.Revision, err)
	}
	from.Waiting, from.Firing = waiting.Revision, waiting.MayFire(p.shared.Store.Now())
	return scheduler.Found{Waiting: &b}, from, nil
}

// rederive arms the baton that follows the job's last history record or, without a history, the first baton.
func (p *planner) rederive(ctx context.Context, j *scheduler.Job) error {
	search, err := p.shared.steps.Position(ctx, j)
	if err != nil {
		return err
	}
	return p.follow(ctx, j, search)
}

// rederiveEdited is rederive for an edit. While another process may be about to arm the first baton of a new job, it
// returns [scheduler.ErrConflict] after runningPause.
func (p *planner) rederiveEdited(ctx context.Context, j *scheduler.Job) error {
	search, err := p.shared.steps.Position(ctx, j)
	if err != nil {
		return err
	}
	age := p.shared.Store.Now().Sub(j.Created) // negative with another clock
	if search.Found == nil && age >= 0 && age < armingTime {
		flow.Pause(ctx, runningPause)
		return fmt.Errorf("job %s: %w: it has just been created", j.Key, scheduler.ErrConflict)
	}
	return p.follow(ctx, j, search)
}

// follow arms the baton after the record that search found, unless an edit has overtaken j.
func (p *planner) follow(ctx context.Context, j *scheduler.Job, search *scheduler.PositionSearch) error {
	now, err := p.latest(ctx, j)
	switch {
	case now == nil || err != nil:
		return err
	case now.Revision != j.Revision:
		return p.rederive(ctx, now)
	}
	from := step.From{BatonKey: scheduler.BatonKey{Key: j.Key}, Schedule: j.ScheduleGen, Doubtful: true}
	return p.shared.steps.CarryOut(ctx, j, search.Next(p.shared.Store.Now().UTC()), from)
}

// goOn makes the batons follow a repaired job that owns them. It replaces a waiting baton with one derived from the
// history, because the waiting one may follow another schedule. Detached runs continue. A baton that a worker has also
// continues: replacing it could repeat a running call. If it is not running, it is redelivered within a minute.
func (p *planner) goOn(ctx context.Context, j *scheduler.Job) error {
	if err := p.cancelPlanned(ctx, j); err != nil || j.State != scheduler.Enabled {
		return err
	}
	there, err := p.occupant(ctx, scheduler.BatonKey{Key: j.Key})
	if there != nil || err != nil {
		return err
	}
	return p.rederive(ctx, j)
}

// rejoined returns the step s of a job that is enabled again. If the step ends the job, it takes the outcome from the
// history.
func (p *planner) rejoined(ctx context.Context, j *scheduler.Job, was scheduler.State, s scheduler.Step) (scheduler.Step, error) {
	if was != scheduler.Disabled || s.Next != nil {
		return s, nil
	}
	search, err := p.shared.steps.Position(ctx, j)
	if err != nil {
		return s, err
	}
	return j.Rejoined(s, search), nil
}

// baton returns a job's own baton, which may be nil, and whether a worker has it.
func (p *planner) baton(ctx context.Context, j *scheduler.Job) (b *scheduler.Baton, running bool, err error) {
	found, _, err := p.peek(ctx, j.Key)
	b = found.Own(j)
	if err != nil || b == nil {
		return nil, false, err
	}
	return b, found.Running != nil, nil
}

// occupant returns the waiting or running baton of a slot, or nil. A baton that cannot be decoded is returned empty.
func (p *planner) occupant(ctx context.Context, slot scheduler.BatonKey) (*scheduler.Baton, error) {
	st, err := p.shared.Store.Waiting(ctx, slot)
	if errors.Is(err, scheduler.ErrNotFound) {
		st, err = p.shared.Store.Running(ctx, slot)
	}
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // absence is a valid result
	}
	if err != nil {
		return nil, err
	}
	b, _ := scheduler.DecodeBaton(st.Data)
	return &b, nil
}

// cancelPlanned removes the waiting baton of a disabled job unless it is due, in which case its worker records the
// skip. Manual runs and started occurrences keep their batons and end as usual.
func (p *planner) cancelPlanned(ctx context.Context, j *scheduler.Job) error {
	for range casTries {
		if err := p.cancelPlannedOnce(ctx, j, step.From{}); !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
	}
	return keptMoving(j.Key)
}

// cancelPlannedOnce returns [scheduler.ErrConflict] if the baton has moved since the lookup: a worker has merged a
// detached run into it, or it has fired. seen is where the baton waits, zero if unknown.
func (p *planner) cancelPlannedOnce(ctx context.Context, j *scheduler.Job, seen step.From) error {
	slot := scheduler.BatonKey{Key: j.Key}
	if seen.Waiting == 0 {
		st, b, err := p.shared.steps.Waiting(ctx, slot)
		if err != nil || st.Revision == 0 {
			return err
		}
		seen.Waiting, seen.Baton = st.Revision, b
	}
	switch b := seen.Baton; {
	case b == nil: // unreadable
	case b.Revision > j.Revision: // armed by a later edit, or for a new job with the same name
		return nil
	case b.BelongsTo(j) && (!b.NeedsOpen() || !b.MayRun().After(j.Updated)):
		return nil
	case j.State == scheduler.Disabled && b.BelongsTo(j) && !j.Progress.Includes(&b.Progress):
		// detached runs were merged into it after the edit had read it
		err := p.shared.steps.Move(ctx, j, scheduler.Step{State: j.State, Progress: b.Progress},
			step.From{BatonKey: slot, Waiting: seen.Waiting, Schedule: b.Schedule})
		return scheduler.Ignore(err, step.ErrOvertaken)
	}
	return p.shared.Store.Cancel(ctx, slot, seen.Waiting)
}
