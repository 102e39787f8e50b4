package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// pass executes the step for the job and acknowledges the baton. If the job's baton has already moved on, nothing
// remains to be done.
func (w *Worker) pass(r *run) stage {
	s := r.step
	from := step.From{
		Slot: r.delivery.Slot, Running: r.delivery.Sequence, Baton: &r.baton, Schedule: r.baton.Schedule, Doubtful: r.doubtful,
	}
	r.skipped = append(r.skipped, s.Records...)
	if err := w.steps.Record(w.settles, r.current, r.skipped, r.suspect); err != nil {
		return w.nak(r)
	}
	ends := s.Next == nil && !s.Merge
	if ends && s.State.Final() {
		if x := w.steps.EndingOf(r.current, s, from); r.current.Told(x, r.attempt, r.skipped) {
			w.jobs.Forget(r.key())
			w.finalizer.add(x)
			return w.ack(r)
		}
	}
	ctx := w.settles
	if s.Merge {
		ctx = w.attempts // it may take long, and ends with the attempts
	}
	err := w.steps.Move(ctx, r.current, s, from)
	if ends {
		w.jobs.Forget(r.key())
	}
	switch {
	case err == nil, errors.Is(err, scheduler.ErrConflict) && s.Next != nil, errors.Is(err, scheduler.ErrNotFound) && s.Next == nil:
		return w.ack(r)
	}
	return w.nak(r) // it is redelivered, and planned from the stored state
}

// dropOrphan ends a baton of an earlier job with the same name. Its deletion was interrupted, and the message occupies
// the place of the current job's baton: a consistency check is needed.
func (w *Worker) dropOrphan(r *run) stage {
	now, err := w.look(r, r.delivery.Slot)
	w.ack(r)
	if err != nil || !now.passedOn(r) {
		w.cfg.OnTakeover()
	}
	return nil
}

// ack ends a run in this process and removes its message.
func (w *Worker) ack(r *run) stage {
	if err := r.delivery.Lease.Ack(); err != nil {
		w.log.Warn("baton not acknowledged", r.named("err", err)...)
	}
	w.room.Release(r.place())
	return nil
}

// drop ends a run in this process whose message may already belong to another process.
func (w *Worker) drop(r *run) stage {
	w.room.Release(r.place()) // first: it may be redelivered immediately
	r.delivery.Lease.Drop()
	return nil
}

// nak ends a run in this process and returns its message for redelivery.
func (w *Worker) nak(r *run) stage { return w.nakFor(r, 0) }

// nakFor is nak with a redelivery delay.
func (w *Worker) nakFor(r *run, pause time.Duration) stage {
	w.room.Release(r.place()) // first: it may be redelivered immediately
	if err := r.delivery.Lease.Nak(pause); err != nil {
		w.log.Warn("baton not returned", r.named("err", err)...)
	}
	return nil
}

// retryLater returns a baton after an error, with a short delay. For a damaged job, the delay grows until the job is
// repaired; each damaged revision is logged once.
func (w *Worker) retryLater(r *run, err error) stage {
	w.trouble.count(err)
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		if w.told.first(damaged.Key, damaged.Revision) {
			w.log.Error("damaged job: its baton waits", "job", damaged.Key.String(), "reason", damaged.Says())
		}
		return w.nakFor(r, scheduler.DamagedPause(r.delivery.Deliveries))
	}
	level, untold := slog.LevelWarn, 0
	if errors.Is(err, scheduler.ErrUnavailable) {
		level, untold = w.away.Level()
	}
	w.log.Log(w.attempts, level, "baton put back for a moment", r.named("others", untold, "err", err)...)
	intake.Pause(w.attempts, retryPause)
	return w.nak(r)
}
