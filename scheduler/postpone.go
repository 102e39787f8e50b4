package scheduler

import (
	"slices"
	"time"
)

// A disabled collection postpones what falls due: it does not run, and is not made
// up for. The first instant is recorded at once. From then on the baton looks
// again from time to time, each time at an instant of the schedule, and passes
// over those in between: they lie after Progress.Seen and before its own, while
// Baton.PostponementRecorded is set, and have no record yet. Whatever takes the
// baton elsewhere settles them first, as one record. A one-shot, which has no
// other instant, waits for the collection instead, however long.

const (
	// postponedWait is the longest time between two looks. The first is after a
	// second, and the time to the next grows with what has been waited.
	postponedWait = time.Minute

	// postponedSpan is how long instants are without a record at most.
	postponedSpan = time.Hour
)

// postpone lets b wait for its collection, which is disabled. skips are what was
// omitted on the way to it.
func (j *Job) postpone(b Baton, skips []skip, now time.Time) Step {
	if j.OneShot() {
		return j.postponeOneShot(b, skips, now)
	}
	last, plan := j.lastDue(b, now), j.plan(b.Progress)
	wait := time.Second
	if b.PostponementRecorded {
		wait = lookAfter(now.Sub(b.Seen))
	}
	n, ok := plan.Next(now.Add(wait - 1))
	if !ok {
		n, ok = plan.Next(last) // near its end, each instant is looked at
	}
	p := b.Progress
	p.Seen = b.Nominal
	gaps := j.gapsUpTo(p, last)
	var due []skip
	tell := !ok || !b.PostponementRecorded || len(skips)+len(gaps) > 0 // a gap that was passed is behind Seen
	if p.Seen = b.Seen; tell || now.Sub(b.Seen) >= postponedSpan {
		from := b.Nominal
		if first, passed := j.passedOver(b); passed {
			from = first
		}
		due = []skip{j.postponed(from, last).counted(plan)}
		p.Seen = last
	}
	s := j.step(p, n, ok, now)
	if s.Next != nil {
		s.Next.PostponementRecorded = true
	}
	s = s.after(j.skipped(gaps, now, s.Progress))
	s = s.after(j.skipped(due, now, s.Progress))
	return s.after(j.skipped(skips, now, b.Progress))
}

// postponeOneShot lets a one-shot wait. That it does is recorded once.
func (j *Job) postponeOneShot(b Baton, skips []skip, now time.Time) Step {
	if !b.PostponementRecorded {
		skips = append(skips, j.postponed(b.Nominal, b.Nominal))
	}
	b.PostponementRecorded = true
	s := j.wait(b, skips, now)
	s.At = now.Add(lookAfter(now.Sub(b.Due)))
	return s
}

// lookAfter is the time to the next look after so long a wait.
func lookAfter(waited time.Duration) time.Duration {
	return min(postponedWait, max(time.Second, waited))
}

// postponed is a run of instants that the disabled collection postpones.
func (j *Job) postponed(from, to time.Time) skip {
	return skip{
		from: from, to: to, count: 1, postponed: true,
		message: "collection " + j.Key.Collection + " is disabled",
	}
}

// passedOver returns the first of the instants before its own that b passes over
// because its collection is disabled, and that have no record; false if there is
// none.
func (j *Job) passedOver(b Baton) (first time.Time, ok bool) {
	if !b.PostponementRecorded || !b.NeedsOpen() || j.OneShot() || b.Schedule != j.ScheduleGen {
		return first, false
	}
	first, ok = j.plan(b.Progress).Next(b.Seen)
	return first, ok && first.Before(b.Nominal)
}

// settle takes from b the instants that it has passed over until now, because of its
// collection or of a pause: they are to
// be recorded, and changes of the clock among them.
func (j *Job) settle(b Baton, now time.Time) (Baton, []skip) {
	b, paused := j.settlePause(b, now)
	first, ok := j.passedOver(b)
	if !ok || first.After(now) {
		return b, paused
	}
	plan, until := j.plan(b.Progress), now
	if !b.Nominal.After(now) {
		until = b.Nominal.Add(-1)
	}
	last, ok := plan.Last(until)
	if !ok || last.Before(first) {
		last = first
	}
	skips := slices.Concat(paused, j.gapsUpTo(b.Progress, last))
	skips = append(skips, j.postponed(first, last).counted(plan))
	b.Seen = last
	b.Gap = j.gap(b.Progress, b.Nominal)
	return b, skips
}

// Settle records what the waiting baton b has passed over until now, because its
// collection is disabled or the job is paused, before an edit of j takes b elsewhere; false if there is
// nothing to record.
func (j *Job) Settle(b Baton, now time.Time) (Step, bool) {
	b, skips := j.settle(b, now)
	if len(skips) == 0 {
		return Step{}, false
	}
	return j.wait(b, skips, now), true
}

// Deferral is how long, and why, an attempt is deferred because of its target.
type Deferral struct {
	At      time.Time // when it may run
	Circuit bool      // because the target's circuit is open
	Ahead   bool      // a worker is to hold it before At already, for its turn is exact
	Message string    // of the record; "" when no rule of the collection is why, and nothing is recorded
}

// Defer lets b, of a run under the definition j, wait for its target outside
// the process. That a rule delays it is recorded the first time.
func (j *Job) Defer(b Baton, d Deferral, now time.Time) Step {
	if d.Circuit && b.DeferredSince.IsZero() {
		b.DeferredSince = now
	}
	b.DeferredUntil = d.At
	s := Step{Next: &b, At: d.At, State: j.State, Progress: b.Progress}
	if d.Ahead {
		s.At = d.At.Add(-lead)
	}
	if d.Message != "" && !b.DeferralRecorded {
		b.DeferralRecorded = true
		s.Records = []Record{deferredRecord(j, &b, now, d.Message)}
	}
	return s
}
