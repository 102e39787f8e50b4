package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// pass executes the step for the job and acknowledges the baton. If the job's baton has already moved on, nothing
// remains to be done.
func (w *Worker) pass(r *run) stage {
	s := r.step
	from := step.From{
		BatonKey: r.delivery.BatonKey, Running: r.delivery.Sequence, Baton: &r.baton, Schedule: r.baton.Schedule, Doubtful: r.doubtful,
	}
	r.skipped = append(r.skipped, s.Records...)
	if err := w.steps.Record(w.settles, r.current, r.skipped, r.suspect); err != nil {
		return w.nak(r)
	}
	ends := s.Next == nil && !s.Merge
	if ends && s.State.Final() {
		if x := w.steps.CompletionOf(r.current, s, from); r.current.IsRecorded(x, r.attempt, r.skipped) {
			w.jobs.Forget(r.key())
			w.finalizer.add(x)
			return w.ack(r)
		}
	}
	ctx := w.settles
	if s.Merge {
		ctx = w.attempts                           // it may take long, and ends with the attempts
		if err := w.leave(r, leaves); err != nil { // before: the next run of its key starts
			return w.nak(r)
		}
	}
	err := w.steps.Move(ctx, r.current, s, from)
	if ends {
		w.jobs.Forget(r.key())
	}
	switch {
	case err == nil, errors.Is(err, scheduler.ErrConflict) && s.Next != nil, errors.Is(err, scheduler.ErrNotFound) && s.Next == nil:
		if s.Next != nil && s.Next.Kind == scheduler.Triggered && s.Next.Queued && w.leave(r, reads) != nil {
			return w.nak(r)
		}
		return w.ack(r)
	}
	if errors.Is(err, scheduler.ErrUnavailable) || errors.Is(err, scheduler.ErrConflict) || errors.Is(err, step.ErrOvertaken) {
		return w.nak(r) // it is redelivered, and planned from the stored state
	}
	return w.retryLater(r, err)
}

// dropOrphan ends a baton of an earlier job with the same name. Its deletion was interrupted, and the message occupies
// the place of the current job's baton: a consistency check is needed.
func (w *Worker) dropOrphan(r *run) stage {
	now, err := w.occupancyOf(r.delivery.BatonKey, r.baton.UID)
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
	w.buffer.Release(r.place())
	return nil
}

// drop ends a run in this process whose message may already belong to another process.
func (w *Worker) drop(r *run) stage {
	w.buffer.Release(r.place()) // first: it may be redelivered immediately
	r.delivery.Lease.Drop()
	return nil
}

// nak ends a run in this process and returns its message for redelivery.
func (w *Worker) nak(r *run) stage { return w.nakFor(r, 0) }

// nakFor is nak with a redelivery delay.
func (w *Worker) nakFor(r *run, pause time.Duration) stage {
	w.buffer.Release(r.place()) // first: it may be redelivered immediately
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
		if w.damageLogged.first(damaged.Key, damaged.Revision) {
			w.log.Error("damaged job: its baton waits", "job", damaged.Key.String(), "reason", damaged.Says())
		}
		return w.nakFor(r, scheduler.DamagedPause(r.delivery.Deliveries))
	}
	level, omitted := slog.LevelWarn, 0
	if errors.Is(err, scheduler.ErrUnavailable) {
		level, omitted = w.away.Level()
	}
	w.log.Log(w.attempts, level, "baton put back for a moment", r.named("others", omitted, "err", err)...)
	flow.Pause(w.attempts, retryPause)
	return w.nak(r)
}

// astray handles a baton whose job has no definition. It removes the baton of a deleted job. Any other baton waits and
// is checked periodically: when the definition is restored, the baton continues where it was.
func (w *Worker) astray(r *run) stage {
	b, err := scheduler.DecodeBaton(r.delivery.Body) // as it was delivered
	if err != nil {
		return w.retryLater(r, err)
	}
	cause, err := w.orphanCause(r, &b)
	switch {
	case err != nil:
		return w.retryLater(r, err)
	case cause == scheduler.Deleted:
		return w.ack(r)
	case w.damageLogged.first(r.key(), b.Revision):
		w.log.Error("a job has lost its definition: it does not run, and its baton waits until you apply the job again or delete it",
			"job", r.key().String(), "occurrence", scheduler.OccurrenceID(r.key(), b.Nominal), "revision", b.Revision)
	}
	w.trouble.lostDefinition.Add(1)
	next, at := b.Requeue(w.cfg.Store.Now())
	err = w.persist(w.settles, r.key(), func(ctx context.Context) error {
		return w.cfg.Store.Reschedule(ctx, r.delivery.BatonKey, next.Encode(), at, r.delivery.Sequence)
	})
	if err != nil && !errors.Is(err, scheduler.ErrConflict) {
		return w.nak(r)
	}
	return w.ack(r)
}

// errThere reports that a missing definition has reappeared.
var errThere = errors.New("its definition has just been put")

// orphanCause determines what happened to the definition of r, whose baton is b.
func (w *Worker) orphanCause(r *run, b *scheduler.Baton) (scheduler.OrphanCause, error) {
	marker, err := w.cfg.Store.LoadJob(w.settles, r.key())
	if err == nil {
		return 0, errThere
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return 0, err
	}
	orphan := scheduler.OrphanBaton{Baton: b, Marker: marker.Revision}
	return orphan.Cause(), nil
}

// ranUnder returns the definition for the steps after an attempt of a run whose job has none anymore: the one of the
// attempt, unless the job was deleted.
func (w *Worker) ranUnder(r *run) (*scheduler.Job, error) {
	cause, err := w.orphanCause(r, &r.baton)
	if err != nil || cause == scheduler.Deleted {
		return nil, err
	}
	return r.job, nil
}

// damages remembers the jobs, damaged or without a definition, that have been logged. The zero value is ready for use.
type damages struct {
	mu     sync.Mutex
	logged map[scheduler.Key]uint64 // logged revisions
}

// loggedMost limits the remembered jobs. When it is exceeded, all are logged again.
const loggedMost = 1 << 14

// first reports whether a revision of a job has not been logged yet.
func (d *damages) first(k scheduler.Key, revision uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, ok := d.logged[k]; ok && last == revision {
		return false
	}
	if d.logged == nil || len(d.logged) >= loggedMost {
		d.logged = map[scheduler.Key]uint64{}
	}
	d.logged[k] = revision
	return true
}
