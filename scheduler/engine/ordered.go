package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// ordered is a run of a key that enters, leaves or reads the ledger of its key.
type ordered struct {
	job   *scheduler.Job // current
	key   string
	run   time.Time // its nominal time
	does  ledgerUse
	doubt bool          // an earlier process may have done so
	late  time.Duration // enters: so long after it was due

	ledger scheduler.Ledger // the result
}

// ledgerUse is the use that a run makes of a ledger.
type ledgerUse uint8

const (
	enters ledgerUse = iota
	leaves
	reads // starts, if the ledger has let it start meanwhile
)

func (w *Worker) order(k scheduler.Key, o *ordered) error {
	slot := scheduler.BatonKey{Key: k, Detached: scheduler.LedgerSlot(o.key)}
	return w.ledgers.Do(w.settles, slot, o, func(ctx context.Context, batch []*ordered, alive func()) error {
		tried := false
		for {
			err := w.persist(ctx, k, func(ctx context.Context) error {
				alive()
				again := tried
				tried = true
				return w.orderOnce(ctx, slot, batch, again)
			})
			if !errors.Is(err, scheduler.ErrConflict) || !flow.Pause(ctx, contested) {
				return err
			}
		}
	})
}

// orderOnce applies a batch to the ledger in a slot. It returns ErrConflict if the ledger has changed meanwhile.
func (w *Worker) orderOnce(ctx context.Context, slot scheduler.BatonKey, batch []*ordered, again bool) error {
	store, j, now := w.cfg.Store, batch[0].job, w.cfg.Store.Now()
	st, err := store.Waiting(ctx, slot)
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return err
	}
	ledger := j.OpenLedger(st.Data, now)
	old, uses := ledger, [3][]time.Time{}
	doubt, late := again, time.Duration(0) // an answer may be lost
	for _, o := range batch {
		uses[o.does], doubt = append(uses[o.does], o.run), doubt || o.doubt
		late = max(late, o.late)
		if o.does == leaves && !doubt && !ledger.Has(o.run) {
			return scheduler.ErrConflict // a lagging replica, or a later event has canceled it
		}
	}
	lost, err := w.lostRuns(ctx, slot.Key, ledger.Check(now))
	if err != nil {
		return err
	}
	next, started, canceled := ledger.Apply(j.Def.Trigger, uses[enters], append(lost, uses[leaves]...), now, late)
	if err := w.cancelRuns(ctx, j, without(canceled, uses[enters])); err != nil {
		return err
	}
	b := j.LedgerBaton(batch[0].key, next, now)
	switch {
	case next.Equal(old):
	case !next.IsEmpty():
		err = store.ScheduleAt(ctx, slot, b.Encode(), b.Due, st.Revision)
	case st.Revision != 0:
		err = store.Cancel(ctx, slot, st.Revision)
	}
	if err != nil {
		return err
	}
	for _, o := range batch {
		o.ledger = next
	}
	if doubt {
		started = next.Running
	}
	for _, run := range uses[reads] {
		if next.Runs(run) {
			started = append(started, run)
		}
	}
	return w.startQueued(ctx, slot.Key, without(started, uses[enters]))
}

func without(runs, others []time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(runs), func(run time.Time) bool { return slices.ContainsFunc(others, run.Equal) })
}

// found is the baton of a run.
type found struct {
	scheduler.Stored

	slot    scheduler.BatonKey
	baton   scheduler.Baton
	running bool
}

