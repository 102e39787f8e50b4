package engine

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
)

// due is called when a held baton is due. It must not block.
func (w *Worker) due(r *run) {
	if r.isPacked() {
		w.dueAndPacked(r)
		return
	}
	j, known := r.known, r.known != nil && w.jobs.Unchanged(r.key(), r.since)
	if r.known = nil; !known {
		r.since = w.jobs.Changes(r.key())
		j, known = w.jobs.Peek(r.key())
	}
	baton, collections := &r.baton, w.cfg.Collections
	if !known || j.Revision != baton.Revision || baton.Edit > j.Revision || baton.Keyed || !collections.Has(baton, r.key().Collection) {
		w.liveOn(admitted{r})
		return
	}
	r.current = j
	w.live(admitted{r})
}

// admit lets package scheduler decide about a due baton. If r.current is set, the timers call it: it continues only if
// nothing must be read or written, and otherwise in a separate goroutine, because the timers must not wait.
func (w *Worker) admit(r *run) stage {
	if w.cfg.Collections.IsDeleting(r.key().Collection) {
		return w.nakFor(r, deletionPause)
	}
	j, atOnce := r.current, r.current != nil
	r.current, r.latest = nil, nil
	if !atOnce {
		var err error
		r.since = w.jobs.Changes(r.key())
		if j, err = w.jobOf(r); err != nil {
			return w.retryLater(r, err)
		}
	}
	d := scheduler.Decide(j, w.cfg.Collections.Open(r.key().Collection), r.baton, w.cfg.Store.Now())
	if atOnce && (d.Verdict != scheduler.Run || d.Later || len(d.Records) > 0 || j.Orders(&d.Baton)) {
		w.liveOn(admitted{r})
		return nil
	}
	if d.Verdict == scheduler.Restart {
		var err error
		if d, err = w.restart(r, j); err != nil {
			return w.retryLater(r, err)
		}
	}
	if d.Later && r.suspect {
		r.baton = d.Baton
		if next, found := w.recover(r); found {
			return next // the later occurrence has already run
		}
	}
	if d.Verdict == scheduler.Ask {
		var err error
		if d, err = w.ask(j, d, r.suspect); err != nil {
			return w.retryLater(r, err)
		}
	}
	if r.suspect {
		d.Step = d.Step.Doubted(r.key(), r.baton)
	}
	if r.faulted {
		d.Step = d.Step.WithoutFaulted()
	}
	return w.decided(r, j, d)
}

// decided executes the decision about a due baton. j is its current job.
func (w *Worker) decided(r *run, j *scheduler.Job, d scheduler.Decision) stage {
	switch d.Verdict { //nolint:exhaustive // the other verdicts do not run it
	case scheduler.Run:
		if r.baton.Keyed {
			return w.unkey(r)
		}
		ran := w.definition(&d.Baton, j)
		if ran.Orders(&d.Baton) && !d.Baton.Begun() {
			return w.enter(r, j, ran, d)
		}
		r.latest = j
		return w.submit(r, ran, d)
	case scheduler.Detach:
		return w.detach(r, j, d)
	}
	return w.carry(r, j, d)
}

// ask lets the history decide about an occurrence of j, which has a condition. doubtful: it may have run.
func (w *Worker) ask(j *scheduler.Job, d scheduler.Decision, doubtful bool) (scheduler.Decision, error) {
	of := j.Def.Asks(j.Key)[0]
	now, last := w.cfg.Store.Now(), (*scheduler.Record)(nil)
	oldest := j.AsksSince(&d.Baton, doubtful, now)
	err := w.cfg.Store.Newest(w.settles, of.Job, of.Outcomes, func(r *scheduler.Record) bool {
		if r.IsEnd() {
			last = r
		}
		return last == nil && r.Stored.After(oldest)
	})
	return j.Answer(d, last, oldest, now), err
}

// wake lets the baton of j, if it waits for its condition, check it now instead of later, because e may meet it.
func (w *Worker) wake(ctx context.Context, j *scheduler.Job, e *scheduler.Event) error {
	if !j.Awaits(e) {
		return nil
	}
	slot := scheduler.BatonKey{Key: j.Key}
	st, b, err := w.steps.Waiting(ctx, slot)
	if b != nil && b.Unmet && !st.MayFire(w.cfg.Store.Now()) {
		return w.steps.Hasten(ctx, slot, *b, st.Revision)
	}
	return err
}

