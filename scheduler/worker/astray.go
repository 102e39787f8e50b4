package worker

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
)

// astray handles a baton whose job has no definition. It removes the baton of a deleted job. Any other baton waits and
// is checked periodically: when the definition is restored, the baton continues where it was.
func (w *Worker) astray(r *run) stage {
	b, err := scheduler.DecodeBaton(r.delivery.Body) // as it was delivered
	if err != nil {
		return w.retryLater(r, err)
	}
	fate, err := w.fate(r, &b)
	switch {
	case err != nil:
		return w.retryLater(r, err)
	case fate == scheduler.Deleted:
		return w.ack(r)
	case w.told.first(r.key(), b.Revision):
		w.log.Error("a job has no definition, and was not deleted: it does not run, and its baton waits until it is put again",
			"job", r.key().String(), "occurrence", scheduler.OccurrenceID(r.key(), b.Nominal), "revision", b.Revision)
	}
	w.trouble.lostDefinition.Add(1)
	next, at := b.Await(w.cfg.Store.Now())
	err = w.persist(w.settles, r.key(), func(ctx context.Context) error {
		return w.cfg.Store.PassOn(ctx, r.delivery.Slot, next.Encode(), at, r.delivery.Sequence)
	})
	if err != nil && !errors.Is(err, scheduler.ErrConflict) {
		return w.nak(r)
	}
	return w.ack(r)
}

// errThere reports that a missing definition has reappeared.
var errThere = errors.New("its definition has just been put")

// fate determines what happened to the definition of r, whose baton is b.
func (w *Worker) fate(r *run, b *scheduler.Baton) (scheduler.Fate, error) {
	marker, err := w.cfg.Store.LoadJob(w.settles, r.key())
	if err == nil {
		return 0, errThere
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return 0, err
	}
	stray := scheduler.Stray{Baton: b, Marker: marker.Revision}
	return stray.Fate(), nil
}

// ranUnder returns the definition for the steps after an attempt of a run whose job has none anymore: the one of the
// attempt, unless the job was deleted.
func (w *Worker) ranUnder(r *run) (*scheduler.Job, error) {
	fate, err := w.fate(r, &r.baton)
	if err != nil || fate == scheduler.Deleted {
		return nil, err
	}
	return r.job, nil
}
