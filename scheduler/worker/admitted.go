package worker

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// due is called when a held baton is due. It must not block.
func (w *Worker) due(r *run) {
	if r.packed != nil {
		w.dueAndPacked(r)
		return
	}
	j, known := r.known, r.known != nil && w.jobs.Unchanged(r.key(), r.since)
	if r.known = nil; !known {
		r.since = w.jobs.Changes(r.key())
		j, known = w.jobs.Peek(r.key())
	}
	if !known || j.Revision != r.baton.Revision {
		w.liveOn(admitted{r})
		return
	}
	r.current = j
	w.live(admitted{r})
}

// admit has package scheduler decide what a due baton amounts to. What was known
// when it fell due goes on at once, unless something is to be read or written.
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
	if atOnce && (d.Verdict != scheduler.Run || d.Later || len(d.Records) > 0) {
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
			return next // the later occurrence has been run before
		}
	}
	if r.suspect {
		d.Step = d.Step.Doubted(r.key(), r.baton)
	}
	switch d.Verdict { //nolint:exhaustive // the others do not let it run
	case scheduler.Run:
		r.latest = j
		return w.submit(r, w.definition(&d.Baton, j), d)
	case scheduler.Detach:
		return w.detach(r, j, d)
	}
	return w.carry(r, j, d)
}

// deletionPause is how long a baton waits whose collection is being deleted. The deletion removes it.
const deletionPause = 5 * time.Second

// submit queues r for a slot of its target; a worker that stops gives it back.
// ran is the definition that it runs under.
func (w *Worker) submit(r *run, ran *scheduler.Job, d scheduler.Decision) stage {
	r.baton = d.Baton
	r.skipped = append(r.skipped, d.Records...)
	r.use(ran)
	r.DeferredSince = r.baton.DeferredSince
	return w.queue(r)
}

// queue queues r for a slot of its target, which is known.
func (w *Worker) queue(r *run) stage {
	r.Key, r.Rule = r.key(), w.cfg.Collections.Rule(r.key().Collection, r.Target)
	if !w.limiter.Submit(r) {
		return w.nak(r)
	}
	return nil // then attempted, or deferred
}

// detach lets an occurrence of a job with overlap allow run beside the next
// one: it rides a message of its own, and the job's baton goes on at once. That
// message comes first; a crash in between is found by its subject.
func (w *Worker) detach(r *run, j *scheduler.Job, d scheduler.Decision) stage {
	// Who finds the detached run takes what was skipped before it for recorded.
	if err := w.steps.Record(w.settles, j, d.Records, r.suspect); err != nil {
		return w.nak(r)
	}
	detached := d.Baton.Detached()
	detached.Suspect = r.suspect // it may have been fired before, and be past its first attempt
	slot := scheduler.Slot{Key: j.Key, Detached: scheduler.DetachedName(detached.Nominal)}
	err := w.persist(w.settles, j.Key, func(ctx context.Context) error {
		err := w.cfg.Store.Fire(ctx, slot, detached.Encode(), 0)
		detached.Suspect = true // the answer may have been lost, and the run be past its first attempt when this is repeated
		return err
	})
	if err != nil && !errors.Is(err, scheduler.ErrConflict) {
		return w.nak(r)
	}
	r.baton = d.Baton
	return w.carry(r, j, d)
}

// patience is how long a run may have waited for its slot without a second look
// at whether it is still to run.
const patience = time.Second

// standing looks again whether a run may go on whose turn came late. What was
// decided when it became due holds otherwise: an edit counts from the next
// occurrence on, as for one that runs.
func (w *Worker) standing(r *run) scheduler.Standing {
	open := w.cfg.Collections.Open(r.key().Collection)
	if w.cfg.Collections.IsDeleting(r.key().Collection) {
		return scheduler.Closed
	}
	if w.jobs.Unchanged(r.key(), r.since) { // only its collection may have been
		if open || !r.baton.NeedsOpen() {
			return scheduler.GoesOn
		}
		return scheduler.Closed
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.job.Revision)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return scheduler.Gone
	case err != nil:
		return scheduler.GoesOn
	case j.UID != r.job.UID:
		return scheduler.Foreign
	}
	return r.baton.StandingOf(j, open)
}
