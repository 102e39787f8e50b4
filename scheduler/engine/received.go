package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
)

// take receives a baton. It runs on the connection's goroutine and must not block: reads happen in a separate
// goroutine.
func (w *Worker) take(ctx context.Context, lane int, d *scheduler.Delivery) {
	r := &run{delivery: *d, runState: &runState{}, lane: int32(lane)}
	err := r.baton.Decode(d.Body)
	if err == nil {
		err = r.baton.Check(d.BatonKey)
	}
	r.suspect = d.Deliveries > 1 || r.baton.Suspect || d.Fired.UnixNano() < w.suspect.Load()
	r.weighs(scheduler.HeldBytes(nil, r.suspect) + 2*len(r.baton.Events)) // in the message, and decoded
	if !w.buffer.KeepSized(r.place(), int(r.weight)) {
		d.Lease.Yield()
		return // the run in progress settles the message
	}
	if d.Deliveries > 1 {
		w.cfg.OnTakeover()
	}
	switch {
	case err != nil:
		w.trouble.damagedBaton.Add(1)
		w.log.Error("damaged baton removed; its job is re-armed", "job", r.key().String(), "detached", d.BatonKey.Detached != "",
			"err", err, "body", cutBody(d.Body))
		w.ack(r)
		w.cfg.OnTakeover()
	case ctx.Err() != nil:
		w.nak(r)
	case r.suspect:
		w.liveOn(received{r})
	case !w.held().Takes(&r.baton, w.cfg.Store.Now()):
		w.liveOn(crowded{r})
	default:
		w.live(received{r})
	}
}

// cutBody returns the part of a damaged baton that is logged.
func cutBody(body []byte) string { return string(body[:min(len(body), 1024)]) }

// receive checks whether a suspect run has run before, and loads its definition in advance.
func (w *Worker) receive(r *run) stage {
	if r.suspect && !r.baton.Keyed {
		if next, found := w.recover(r); found {
			return next
		}
	}
	if !w.know(r) {
		w.loader.add(r) // then held
		return nil
	}
	return held{r}
}

// recover continues from the history record of r's attempt. A recorded attempt does not run again: recover passes its
// baton on, unless that has already happened. A baton may also have been passed on without a record, for example while
// its occurrence runs detached: recover must not revert later changes of the job's baton. found is false if r has yet
// to be decided.
func (w *Worker) recover(r *run) (next stage, found bool) {
	// Before the history, which then has a record of each baton that followed r and ended.
	now, err := w.occupancyOf(r.delivery.BatonKey, r.baton.UID)
	if err != nil {
		return w.retryLater(r, err), true
	}
	search, err := w.search(r)
	if err != nil {
		return w.retryLater(r, err), true
	}
	r.faulted = search.Faulted
	if search.Found == nil {
		if now.followed(r) {
			return w.ack(r), true
		}
		if b, ran := search.Instead(); ran {
			r.baton = b
			return w.recover(r)
		}
		return w.recoverDetached(r)
	}
	r.skipped, r.attempt = nil, search.Found // skips are recorded before the attempt
	if now.passedOn(r) {
		return w.ack(r), true
	}
	r.baton = search.Baton()
	j, err := w.jobOf(r)
	if err != nil {
		return w.retryLater(r, err), true // the record shows the progress
	}
	return w.carry(r, j, scheduler.Recover(w.definition(&r.baton, j), j, search, w.cfg.Store.Now())), true
}

// attemptSearch is a search for the record of a run's attempt.
type attemptSearch struct {
	baton  scheduler.Baton
	result atomic.Pointer[scheduler.AttemptSearch]
}