// deletionPause is how long a baton waits while its collection is being deleted. The deletion removes it.
const deletionPause = 5 * time.Second

// submit queues r for a slot of its target. During shutdown it releases r instead. ran is the definition for the
// attempt.
func (w *Worker) submit(r *run, ran *scheduler.Job, d scheduler.Decision) stage {
	r.baton = d.Baton
	r.skipped = append(r.skipped, d.Records...)
	r.use(ran)
	r.DeferredSince, r.Priority = r.baton.DeferredSince, ran.PriorityOf(&r.baton)
	return w.queue(r)
}

// queue queues r for a slot of its target, which is set.
func (w *Worker) queue(r *run) stage {
	r.Key, r.Rule = r.key(), w.cfg.Collections.Rule(r.key().Collection, r.Target)
	if !w.limiter.Submit(r) {
		return w.nak(r)
	}
	return nil // then attempted or deferred
}

// detach runs an occurrence of a job with overlap allow concurrently with the next one: the occurrence gets a separate
// message, and the job's baton continues immediately. The separate message is stored first, so a crash in between is
// detected by its subject.
func (w *Worker) detach(r *run, j *scheduler.Job, d scheduler.Decision) stage {
	// A worker that finds the detached run assumes that the earlier skips are recorded.
	if err := w.steps.Record(w.settles, j, d.Records, r.suspect); err != nil {
		return w.nak(r)
	}
	if err := w.separate(r, d.Baton.Detached()); err != nil {
		return w.nak(r)
	}
	r.baton = d.Baton
	return w.carry(r, j, d)
}

// separate stores b, the run of r, on its separate message, unless that is stored.
func (w *Worker) separate(r *run, b scheduler.Baton) error {
	b.Suspect = r.suspect // it may have been fired before, and its first attempt may have ended
	slot := scheduler.BatonKey{Key: r.key(), Detached: scheduler.DetachedName(b.Nominal)}
	err := w.persist(w.settles, r.key(), func(ctx context.Context) error {
		w.moves <- struct{}{} // for each try, as in [matcher.persist]
		defer func() { <-w.moves }()
		err := w.cfg.Store.Fire(ctx, slot, b.Encode(), 0)
		b.Suspect = true // the response may be lost, and the first attempt may end before this is repeated
		return err
	})
	return scheduler.Ignore(err, scheduler.ErrConflict)
}

// patience is how long a run may wait for its slot before the worker checks its eligibility again.
const patience = time.Second

// eligibility checks again whether a run is eligible after a long wait for its slot. Otherwise the decision at its due
// time holds: as for a running attempt, an edit applies to the next occurrence.
func (w *Worker) eligibility(r *run) scheduler.Eligibility {
	open := w.cfg.Collections.Open(r.key().Collection)
	if w.cfg.Collections.IsDeleting(r.key().Collection) {
		return scheduler.Closed
	}
	if w.jobs.Unchanged(r.key(), r.since) { // only its collection may have changed
		if open || !r.baton.NeedsOpen() {
			return scheduler.Eligible
		}
		return scheduler.Closed
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.job.Revision)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return scheduler.Gone
	case err != nil:
		return scheduler.Eligible
	case j.UID != r.job.UID:
		return scheduler.Foreign
	}
	return r.baton.EligibilityOf(j, open)
}

// sendBack makes a run wait for its target outside the process.
func (w *Worker) sendBack(r *run, d limits.Deferral) stage {
	if r.isPacked() && !w.open(r) {
		return admitted{r}
	}
	now := w.cfg.Store.Now()
	if !w.jobs.Unchanged(r.key(), r.since) {
		switch w.eligibility(r) { //nolint:exhaustive // the other results do not prevent it
		case scheduler.Gone:
			return w.astray(r)
		case scheduler.Foreign:
			return w.dropOrphan(r)
		}
		if w.canceled(r) {
			return admitted{r}
		}
	}
	r.current, r.step = r.job, r.job.Defer(r.baton, d.For(&r.Call, now), now)
	return passed{r}
}
