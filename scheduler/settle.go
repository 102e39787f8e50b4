package scheduler

import (
	"context"
	"errors"
	"time"
)

// finish records an attempt and plans what follows.
func (w *Worker) finish(r *run, started time.Time, res Result) {
	b := r.baton.begin()
	b.Progress = b.tally(started, res)
	rec := attemptRecord(r.key(), &b, started, res, b.Progress)
	rec.Type, rec.Target = r.spec.Type, r.target
	if !w.appendSkips(r) || !w.append(r, &rec) {
		return
	}
	w.proceed(r, b, res, rec.Ended)
}

// proceed plans what follows a recorded attempt of b, and does it.
func (w *Worker) proceed(r *run, b Baton, res Result, ended time.Time) {
	j, err := w.library.current(w.settles, r.key(), b.Revision)
	if errors.Is(err, ErrNotFound) {
		w.ack(r)
		return
	}
	if err != nil {
		w.retryLater(r, err) // the record says how far it got
		return
	}
	if !b.serves(j) || r.job != nil && r.job.UID != j.UID {
		w.dropStray(r) // it was deleted, and its name used again
		return
	}
	if j.State.Final() && !b.OneOff {
		w.ack(r) // its end is written
		return
	}
	if r.job == nil {
		r.use(w.library.at(w.settles, r.key(), b.Revision, j))
	}
	s := j.After(r.job, b, res, ended)
	if s.Faulted && !r.faulted {
		rec := faultedRecord(r.key(), &b, res, ended, s.Progress)
		if !w.append(r, &rec) {
			return
		}
	}
	switch {
	case b.OneOff && s.Next == nil:
		w.merge(r, b, s.Progress)
	case j.State == Disabled && !b.OneOff && (s.Next == nil || !s.Next.Manual):
		s.Next, s.State = nil, Disabled
		w.settle(r, j, s)
	default:
		w.settle(r, j, s)
	}
}

// faultedRecord is the record of an occurrence that failed for good.
func faultedRecord(k Key, b *Baton, res Result, ended time.Time, p Progress) Record {
	message := res.Message
	if b.Failed != nil {
		message = b.Failed.Message
	}
	return Record{
		Job: k, Occurrence: OccurrenceID(k, b.Nominal), Outcome: OutcomeFaulted, Nominal: b.Nominal, Due: b.Due,
		Ended: ended, Attempt: b.Attempt, Try: b.Try + 1, Phase: b.Phase, Manual: b.Manual, OneOff: b.OneOff,
		Message: message, UID: b.UID, Revision: b.Revision, Schedule: b.Schedule, Progress: p,
	}
}

// settle carries out a step: it records what was skipped, passes the baton on
// or writes down how the job ended, and acknowledges the message.
func (w *Worker) settle(r *run, j *Job, s Step) {
	r.skips = append(r.skips, s.skips...)
	if !w.appendSkips(r) {
		return
	}
	if s.Next == nil {
		w.end(r, j, s)
		return
	}
	w.passOn(r, s.Next, j.armAt(s.Next.wake(), time.Now()))
}

// passOn publishes the next baton and acknowledges this one. Whoever finds
// that the job's baton is elsewhere already has nothing left to do.
func (w *Worker) passOn(r *run, next *Baton, at time.Time) {
	body := next.Encode()
	err := w.persist(r, func(ctx context.Context) error {
		return w.store.PassOn(ctx, r.delivery.Slot, body, at, r.delivery.Sequence)
	})
	if err != nil && !errors.Is(err, ErrConflict) {
		w.giveBack(r)
		return
	}
	w.ack(r)
}

// end writes the state and progress of a job that has no baton any more. j is
// the definition as it was last seen. A final state follows from the history
// and is written behind; what a disabled job has done so far does not.
func (w *Worker) end(r *run, j *Job, s Step) {
	if s.State.Final() {
		if w.targets.backlog() {
			w.library.forget(r.key()) // others need the place before the ending is written
		}
		w.endings.add(ending{key: r.key(), uid: j.UID, schedule: r.baton.Schedule, step: s}, func() { w.ack(r) })
		return
	}
	err := w.persist(r, func(ctx context.Context) error {
		return w.saveEnd(ctx, ending{key: r.key(), uid: j.UID, schedule: r.baton.Schedule, step: s}, j)
	})
	w.library.forget(r.key())
	if err != nil && !errors.Is(err, ErrNotFound) {
		w.giveBack(r) // it comes again, and is planned by what is stored then
		return
	}
	w.ack(r)
}

// writeEnd saves a job's last state over the revision of j. An edit that gave
// the job a new schedule meanwhile wins, and so does one that enabled it:
// errOvertaken.
func (w *Worker) writeEnd(ctx context.Context, j *Job, x ending) error {
	s := x.step
	switch {
	case j.UID != x.uid, j.State.Final():
		return nil // another job of the name, or written already
	case s.State.Final() && j.ScheduleGen != x.schedule, !s.State.Final() && j.State == Enabled:
		return errOvertaken // the edit has armed it, or left that to the worker that had its baton
	}
	next := *j
	next.Progress = s.Progress
	if j.ScheduleGen != x.schedule {
		next.Progress = s.Progress.afresh() // what ran of the schedule before counts no more
	}
	if s.State.Final() && j.State == Enabled {
		next.State = s.State
	}
	data, err := next.Encode(w.secrets)
	if err != nil {
		return err
	}
	_, err = w.store.SaveJob(ctx, j.Key, data, j.Revision, next.State.Final())
	return err
}

// appendSkips records what r skipped.
func (w *Worker) appendSkips(r *run) bool {
	if r.suspect {
		skips, err := untold(w.settles, w.store, r.key(), r.baton.UID, r.skips)
		if err != nil {
			w.retryLater(r, err)
			return false
		}
		r.skips = skips
	}
	for _, s := range r.skips {
		rec := s.record(r.key(), r.baton.UID, time.Now(), r.baton.Progress)
		if !w.append(r, &rec) {
			return false
		}
	}
	r.skips = nil
	return true
}

// append stores a record. False means that it could not be, and that r has
// been given back.
func (w *Worker) append(r *run, rec *Record) bool {
	again := false
	err := w.persist(r, func(ctx context.Context) error {
		if again { // only the answer to the first try may have been lost
			if there, err := w.appended(ctx, rec); there || err != nil {
				return err
			}
		}
		again = true
		return w.store.Append(ctx, rec)
	})
	if err != nil {
		w.giveBack(r)
		return false
	}
	w.cfg.OnRecord(rec)
	return true
}

// appended reports whether a record is among its job's last ones.
func (w *Worker) appended(ctx context.Context, rec *Record) (there bool, err error) {
	n := 0
	err = w.store.Recent(ctx, rec.Job, 0, []Outcome{rec.Outcome}, func(other *Record) bool {
		n++
		there = other.ID == rec.ID && other.Occurrence == rec.Occurrence &&
			other.Nominal.Equal(rec.Nominal) && other.Ended.Equal(rec.Ended)
		return !there && n < recheckDepth
	})
	return there, err
}

// The pauses between tries of a write that the store did not take.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// persist repeats a write until the store takes or refuses it. The baton stays
// with this worker meanwhile; a stop ends the wait.
func (w *Worker) persist(r *run, write func(context.Context) error) error {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		err := write(w.settles)
		if err == nil || !errors.Is(err, ErrUnavailable) {
			return err
		}
		w.log.Warn("the store did not take a write; trying again", "job", r.key().String(), "wait", wait, "err", err)
		pause(w.actions, wait)
		if w.actions.Err() != nil {
			return err
		}
	}
}
