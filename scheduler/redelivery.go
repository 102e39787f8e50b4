package scheduler

import (
	"context"
	"errors"
)

// recheck deals with a baton that may have been run before: it was delivered
// more than once, or fired before this worker began. An attempt that is in the
// history is not run again; the baton is passed on from the record, unless
// that happened too.
//
// The places where the worker before may have stopped, in order: before the
// action or before the record (run it, under the same key), after the record
// (pass on), after passing on (acknowledge), after writing the job's end
// (the definition says so; acknowledge).
func (w *Worker) recheck(r *run) {
	if !w.takeUp(r) {
		w.loader.add(r)
	}
}

// takeUp goes on from the history record of r's attempt. False means that
// there is none.
func (w *Worker) takeUp(r *run) bool {
	rec, err := w.recorded(w.settles, r)
	if err != nil {
		w.retryLater(r, err)
		return true
	}
	if rec == nil {
		return false
	}
	r.skips = nil // recorded before the attempt was
	passed, err := w.passed(w.settles, r)
	switch {
	case err != nil:
		w.retryLater(r, err)
	case passed:
		w.ack(r)
	case rec.OneOff && !r.baton.OneOff:
		w.leaveBehind(r)
	default:
		r.baton = rec.baton()
		w.proceed(r, rec.baton(), rec.result(), rec.Ended)
	}
	return true
}

// leaveBehind passes on the baton of an occurrence whose one-off has ended
// already.
func (w *Worker) leaveBehind(r *run) {
	j, err := w.library.current(w.settles, r.key(), r.baton.Revision)
	switch {
	case errors.Is(err, ErrNotFound):
		w.ack(r)
	case err != nil:
		w.retryLater(r, err)
	case !r.baton.serves(j):
		w.dropStray(r)
	default:
		w.goOn(r, j)
	}
}

// recheckDepth is how many records are looked through for an attempt. It is
// among the last ones unless many one-offs ran beside it.
const recheckDepth = 64

// recorded returns the history record of r's attempt, nil when there is none.
func (w *Worker) recorded(ctx context.Context, r *run) (*Record, error) {
	id := r.baton.attempt(r.key()).ID
	occurrence := OccurrenceID(r.key(), r.baton.Nominal)
	var found *Record
	n := 0
	outcomes := []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted}
	err := w.store.Recent(ctx, r.key(), 0, outcomes, func(rec *Record) bool {
		n++
		switch {
		case !sameJob(rec.UID, r.baton.UID):
		case rec.Outcome == OutcomeFaulted:
			r.faulted = r.faulted || rec.Occurrence == occurrence
		case rec.ID == id:
			found = rec
		}
		return found == nil && n < recheckDepth
	})
	return found, err
}

// passed reports whether the slot's baton has gone on from r already.
func (w *Worker) passed(ctx context.Context, r *run) (bool, error) {
	_, err := w.store.Waiting(ctx, r.delivery.Slot)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return false, err
	}
	last, err := w.store.Running(ctx, r.delivery.Slot)
	if errors.Is(err, ErrNotFound) {
		return true, nil // removed: deleted, or acknowledged after all
	}
	return err == nil && last.Revision != r.delivery.Sequence, err
}
