package scheduler

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// detach lets an occurrence of a job with overlap allow run beside the next
// one: it rides its own one-off message, and the job's baton goes on at once.
// The one-off comes first; a crash in between is found by its subject.
func (w *Worker) detach(r *run, j *Job) {
	if !w.appendSkips(r) { // first: who finds the one-off takes them for recorded
		return
	}
	one := oneOff(r.baton)
	slot := Slot{Key: j.Key, OneOff: oneOffName(one.Nominal)}
	err := w.persist(r, func(ctx context.Context) error {
		return w.store.Fire(ctx, slot, one.Encode(), 0)
	})
	if err != nil && !errors.Is(err, ErrConflict) {
		w.giveBack(r)
		return
	}
	w.goOn(r, j)
}

// goOn passes the job's own baton on from an occurrence that rides a one-off.
func (w *Worker) goOn(r *run, j *Job) {
	b := r.baton.begin()
	b.Seen = b.Nominal
	b.ran(b.Nominal)
	n, ok := j.plan(b.Progress).Next(b.Nominal)
	w.settle(r, j, j.step(b.Progress, n, ok))
}

// oneOff is the baton that carries the occurrence of b beside the job's own.
// Its counters start at zero: they are added to the job's when it has ended.
func oneOff(b Baton) Baton {
	b.OneOff = true
	b.Progress = Progress{Number: b.Number, Runs: b.Runs, Ran: b.Ran, Prior: b.Prior}
	return b
}

// oneOffName is the last subject token of an occurrence's one-off message.
func oneOffName(nominal time.Time) string { return strconv.FormatInt(nominal.UnixNano(), 36) }

// mergePause is the time between looks for a job's baton that is on its way.
const mergePause = 200 * time.Millisecond

// merge adds the counts of a one-off that has ended to those of its job, by
// compare-and-set: on the waiting baton, or on the definition when there is
// none. It waits while the baton is in a worker's hands.
func (w *Worker) merge(r *run, b Baton, p Progress) {
	for w.actions.Err() == nil {
		err := w.persist(r, func(ctx context.Context) error { return w.mergeOnce(ctx, r.key(), b, p) })
		if err == nil || errors.Is(err, ErrNotFound) {
			w.ack(r)
			return
		}
		if !errors.Is(err, ErrConflict) {
			break
		}
		pause(w.actions, mergePause)
	}
	w.giveBack(r)
}

// mergeOnce returns ErrConflict when the baton is not where it can be changed.
func (w *Worker) mergeOnce(ctx context.Context, k Key, one Baton, p Progress) error {
	slot := Slot{Key: k}
	st, err := w.store.Waiting(ctx, slot)
	if err == nil {
		b, err := DecodeBaton(st.Data)
		if err != nil {
			return err
		}
		j, err := w.library.current(ctx, k, b.Revision)
		if err != nil {
			return err
		}
		if !one.serves(j) || !b.add(p, one.Nominal) {
			return nil // deleted, or done by the worker before
		}
		at := j.armAt(b.wake(), time.Now())
		if at.IsZero() {
			return w.store.Fire(ctx, slot, b.Encode(), st.Revision)
		}
		return w.store.Arm(ctx, slot, b.Encode(), at, st.Revision)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, err = w.store.Running(ctx, slot); err == nil {
		return ErrConflict
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	return w.mergeStored(ctx, k, one, p)
}

// mergeStored adds to the progress of a job without a baton. The job faulted
// when it was its last occurrence that did.
func (w *Worker) mergeStored(ctx context.Context, k Key, one Baton, p Progress) error {
	j, err := w.library.load(ctx, k)
	if err != nil || !one.serves(j) {
		return err
	}
	if j.State == Enabled {
		return ErrConflict // its baton is on the way
	}
	next := *j
	if !next.Progress.add(p, one.Nominal) {
		return nil
	}
	if p.Faults > 0 && j.State == Completed && one.Number == j.Progress.Number && !one.Manual {
		next.State = Faulted
	}
	data, err := next.Encode(w.secrets)
	if err != nil {
		return err
	}
	_, err = w.store.SaveJob(ctx, k, data, j.Revision, next.State.Final())
	return err
}

// mergedKept is how many one-offs are remembered as counted in: more than end
// within the seconds that a redelivery takes.
const mergedKept = 32

// add adds the counters of the one-off of an instant. False means that they
// had been added before.
func (p *Progress) add(q Progress, nominal time.Time) bool {
	id := nominal.UnixNano()
	if slices.Contains(p.Merged, id) {
		return false
	}
	p.Merged = append(slices.Clone(p.Merged[max(0, len(p.Merged)-mergedKept+1):]), id)
	p.Executions += q.Executions
	p.Failures += q.Failures
	p.Faults += q.Faults
	if q.Last.After(p.Last) {
		p.Last = q.Last
	}
	return true
}