// search searches the history for the record of r's attempt. Runs of a job search together, because very many may be
// delivered again at the same time.
func (w *Worker) search(r *run) (*scheduler.AttemptSearch, error) {
	own := &attemptSearch{baton: r.baton}
	err := w.searches.Do(w.settles, r.key(), own, func(ctx context.Context, all []*attemptSearch, _ func()) error {
		searches := make([]*scheduler.AttemptSearch, len(all))
		for i, one := range all {
			searches[i] = scheduler.NewAttemptSearch(r.key(), one.baton)
		}
		open := slices.Clone(searches)
		err := w.cfg.Store.Newest(ctx, r.key(), scheduler.SearchedOutcomes, func(rec *scheduler.Record) bool {
			open = slices.DeleteFunc(open, func(s *scheduler.AttemptSearch) bool { return !s.Visit(rec) })
			return len(open) > 0
		})
		for i, one := range all {
			if err == nil {
				one.result.Store(searches[i])
			}
		}
		return err
	})
	return own.result.Load(), err
}

// recoverDetached passes on the job's own baton if the previous worker has started its occurrence detached. That
// occurrence is still running without a record, or was skipped because the job was disabled.
func (w *Worker) recoverDetached(r *run) (next stage, found bool) {
	if r.baton.Kind != scheduler.Planned {
		return nil, false
	}
	j, err := w.jobOf(r)
	if err != nil {
		return w.retryLater(r, err), true
	}
	if ran := w.definition(&r.baton, j); ran == nil || ran.Def.Overlap != scheduler.OverlapAllow {
		return nil, false
	}
	now, err := w.occupancyOf(scheduler.BatonKey{Key: r.key(), Detached: scheduler.DetachedName(r.baton.Nominal)}, r.baton.UID)
	found = now != occupancy{}
	if err == nil && !found && j.State == scheduler.Disabled {
		found, err = w.skipRecorded(r, func(rec *scheduler.Record) bool { return rec.SkipsDisabled(r.baton) })
	}
	switch {
	case err != nil:
		return w.retryLater(r, err), true
	case !found:
		return nil, false
	}
	at := w.cfg.Store.Now()
	return w.carry(r, j, scheduler.RecoverDetached(j, r.baton, at, at)), true
}

// skipRecorded reports whether skips matches one of the last skipped records of r's job.
func (w *Worker) skipRecorded(r *run, skips func(*scheduler.Record) bool) (found bool, err error) {
	looked := 0
	err = w.cfg.Store.Newest(w.settles, r.key(), []scheduler.Outcome{scheduler.OutcomeSkipped}, func(rec *scheduler.Record) bool {
		looked++
		found = skips(rec)
		return !found && (looked < scheduler.HistoryDepth || rec.Stored.After(r.baton.Due))
	})
	return found, err
}

// occupancy holds the sequences of a slot's batons, 0 for none.
type occupancy struct{ waiting, running uint64 }

// occupancyOf returns the occupancy of a slot of a job's incarnation. It asks for the waiting baton first, because that
// one may be fired in between.
func (w *Worker) occupancyOf(slot scheduler.BatonKey, incarnation string) (now occupancy, err error) {
	for _, one := range []struct {
		ask func(context.Context, scheduler.BatonKey) (scheduler.Stored, error)
		is  *uint64
	}{{w.cfg.Store.Waiting, &now.waiting}, {w.cfg.Store.Running, &now.running}} {
		st, err := one.ask(w.settles, slot)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return now, err
		}
		if err == nil && (one.is == &now.running || st.IsOf(incarnation)) { // an edit that raced a delete may have armed another job's
			*one.is = st.Revision
		}
	}
	return now, nil
}

// followed reports whether the slot has a baton that was stored after r. An empty slot proves nothing here: a lagging
// replica may not have stored r yet.
func (o occupancy) followed(r *run) bool {
	return max(o.waiting, o.running) > r.delivery.Sequence
}

// passedOn reports whether the slot's baton has moved on from r, which is recorded. If none is running, r was deleted
// or acknowledged.
func (o occupancy) passedOn(r *run) bool {
	return o.waiting != 0 || o.running != r.delivery.Sequence
}
