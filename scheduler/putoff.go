package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// deferral is a run that goes back to waiting, outside the process, because of
// its target.
type deferral struct {
	run   *run
	until time.Time
	why   delay
	rule  *TargetRule // that delays it; nil when the target is only slow
}

// delay is why a run is put off.
type delay uint8

const (
	delaySlow    delay = iota // the target is slow, and others need the place
	delayPace                 // its turn comes later, by a rate or a number of attempts at once
	delayCircuit              // the target's circuit is open
)

// putOff lets a run wait for its target outside the process. It must not
// block. That a rule delays it is recorded the first time.
func (w *Worker) putOff(d deferral) { w.step(func() { w.putOffNow(d) }) }

func (w *Worker) putOffNow(d deferral) {
	r, now := d.run, time.Now()
	if !w.library.unchanged(r.key(), r.changes) {
		if j, err := w.library.current(w.settles, r.key(), r.job.Revision); r.orphaned(j, err) {
			w.dropStray(r)
			return
		}
	}
	if !w.appendSkips(r) {
		return
	}
	b := r.baton
	b.Held = d.until
	if d.why == delayCircuit {
		if b.Postponed.IsZero() {
			b.Postponed = now
		}
		b.Held = d.retryAt(&b, now)
	}
	if d.why != delaySlow && !b.Told {
		b.Told = true
		rec := postponedRecord(r.key(), &b, now)
		rec.Type, rec.Target, rec.Message = r.spec.Type, r.target, d.message(r, b.Held)
		if !w.append(r, &rec) {
			return
		}
	}
	at := b.Held
	if d.why == delayPace {
		at = at.Add(-lead) // a worker holds it until its turn
	}
	w.passOn(r, &b, at)
}

// retryAt is when an attempt tries again whether the circuit is closed: at a
// moment of its own after it may be, so that not all come at once, and not
// always the same one first; but no later than the rule allows.
func (d deferral) retryAt(b *Baton, now time.Time) time.Time {
	spread := min(d.rule.Breaker.OpenFor/4, 5*time.Second)
	share := (uint64(d.run.key().hash())*0x9E3779B97F4A7C15 + uint64(now.UnixNano())) % uint64(spread)
	at := d.until.Add(time.Duration(share))
	if last := b.Postponed.Add(d.rule.Breaker.Most); at.After(last) {
		at = last
	}
	if at.Before(now) {
		return now
	}
	return at
}

// message says why an attempt is put off.
func (d deferral) message(r *run, until time.Time) string {
	at := until.UTC().Format(time.RFC3339)
	switch {
	case d.why == delayCircuit:
		return fmt.Sprintf("the circuit of %s is open after failures in a row; this is tried again at %s", r.target, at)
	case d.rule.Rate > 0:
		return fmt.Sprintf("collection %s limits attempts to %s to %d in %s; the turn of this one comes about %s",
			r.key().Collection, r.target, d.rule.Rate, document.Duration{Exact: d.rule.Per}, at)
	}
	return fmt.Sprintf("collection %s limits attempts to %s to %d at once; this one is tried again at %s",
		r.key().Collection, r.target, d.rule.Concurrency, at)
}

// staleAfter is how long a run may have waited for its slot without a second
// look at whether it is still to run.
const staleAfter = time.Second

// verdict is what becomes of a run whose turn has come late.
type verdict uint8

const (
	runs   verdict = iota // as was decided when it became due
	again                 // decide again: the job or its collection was disabled
	nobody                // its job is not there any more
)

// orphaned reports whether the job of r is not there any more, by what reading
// its name has given.
func (r *run) orphaned(j *Job, err error) bool {
	return errors.Is(err, ErrNotFound) || err == nil && j.UID != r.job.UID
}

// stands reports whether what was decided when r became due still holds when
// its turn comes: it may have been long. An edit counts from the next
// occurrence on, as for one that runs.
func (w *Worker) stands(ctx context.Context, r *run) verdict {
	if time.Since(r.queued) < staleAfter {
		return runs
	}
	b := &r.baton
	waits := !b.Begun() && !b.Manual && !b.OneOff && !w.rooms.open(r.key().Collection)
	if w.library.unchanged(r.key(), r.changes) {
		if waits {
			return again
		}
		return runs
	}
	j, err := w.library.current(ctx, r.key(), r.job.Revision)
	switch {
	case r.orphaned(j, err):
		return nobody
	case err != nil:
		return runs
	case b.Manual && (b.OneOff || !j.State.Final()), b.OneOff && (b.Begun() || j.State != Disabled):
		return runs
	case waits, b.OneOff, j.State != Enabled:
		return again
	}
	return runs
}
