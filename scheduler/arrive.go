package scheduler

import (
	"context"
	"errors"
	"time"
)

// take receives a baton. It runs on the connection's goroutine and must not
// block: what needs to read goes on in a goroutine of its own.
func (w *Worker) take(ctx context.Context, d *Delivery) {
	b, err := DecodeBaton(d.Body)
	r := newRun(d, b)
	if !w.keep(r) {
		return
	}
	if d.Deliveries > 1 {
		w.cfg.OnTakeover()
	}
	switch {
	case err != nil:
		w.log.Error("unreadable baton removed; the audit restores the job", "job", r.key().String(), "err", err)
		w.ack(r)
	case ctx.Err() != nil:
		w.giveBack(r)
	case d.Deliveries > 1 || d.Fired.UnixNano() < w.suspect.Load():
		r.suspect = true
		w.step(func() { w.recheck(r) })
	case w.library.peek(r.key()) != nil:
		w.await(r)
	default:
		w.loader.add(r) // reads the definition while there is time; then await
	}
}

// expire is called when a held baton is due. It must not block.
func (w *Worker) expire(r *run) {
	if j := w.library.peek(r.key()); j != nil && j.Revision == r.baton.Revision && w.plain(j, r) {
		r.use(j)
		w.submit(r)
		return
	}
	w.step(func() { w.arrive(r) })
}

// plain reports whether r may run as it is: enabled, and with nothing to
// record, to pass on or to read.
func (w *Worker) plain(j *Job, r *run) bool {
	if j.State != Enabled || j.Def.Overlap != OverlapSkip || !r.baton.Gap.IsZero() || !w.rooms.open(j.Key.Collection) {
		return false
	}
	a := j.Arrive(r.baton, time.Now())
	return a.Run && len(a.skips) == 0
}

// arrive decides what a due baton amounts to.
func (w *Worker) arrive(r *run) {
	j, err := w.library.current(w.settles, r.key(), r.baton.Revision)
	if errors.Is(err, ErrNotFound) {
		w.ack(r) // deleted
		return
	}
	if err != nil {
		w.retryLater(r, err)
		return
	}
	b := &r.baton
	switch {
	case !b.serves(j):
		w.dropStray(r)
	case j.State != Enabled && !b.OneOff && (!b.Manual || j.State.Final()): // a disabled job may be run by hand
		w.endDisabled(r, j)
	case j.State == Disabled && b.OneOff && !b.Manual && !b.Begun(): // it stood behind others when the job was disabled
		w.dropOneOff(r)
	case b.Begun() || b.OneOff:
		r.use(w.library.at(w.settles, r.key(), b.Revision, j))
		w.submit(r)
	case b.Schedule != j.ScheduleGen && !b.Manual:
		w.beginAnew(r, j)
	default:
		w.admit(r, j)
	}
}

// admit passes the change of a clock that r came for, applies the catch-up and
// overlap policies, and lets r run if its collection is enabled.
func (w *Worker) admit(r *run, j *Job) {
	if !r.baton.Gap.IsZero() && w.leaveOut(r, j) {
		return
	}
	if !w.rooms.open(j.Key.Collection) && !r.baton.Manual {
		w.postpone(r, j)
		return
	}
	a := j.Arrive(r.baton, time.Now())
	later := a.Run && !a.Baton.Nominal.Equal(r.baton.Nominal)
	r.baton, r.skips = a.Baton, append(r.skips, a.skips...)
	if later && r.suspect && w.takeUp(r) {
		return // the later occurrence has been run before
	}
	r.baton.UID, r.baton.Revision = j.mark(), j.Revision
	if !a.Run {
		w.settle(r, j, a.Step)
		return
	}
	if wait := time.Until(r.baton.Due); wait > 0 { // a later occurrence, with its jitter to come
		w.settle(r, j, Step{Next: &r.baton, State: j.State, Progress: r.baton.Progress})
		return
	}
	if j.Def.Overlap == OverlapAllow && !r.baton.Manual {
		w.detach(r, j)
		return
	}
	r.use(j)
	w.submit(r)
}

// endDisabled ends a baton whose job was disabled or finished meanwhile.
func (w *Worker) endDisabled(r *run, j *Job) {
	b := r.baton
	if !b.Begun() && !b.Manual && !b.OneOff && j.State == Disabled && !b.next().After(time.Now()) {
		if b.Schedule == j.ScheduleGen {
			passed, skips := j.passGaps(b, time.Now())
			b, r.skips = passed, append(r.skips, skips...)
		}
		r.skips = append(r.skips, skip{from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonDisabled})
		b.Seen = b.Nominal
	}
	w.settle(r, j, Step{State: j.State, Progress: b.Progress})
}

// dropStray ends a baton of an earlier job of the name. To delete that job was
// to remove its message; when that was cut short, this one lies where the
// present job's baton ought to be, and the audit has to look.
func (w *Worker) dropStray(r *run) {
	gone, err := w.passed(w.settles, r)
	w.ack(r)
	if err != nil || !gone {
		w.cfg.OnTakeover()
	}
}

// dropOneOff ends a one-off of an occurrence that does not run any more.
func (w *Worker) dropOneOff(r *run) {
	r.skips = append(r.skips, skip{from: r.baton.Nominal, to: r.baton.Nominal, count: 1, reason: ReasonDisabled})
	if w.appendSkips(r) {
		w.merge(r, r.baton, r.baton.Progress)
	}
}

// postponedWait is how long a one-shot of a disabled collection waits before
// it looks again.
const postponedWait = time.Minute

// postpone records that the collection is disabled, and goes on to the next
// occurrence. A one-shot has none: it waits for the collection.
func (w *Worker) postpone(r *run, j *Job) {
	b := r.baton
	now := time.Now()
	s := Step{State: j.State, Progress: b.Progress}
	if j.oneShot() {
		again := b
		again.Waits = true
		s.Next = &again
	} else {
		last := j.lastDue(b, now)
		b.Seen = b.Nominal
		left := j.leftOut(b.Progress, last)
		b.Seen = last
		n, ok := j.plan(b.Progress).Next(b.Seen)
		s = j.step(b.Progress, n, ok)
		s.skips = append(left, s.skips...)
	}
	if !b.Waits {
		last := j.lastDue(b, now)
		due := skip{from: b.Nominal, to: last, count: max(1, j.plan(b.Progress).Count(b.Nominal, last))}
		rec := due.record(j.Key, b.UID, now, s.Progress)
		rec.Outcome = OutcomePostponed
		rec.Message = "collection " + j.Key.Collection + " is disabled"
		if !w.append(r, &rec) {
			return
		}
	}
	if j.oneShot() {
		w.passOn(r, s.Next, now.Add(postponedWait))
		return
	}
	w.settle(r, j, s)
}

// retryLater gives a baton back that could not be dealt with, after a moment.
func (w *Worker) retryLater(r *run, err error) {
	w.log.Warn("baton put back for a moment", "job", r.key().String(), "err", err)
	pause(w.actions, time.Second)
	w.giveBack(r)
}
