package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// pass carries out what follows for the job, and acknowledges the baton. Whoever
// finds that the job's baton is elsewhere already has nothing left to do.
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
	return w.nak(r) // it comes again, and is planned by what is stored then
}

// dropOrphan ends a baton of an earlier job of the name. To delete that job was
// to remove its message; when that was cut short, this one lies where the
// present job's baton ought to be, and the audit has to look.
func (w *Worker) dropOrphan(r *run) stage {
	now, err := w.look(r, r.delivery.Slot)
	w.ack(r)
	if err != nil || !now.passedOn(r) {
		w.cfg.OnTakeover()
	}
	return nil
}

// ack ends a run in this process, and removes its message.
func (w *Worker) ack(r *run) stage {
	if err := r.delivery.Lease.Ack(); err != nil {
		w.log.Warn("baton not acknowledged", r.named("err", err)...)
	}
	w.room.Release(r.place())
	return nil
}

// drop ends a run in this process, whose message may be another's by now.
func (w *Worker) drop(r *run) stage {
	w.room.Release(r.place()) // first: it may come again at once
	r.delivery.Lease.Drop()
	return nil
}

// nak ends a run in this process, and lets another worker have its message.
func (w *Worker) nak(r *run) stage { return w.nakFor(r, 0) }

// nakFor is nak for a message that nobody gets for a while.
func (w *Worker) nakFor(r *run, pause time.Duration) stage {
	w.room.Release(r.place()) // first: it may come again at once
	if err := r.delivery.Lease.Nak(pause); err != nil {
		w.log.Warn("baton not returned", r.named("err", err)...)
	}
	return nil
}

// retryLater gives a baton back that could not be dealt with, after a moment. That of a damaged job waits longer and
// longer, outside, until a put mends the job; each revision of it is told of once.
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