func (w *Worker) findRuns(ctx context.Context, k scheduler.Key, runs []time.Time) (all []found, err error) {
	for some := range slices.Chunk(runs, runsAtOnce) {
		slots := make([]scheduler.BatonKey, len(some))
		for i, run := range some {
			slots[i] = scheduler.BatonKey{Key: k, Detached: scheduler.DetachedName(run)}
		}
		err := w.cfg.Store.FindSlots(ctx, slots, func(slot scheduler.BatonKey, st scheduler.Stored, running bool) {
			if b, err := scheduler.DecodeBaton(st.Data); err == nil {
				all = append(all, found{st, slot, b, running})
			}
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// runsAtOnce is the maximum number of runs per request to the store.
const runsAtOnce = 256

// lostRuns returns the runs that have no baton.
func (w *Worker) lostRuns(ctx context.Context, k scheduler.Key, runs []time.Time) ([]time.Time, error) {
	stored, err := w.findRuns(ctx, k, runs)
	return slices.DeleteFunc(runs, func(run time.Time) bool {
		return slices.ContainsFunc(stored, func(f found) bool { return f.baton.Nominal.Equal(run) })
	}), err
}

// startQueued fires the batons of runs that have waited in their slots.
func (w *Worker) startQueued(ctx context.Context, k scheduler.Key, runs []time.Time) error {
	stored, err := w.findRuns(ctx, k, runs)
	for _, f := range stored {
		if err == nil && !f.running && f.baton.Queued && !f.MayFire(w.cfg.Store.Now()) {
			err = w.steps.Hasten(ctx, f.slot, f.baton, f.Revision)
		}
	}
	return err
}

// cancelRuns cancels runs of j for a later event.
func (w *Worker) cancelRuns(ctx context.Context, j *scheduler.Job, runs []time.Time) error {
	stored, err := w.findRuns(ctx, j.Key, runs)
	if err != nil || len(stored) == 0 {
		return err
	}
	if j, err = w.jobs.Load(ctx, j.Key); err != nil {
		return err
	}
	batons := make([]scheduler.Baton, len(stored))
	for i, f := range stored {
		batons[i] = f.baton
	}
	if next := j.CancelsOverlap(batons, w.cfg.Store.Now()); next != nil {
		err = w.steps.Save(ctx, next)
	}
	for _, f := range stored {
		if err == nil && !f.running {
			err = w.steps.Hasten(ctx, f.slot, f.baton, f.Revision)
		}
	}
	return err
}

// enter lets r, which is due, enter the ledger of its key. j is its current job, and ran its definition.
func (w *Worker) enter(r *run, j, ran *scheduler.Job, d scheduler.Decision) stage {
	if r.suspect {
		skipped, err := w.skipRecorded(r, func(rec *scheduler.Record) bool { return rec.Skips(&d.Baton) })
		switch {
		case err != nil:
			return w.retryLater(r, err)
		case skipped:
			return w.ack(r)
		}
	}
	o := &ordered{
		job: j, key: d.Baton.Cause.Key, run: d.Baton.Nominal, does: enters, doubt: r.suspect,
		late: w.cfg.Store.Now().Sub(d.Baton.MayRun()),
	}
	err := w.order(r.key(), o)
	now := w.cfg.Store.Now()
	pause, settles, waits := o.ledger.Waits(o.run, now)
	switch {
	case err != nil:
		return w.retryLater(r, err)
	case settles:
		if r.wake = now.Add(pause); !w.timers.add(r) {
			return w.nak(r)
		}
		return nil // then admitted again
	case o.ledger.Runs(o.run):
		if d.Baton.Queued {
			d.Baton.Queued, d.Baton.Due = false, now.UTC()
		}
		r.latest = j
		return w.submit(r, ran, d)
	case !waits:
		record := j.UnadmittedRecord(&o.ledger, &d.Baton, now)
		if err := w.steps.Record(w.settles, j, []scheduler.Record{record}, r.suspect); err != nil {
			return w.nak(r)
		}
		return w.ack(r)
	}
	next := d.Baton
	next.Queued, next.Suspect = true, false
	d.Verdict, d.Step = scheduler.Wait, scheduler.Step{Next: &next, At: now.Add(pause), State: j.State, Progress: next.Progress}
	return w.carry(r, j, d)
}

// leave lets r, whose next step is known, leave the ledger of its key at its end. If r waits, it starts r, if the ledger
// has let it start meanwhile.
func (w *Worker) leave(r *run, does ledgerUse) error {
	ran, queued := cmp.Or(r.job, r.current), r.baton.Kind == scheduler.Triggered && r.baton.Queued
	if ran == nil || !queued && !ran.Orders(&r.baton) {
		return nil
	}
	return w.order(r.key(), &ordered{
		job: r.current, key: r.baton.Cause.Key, run: r.baton.Nominal, does: does, doubt: does == leaves && (r.suspect || r.doubtful),
	})
}
